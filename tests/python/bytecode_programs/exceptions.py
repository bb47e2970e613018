"""Programs about exceptions: try in every nesting, jumps out of finally, contexts and causes, and what is raised wrongly."""

# ruff: noqa
# fmt: off
import sys
import traceback

from . import attempt, chain, program


def note(log, value):
    log.append(value)
    return value


@program("none")
@program("value")
@program("key")
@program("other")
@program("else")
@program("handler")
@program("finally")
def every_clause(kind):
    log = []

    def inner():
        try:
            log.append("try")
            if kind == "value":
                raise ValueError("v")
            if kind in ("key", "handler"):
                raise KeyError("k")
            if kind == "other":
                raise OSError("o")
        except ValueError as error:
            log.append(str(error))
            return "value"
        except (KeyError, IndexError) as error:
            log.append(repr(error))
            if kind == "handler":
                raise RuntimeError("in handler")
        else:
            log.append("else")
            if kind == "else":
                raise TypeError("in else")
        finally:
            log.append("finally")
            if kind == "finally":
                raise LookupError("in finally")
        return "end"

    return attempt(inner), log


@program()
def returns_from_finally():
    def a():
        try:
            return 1
        finally:
            return 2

    def b():
        try:
            raise ValueError
        finally:
            return 3

    def c():
        for i in range(5):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
            finally:
                log.append(i)
        else:
            log.append("else")
        return i

    def d():
        for i in range(3):
            try:
                raise ValueError(i)
            finally:
                continue
        return "d"

    def e():
        while True:
            try:
                raise ValueError
            finally:
                break
        return "e"

    def f():
        try:
            try:
                return note(log, "inner")
            finally:
                log.append("first")
        finally:
            log.append("second")

    def g():
        try:
            return 1
        finally:
            try:
                raise KeyError
            except KeyError:
                log.append("quiet")

    def h():
        try:
            try:
                1 / 0
            finally:
                raise KeyError("replaced")
        except KeyError as error:
            return chain(error)

    def i():
        for k in range(3):
            try:
                return k
            finally:
                if k < 2:
                    continue
        return "not reached"

    log = []
    return a(), b(), c(), d(), e(), f(), g(), h(), i(), log


@program()
def name_is_unbound():
    error = "before"
    try:
        raise ValueError
    except ValueError as error:
        pass

    def read():
        try:
            raise ValueError
        except ValueError as caught:
            del caught
        return caught

    def kept():
        try:
            raise ValueError("kept")
        except ValueError as caught:
            held = caught
        return str(held), attempt(lambda: caught)

    return attempt(lambda: error), attempt(read), kept()


@program()
def contexts():
    def one():
        try:
            1 / 0
        except ZeroDivisionError:
            raise ValueError("second")

    def with_cause():
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("second") from error

    def hidden():
        try:
            1 / 0
        except ZeroDivisionError:
            raise ValueError("second") from None

    def three():
        try:
            try:
                {}["a"]
            except KeyError:
                [][0]
        except IndexError:
            int("x")

    def across():
        def deep():
            try:
                raise OSError("deep")
            except OSError:
                raise

        try:
            raise ValueError("outer")
        except ValueError:
            deep()

    def handled_inside():
        def deep():
            try:
                raise OSError("deep")
            except OSError as error:
                return chain(error)

        try:
            raise ValueError("outer")
        except ValueError:
            inside = deep()
        return inside, deep()

    def same_again():
        error = ValueError("one")
        try:
            raise error
        except ValueError:
            try:
                raise KeyError
            except KeyError:
                raise error

    def after_handler():
        try:
            raise ValueError
        except ValueError:
            pass
        raise KeyError("clean")

    def in_finally():
        try:
            raise ValueError("first")
        finally:
            {}["second"]

    def from_class():
        raise ValueError from KeyError

    return [attempt(f) for f in (one, with_cause, hidden, three, across, handled_inside, same_again, after_handler, in_finally, from_class)]


@program()
def bare_raise():
    def a():
        try:
            raise ValueError("a")
        except ValueError:
            raise

    def b():
        raise

    def c():
        try:
            raise ValueError("c")
        except ValueError:
            try:
                raise KeyError("inner")
            except KeyError:
                pass
            raise

    def d():
        def helper():
            raise

        try:
            raise ValueError("d")
        except ValueError:
            helper()

    def e():
        try:
            raise ValueError("e")
        except ValueError as error:
            error.args = ("changed",)
            raise

    return [attempt(f) for f in (a, b, c, d, e)], sys.exc_info()


@program()
def information():
    seen = [sys.exc_info()[0]]
    try:
        raise ValueError("one")
    except ValueError as error:
        seen.append((sys.exc_info()[0], sys.exc_info()[1] is error, sys.exc_info()[2] is not None))
        try:
            raise KeyError("two")
        except KeyError:
            seen.append(sys.exc_info()[0])
            seen.append(traceback.format_exception_only(*sys.exc_info()[:2]))
        seen.append(sys.exc_info()[0])
    seen.append(sys.exc_info()[0])
    return seen


@program()
def subclasses():
    class Base(Exception):
        pass

    class Left(Base, ValueError):
        def __init__(self, code, *rest):
            super().__init__(code, *rest)
            self.code = code

        def __str__(self):
            return f"<{self.code}>"

    class Hidden(type):
        def __instancecheck__(cls, other):
            return True

    class Never(Exception, metaclass=Hidden):
        pass

    def f(kind):
        try:
            raise Left(3, 4)
        except kind as error:
            return type(error).__name__, str(error), error.args, error.code

    return f(Base), f(ValueError), f((OSError, Left)), attempt(f, KeyError), attempt(f, Never)


@program()
def loops_and_handlers():
    log = []
    for i in range(6):
        try:
            if i == 1:
                continue
            if i == 2:
                raise ValueError(i)
            if i == 4:
                break
            log.append(i)
        except ValueError as error:
            log.append(error.args)
            continue
        else:
            log.append("else")
        finally:
            log.append("f")
    while True:
        try:
            try:
                raise KeyError
            except KeyError:
                break
        finally:
            log.append("left")
    return log


@program()
def returns_from_handlers():
    def search(items, wanted):
        for item in items:
            try:
                if item[wanted]:
                    return item[wanted]
            except (KeyError, TypeError):
                continue
            finally:
                log.append(wanted)
        return None

    log = []
    return search([{}, 5, {"a": 0}, {"a": 2}], "a"), search([], "b"), log
