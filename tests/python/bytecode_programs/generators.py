"""Programs about generators: send, throw, close, yield from, generators that native functions consume or that are abandoned."""

# ruff: noqa
# fmt: off
import contextlib
import itertools
import types

from . import attempt, chain, program


def steps(generator, *sent):
    """What a generator gives for what it is sent, to its end."""
    seen = []
    try:
        for value in sent:
            seen.append(generator.throw(value) if isinstance(value, BaseException) else generator.send(value))
    except StopIteration as stop:
        seen.append(("end", stop.value))
    except Exception as error:
        seen.append(chain(error))
    return seen


@program()
def sending():
    def echo():
        got = []
        while True:
            value = yield len(got)
            if value is None:
                return got
            got.append(value)

    return steps(echo(), None, 1, 2, None), steps(echo(), 5), steps(echo(), None, None, 3)


@program()
def throwing():
    def guarded():
        try:
            yield 1
        except ValueError as error:
            yield "caught", str(error)
        else:
            yield "else"
        finally:
            yield "finally"
        return "done"

    def rethrowing():
        try:
            yield 1
        except ValueError:
            raise KeyError("new")

    def ending():
        try:
            yield 1
        except ValueError:
            return "ended"

    return [
        steps(guarded(), None, ValueError("v"), None, None),
        steps(guarded(), None, None, None, None),
        steps(guarded(), None, KeyError("k"), None),
        steps(guarded(), ValueError("before it began"), None),
        steps(rethrowing(), None, ValueError("v")),
        steps(ending(), None, ValueError(), None),
        steps(ending(), None, StopIteration(4)),
    ]


@program()
def closing():
    log = []

    def tidy(name):
        try:
            yield 1
            yield 2
        except GeneratorExit:
            log.append((name, "exit"))
            raise
        finally:
            log.append((name, "finally"))

    def stubborn():
        for _ in range(2):
            try:
                yield 1
            except GeneratorExit:
                log.append("ignored")

    def abandoned():
        for value in tidy("abandoned"):
            break
        del value

    g = tidy("closed")
    next(g)
    g.close()
    g.close()
    tidy("never begun").close()
    abandoned()
    h = stubborn()
    next(h)
    refused = attempt(h.close)
    return log[:4], refused, attempt(next, g), attempt(next, tidy("new"))


@program()
def delegating():
    log = []

    def inner(name):
        try:
            got = yield name, 1
            log.append(got)
            got = yield name, 2
            log.append(got)
        except ValueError as error:
            log.append(str(error))
            yield "handled"
        finally:
            log.append("inner done")
        return name * 2

    def outer():
        first = yield from inner("a")
        second = yield from inner("b")
        third = yield from [7, 8]
        return first, second, third

    class Plain:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

    def over_plain():
        try:
            yield from Plain()
        except ValueError:
            return "plain"

    return [
        steps(outer(), None, "s1", "s2", "s3", "s4", None, None, None),
        steps(outer(), None, ValueError("thrown"), None, None),
        steps(outer(), None, KeyError("thrown")),
        steps(over_plain(), None, None, ValueError()),
        steps(over_plain(), None, 5),
        attempt(list, (lambda: (yield from 5))()),
        log,
    ]


@program()
def closing_delegates():
    log = []

    class Sub:
        def __iter__(self):
            return self

        def __next__(self):
            return 1

        def throw(self, *args):
            log.append(("throw", type(args[0]).__name__))
            raise StopIteration("thrown away")

        def close(self):
            log.append("close")

        def send(self, value):
            log.append(("send", value))
            return value * 2

    def over():
        result = yield from Sub()
        yield "after", result

    def deep(n):
        if n:
            return (yield from deep(n - 1)) + 1
        try:
            yield "bottom"
        finally:
            log.append("bottom left")
        return 0

    g = over()
    seen = [next(g), g.send(4), g.throw(ValueError("x"))]
    g = over()
    next(g)
    g.close()
    h = deep(5)
    next(h)
    h.close()
    return seen, log, steps(deep(6), None, None), steps(deep(3), None, KeyError("deep"))


@program()
def stop_iteration_inside():
    def raising():
        yield 1
        raise StopIteration("inside")

    def nested():
        yield next(iter([]))

    def delegated():
        yield from raising()

    return steps(raising(), None, None), steps(nested(), None), steps(delegated(), None, None), attempt(lambda: next(x for x in [1] if next(iter([]))))


