"""Programs about calls: parameters of every kind, what does not fit, defaults, stars, decorators and functions made by exec."""

# ruff: noqa
# fmt: off
from functools import lru_cache, partial, reduce, wraps

from . import attempt, program


def plain(a, b=2, *c, d=4, e, **f):
    return a, b, c, d, e, f


def only(a, /, b, *, c=3):
    return a, b, c


def positional(a, b=7, /):
    return a, b


def rest(*args, **kwargs):
    return args, kwargs


for given, named in [
    ((1,), {"e": 5}),
    ((1, 2, 3, 4), {"e": 5}),
    ((1,), {"e": 5, "z": 6, "y": 7}),
    ((), {"a": 1, "e": 2}),
    ((), {"e": 2}),
    ((1,), {}),
    ((1,), {"a": 2, "e": 3}),
    ((1, 2), {"b": 2, "e": 3}),
    ((1, 2, 3), {"d": 2, "e": 3, "f": 1}),
]:
    program(*given, **named)(plain)
for given, named in [
    ((1, 2), {}),
    ((1,), {"b": 2}),
    ((1,), {"b": 2, "c": 4}),
    ((), {"a": 1, "b": 2}),
    ((1, 2, 3), {}),
    ((1,), {}),
    ((), {}),
    ((1, 2), {"c": 1, "d": 2}),
    ((1, 2), {"x": 2}),
    ((1,), {"a": 1, "b": 2}),
]:
    program(*given, **named)(only)
for given, named in [((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1,), {"b": 2}), ((), {"a": 2})]:
    program(*given, **named)(positional)
program()(rest)
program(1, 2, x=3)(rest)


@program()
def binding_errors():
    def none():
        pass

    def one(a):
        pass

    def many(a, b, c, *, d, e, f):
        pass

    class C:
        def method(self, x):
            return x

    return [
        attempt(none, 1),
        attempt(none, a=1),
        attempt(one),
        attempt(one, 1, 2),
        attempt(one, b=1),
        attempt(one, 1, a=2),
        attempt(many),
        attempt(many, 1, 2, 3),
        attempt(many, 1, 2, 3, d=1),
        attempt(many, 1, 2, 3, 4, d=1, e=2, f=3),
        attempt(C().method),
        attempt(C().method, 1, 2),
        attempt(C().method, x=3),
        attempt(C.method, 1),
        attempt(lambda **k: k, **{"a": 1}),
        attempt(lambda a, /, **k: (a, k), 1, a=2),
    ]


@program()
def stars_in_calls():
    pairs, more = {"x": 1, "y": 2}, {"z": 3}

    class Keys:
        def keys(self):
            return ["p", "q"]

        def __getitem__(self, key):
            return key * 2

    numbers = (n for n in range(3))
    return [
        rest(*[1, 2], *(3,), 4, **pairs, **more),
        rest(*numbers),
        rest(*"ab", k=1, **Keys()),
        rest(**{}),
        rest(*{}, **pairs, w=9),
        attempt(lambda: rest(*5)),
        attempt(lambda: rest(1, *5)),
        attempt(lambda: rest(**5)),
        attempt(lambda: rest(a=1, **5)),
        attempt(lambda: rest(**pairs, **{"x": 5})),
        attempt(lambda: rest(x=1, **pairs)),
        attempt(lambda: rest(**{1: 2})),
        attempt(lambda: rest(**[(1, 2)])),
        attempt(lambda: len(*5)),
        attempt(lambda: len(*[[1], 2])),
        attempt(lambda: print(1, **{"sap": 2})),
    ]


@program()
def evaluation_order():
    seen = []

    def note(value):
        seen.append(value)
        return value

    def f(*args, **kwargs):
        return args, kwargs

    f(note(1), *[note(2)], note(3), k=note(4), **{"l": note(5)}, m=note(6))
    {note(7): note(8), **{note(9): note(10)}}
    note([11])[note(0)] = note(12)
    note(13) < note(14) > note(15) < note(16)
    (note(17) if note(False) else note(18))
    return seen


