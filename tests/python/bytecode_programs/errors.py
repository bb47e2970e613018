"""Programs that do what cannot be done: what is raised wrongly, what native code raises, and statements that fail."""

# ruff: noqa
# fmt: off
from . import attempt, program


@program()
def raised_wrongly():
    class Strange(Exception):
        def __new__(cls):
            return 5

    class Failing(Exception):
        def __init__(self):
            raise OSError("while made")

    def text():
        raise "text"

    def number():
        raise 5

    def cause():
        raise ValueError from 5

    def strange():
        raise Strange

    def failing():
        raise Failing

    def caught_wrongly(kinds):
        try:
            raise ValueError("v")
        except kinds:
            return "caught"

    def not_reached():
        try:
            return 1
        except undefined_name:
            return 2

    kinds = (5, int, "x", (ValueError, int), (KeyError, (ValueError,)), (), (KeyError, ValueError))
    return [attempt(f)[0] for f in (text, number, cause, failing)], attempt(strange)[0][0], [attempt(caught_wrongly, k) for k in kinds], not_reached()


@program()
def assertions():
    def check(value, *message):
        if message:
            assert value, message[0]
        else:
            assert value

    return attempt(check, 1), attempt(check, 0), attempt(check, [], "empty"), attempt(check, "", f"{1}-{2}")


@program()
def native_errors():
    none, five, items = None, 5, [1, 2]
    tests = [
        lambda: 1 / 0, lambda: {}["k"], lambda: [][1], lambda: int("x"), lambda: none.x, lambda: none(), lambda: 1 + "a", lambda: "a" + 1,
        lambda: [] < 3, lambda: -"x", lambda: ~1.5, lambda: len(5), lambda: iter(5), lambda: next(iter([])), lambda: (1).foo, lambda: items["a"],
        lambda: {[]: 1}, lambda: {[]}, lambda: 5 in 5, lambda: five[0], lambda: "x".y.z, lambda: [*5], lambda: {**5}, lambda: {**[(1, 2)]}, lambda: "%d" % "x", lambda: 2 ** "x",
        lambda: [1, 2] @ 3, lambda: f"{3:z}", lambda: [].append(), lambda: "a".join([1]), lambda: (x for x in 5), lambda: [y for y in None], lambda: {*5},
    ]
    return [attempt(f) for f in tests]


@program()
def statements_that_fail():
    class Closed:
        __slots__ = ("a",)

    def attribute():
        Closed().b = 1

    def delete():
        del Closed().a

    def item():
        (1, 2)[0] = 3

    def delete_item():
        del [][0]

    def inplace():
        t = ([1],)
        t[0] += [2]

    def unpack(values):
        a, b = values

    def unpack_star(values):
        a, *b, c = values

    cases = [1, None, [1], [1, 2, 3], "a", {1: 2}, {1, 2, 3}, range(5), iter([1])]
    return [attempt(f) for f in (attribute, delete, item, delete_item, inplace)], [attempt(unpack, v) for v in cases], [attempt(unpack_star, v) for v in cases]