@program()
def consumed_by_native_code():
    numbers = lambda: (n * n for n in range(5))

    def failing():
        yield 1
        raise ValueError("in the middle")

    return [
        sum(numbers()), any(n > 3 for n in range(5)), all(n for n in numbers()), list(zip(numbers(), numbers())), dict((k, v) for k, v in zip("ab", numbers())),
        max(numbers()), sorted(numbers(), reverse=True), "".join(str(n) for n in numbers()), tuple(numbers()), set(numbers()) == {0, 1, 4, 9, 16},
        list(map(lambda a, b: a + b, numbers(), numbers())), list(itertools.islice(itertools.chain(numbers(), numbers()), 7)), [*numbers()], {**dict(zip("xy", numbers()))},
        attempt(sum, failing()), attempt(list, failing()), attempt(lambda: [*failing()]), attempt(sorted, failing()), min((n for n in []), default=3),
        list(enumerate(numbers(), 2)), list(itertools.accumulate(numbers())), 4 in numbers(), 5 in numbers(),
    ]


@program()
def unpacked():
    def numbers(n):
        yield from range(n)

    a, b, c = numbers(3)
    d, *e = numbers(4)
    f, *g, h = numbers(2)
    endless = itertools.count()
    tail = attempt(lambda: (lambda x, y: 0)(*numbers(3)))

    def too_many():
        x, y = endless

    return a, b, c, d, e, f, g, h, attempt(too_many)[0], next(endless), tail[0][0]


@program()
def kinds():
    def g():
        "doc"
        yield

    made = g()
    return (
        isinstance(made, types.GeneratorType), iter(made) is made, made.__name__, made.__qualname__, type(made).__name__, hasattr(made, "send"),
        attempt(lambda: made()), attempt(len, made), bool(made), (x for x in []).__name__,
    )


@program()
def running_already():
    def g():
        yield attempt(next, made)
        yield 2

    made = g()
    return list(made)


@program()
def handlers_and_yields():
    log = []

    def g():
        try:
            1 / 0
        except ZeroDivisionError:
            yield "in handler"
            try:
                raise
            except ZeroDivisionError as error:
                log.append(chain(error))
            yield "again"
            raise KeyError("from handler")

    def consumer():
        try:
            raise ValueError("of the caller")
        except ValueError:
            it = g()
            seen = [next(it), next(it)]
            try:
                next(it)
            except KeyError as error:
                log.append(chain(error))
            return seen

    def asks():
        import sys

        yield type(sys.exc_info()[1]).__name__

    def inside():
        try:
            raise OSError
        except OSError:
            return list(asks())

    return consumer(), log, inside(), list(asks())


@program()
def context_managers():
    log = []

    @contextlib.contextmanager
    def manager(name, swallow=False):
        log.append(("enter", name))
        try:
            yield name
        except ValueError as error:
            log.append(("error", str(error)))
            if not swallow:
                raise
        finally:
            log.append(("exit", name))

    with manager("a") as a, manager("b", True):
        raise ValueError("one")

    def raising():
        with manager("c"):
            raise ValueError("two")

    def other():
        with manager("d"):
            raise KeyError("three")

    with contextlib.suppress(KeyError), contextlib.ExitStack() as stack:
        stack.enter_context(manager("e"))
        stack.callback(log.append, "callback")
        {}["missing"]
    return attempt(raising), attempt(other), log


@program()
def pipelines():
    def take(n, it):
        for _, value in zip(range(n), it):
            yield value

    def primes():
        found = []
        for n in itertools.count(2):
            if all(n % p for p in found):
                found.append(n)
                yield n

    def flatten(tree):
        for item in tree:
            if isinstance(item, list):
                yield from flatten(item)
            else:
                yield item

    def permutations(items):
        if not items:
            yield []
        for i, item in enumerate(items):
            for rest in permutations(items[:i] + items[i + 1 :]):
                yield [item, *rest]

    def average():
        total = count = 0
        value = None
        while True:
            value = yield total / count if count else None
            total += value
            count += 1

    running = average()
    next(running)
    return list(take(10, primes())), list(flatten([1, [2, [3, []], 4]])), list(permutations([1, 2, 3])), [running.send(v) for v in (1, 2, 6)]