@program()
def defaults():
    made = []

    def f(a, b=[], *, c={}, d=len("abc")):
        b.append(a)
        c[a] = d
        made.append((list(b), dict(c)))

    f(1)
    f(2)
    f(3, [], c={})
    g = lambda a, b=made[0], *c, d=5: (a, b, c, d)
    f.__defaults__ = ([0, 0],)
    f(4)
    f.__kwdefaults__ = None
    return made, g(1), g(1, 2, 3, d=4), attempt(f, 1), f.__defaults__, (lambda x=1: x)()


@program()
def default_deleted():
    def f(a=1):
        del a
        return a

    def g(a=1):
        b = lambda: a
        a = b() + 1
        return a, b()

    def h(a=3):
        return locals(), sorted(vars())

    return attempt(f), g(), g(5), h()


@program()
def decorators():
    log = []

    def outer(tag):
        log.append(("outer", tag))

        def wrap(f):
            log.append(("wrap", tag))

            @wraps(f)
            def inner(*args, **kwargs):
                return tag, f(*args, **kwargs)

            return inner

        return wrap

    @outer("a")
    @outer("b")
    def f(x):
        "doc"
        return x

    @lru_cache(maxsize=None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return f(3), f.__name__, f.__doc__, log, fib(20), partial(f, 1)(), reduce(lambda a, b: a * b, [1, 2, 3, 4])


@program()
def function_attributes():
    def f(a: int, b: "str" = "x", *c: float, d: list = None) -> dict:
        "what it says"
        return a

    f.extra = 3

    def g():
        def h():
            pass

        return h

    lam = lambda: 0
    return (
        f.__annotations__, f.__doc__, f.__name__, f.__qualname__, f.__module__, f.extra, f.__code__.co_varnames,
        g().__qualname__, lam.__qualname__, lam.__name__, f.__kwdefaults__, f.__defaults__, f.__closure__,
    )


@program()
def made_by_exec():
    space = {}
    exec("def f(x, k=3):\n    global made\n    made = x\n    return [i * k for i in range(x)], made, __name__\n", space)
    g = eval("lambda y: (y, f(y))", space)
    a = 5
    return attempt(space["f"], 4), attempt(g, 2), space["made"], eval("a + 1"), eval("a", {"a": 7}), eval("a", None, {"a": 8})


@program()
def exec_in_scope():
    a = 1
    space = {"b": 2}
    exec("c = a + b", {"a": 10}, space)
    exec("d = b + 1", globals(), space)
    found = {}
    exec("def k(x: int): return x", found)
    return space["c"], space["d"], found["k"].__annotations__, "a" in dir(), sorted(locals()), globals()["__name__"], a


@program()
def recursion():
    def fact(n):
        return 1 if n == 0 else n * fact(n - 1)

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    return fact(30), even(31), odd(31), ackermann(2, 2)


@program()
def callables():
    class Adder:
        def __init__(self, n):
            self.n = n

        def __call__(self, x, *, k=1):
            return self.n + x * k

        @classmethod
        def make(cls, n=1):
            return cls(n)

        @staticmethod
        def twice(x):
            return x * 2

    unbound = Adder.__call__
    bound = Adder.make(4)
    return [
        bound(1), bound(1, k=3), unbound(bound, 2), Adder.twice(4), bound.twice(5), list(map(bound, [1, 2])), sorted([3, 1, 2], key=lambda v: -v),
        attempt(3), attempt("x"), attempt(None, 1), attempt(bound), max([1, 5, 2], key=lambda v: v % 5), list(filter(lambda v: v > 1, [1, 2, 3])),
    ]


@program()
def many_arguments():
    def f(*args, **kwargs):
        return sum(args), len(kwargs)

    return f(*range(400), **{f"k{i}": i for i in range(300)})
