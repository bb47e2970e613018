"""Programs about the with statement: several managers, ones that swallow, ones that fail, and jumps out of the block."""

# ruff: noqa
# fmt: off
from . import attempt, chain, program


def make_manager(log):
    class Manager:
        def __init__(self, name, swallow=False, fails=""):
            self.name, self.swallow, self.fails = name, swallow, fails

        def __enter__(self):
            log.append(("enter", self.name))
            if "enter" in self.fails:
                raise OSError("enter " + self.name)
            return self

        def __exit__(self, kind, error, place):
            log.append(("exit", self.name, kind and kind.__name__, error is not None, place is not None))
            if "exit" in self.fails:
                raise LookupError("exit " + self.name)
            return self.swallow

    return Manager


@program("")
@program("body")
@program("enter")
@program("exit")
@program("exit and body")
def one_manager(fails):
    log = []
    manager = make_manager(log)

    def run():
        with manager("m", fails=fails) as m:
            log.append(m.name)
            if "body" in fails:
                raise ValueError("body")
        return "after"

    return attempt(run), log


@program(False, False)
@program(True, False)
@program(False, True)
@program(True, True)
def two_managers(first, second):
    log = []
    manager = make_manager(log)

    def run():
        with manager("a", first) as a, manager("b", second) as b:
            raise ValueError("body")
        return "after"

    def second_fails():
        with manager("a", first), manager("b", second, "enter"):
            log.append("not reached")
        return "after"

    def exit_fails():
        with manager("a", first), manager("b", second, "exit"):
            raise ValueError("body")
        return "after"

    return attempt(run), attempt(second_fails), attempt(exit_fails), log


@program()
def jumps_out():
    log = []
    manager = make_manager(log)

    def returns():
        with manager("r"):
            return "value"

    def breaks():
        for i in range(3):
            with manager(f"b{i}"):
                if i == 0:
                    continue
                if i == 1:
                    break
        return i

    def with_and_try():
        for i in range(3):
            try:
                with manager(f"t{i}", swallow=i == 0):
                    if i == 2:
                        return "end"
                    raise ValueError(i)
            except ValueError as error:
                log.append(error.args)
            finally:
                log.append("finally")

    def nested():
        with manager("outer", True):
            with manager("inner"):
                try:
                    raise KeyError("k")
                finally:
                    log.append("between")
            log.append("not reached")
        return "quiet"

    def return_in_finally():
        with manager("f"):
            try:
                raise ValueError
            finally:
                return "from finally"

    return returns(), breaks(), with_and_try(), nested(), return_in_finally(), log


@program()
def targets():
    class Pair:
        def __enter__(self):
            return 1, (2, 3)

        def __exit__(self, *args):
            return None

    class Box:
        pass

    box, items = Box(), [0]
    with Pair() as (a, (b, c)), Pair() as box.value, Pair() as items[0]:
        pass
    with (
        Pair() as d,
        Pair(),
    ):
        e = d
    return a, b, c, box.value, items, e


@program()
def not_managers():
    class OnlyEnter:
        def __enter__(self):
            return 1

    class OnlyExit:
        def __exit__(self, *args):
            return True

    class OnInstance:
        pass

    def use(manager):
        with manager:
            return "inside"

    own = OnInstance()
    own.__enter__ = own.__exit__ = lambda *args: None
    return [attempt(use, m) for m in (5, OnlyEnter(), OnlyExit(), own, OnInstance)]


@program()
def contexts_of_exits():
    class Raising:
        def __init__(self, error):
            self.error = error

        def __enter__(self):
            return self

        def __exit__(self, *args):
            raise self.error

    class Again:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, place):
            if error is not None:
                raise error

    def one():
        with Raising(KeyError("exit")):
            raise ValueError("body")

    def quiet_body():
        with Raising(KeyError("exit")):
            pass

    def both():
        with Raising(KeyError("outer")), Raising(IndexError("inner")):
            raise ValueError("body")

    def again():
        with Again():
            raise ValueError("body")

    def in_handler():
        try:
            raise OSError("first")
        except OSError:
            with Raising(KeyError("exit")):
                pass

    return [attempt(f) for f in (one, quiet_body, both, again, in_handler)]


@program()
def truth_of_exit():
    class Answer:
        def __init__(self, value):
            self.value = value

        def __enter__(self):
            return self

        def __exit__(self, *args):
            return self.value

    class NoTruth:
        def __bool__(self):
            raise TypeError("no truth")

    def run(value):
        with Answer(value):
            raise ValueError("body")
        return "swallowed"

    return [attempt(run, v) for v in (0, 1, [], [0], None, "x", NoTruth())]
