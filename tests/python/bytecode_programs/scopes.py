"""Programs about names: closures, nonlocal, global, del, comprehensions and their cells, imports, and very long functions."""

# ruff: noqa
# fmt: off
from . import attempt, program

counter = 0


@program()
def closures():
    def counter(start):
        n = start

        def up(by=1):
            nonlocal n
            n += by
            return n

        def get():
            return n

        return up, get

    up, get = counter(3)
    fs = [lambda i=i: i for i in range(3)]
    gs = [lambda: i for i in range(3)]
    return up(), up(4), get(), [f() for f in fs], [g() for g in gs]


@program(1, 2)
def parameter_cells(a, b, *c, d=4, **e):
    def inner():
        nonlocal a, d
        a += b
        d = [c, e, d]
        return a

    inner()
    b = 10
    return inner(), a, b, d


@program()
def unbound_names():
    def local():
        x
        x = 1

    def deleted():
        x = 1
        del x
        return x

    def deleted_twice():
        x = 1
        del x
        del x

    def free():
        def inner():
            return x

        if False:
            x = 1
        return inner()

    def cell():
        def inner():
            return x

        y = x
        x = 1

    def deleted_cell():
        x = 1
        def inner():
            return x

        first = inner()
        del x
        return first, attempt(inner), attempt(lambda: x)

    def delete_empty_cell():
        x = 1
        def inner():
            nonlocal x
            del x

        inner()
        inner()

    def unknown():
        return there_is_no_such_name

    def conditional(flag):
        if flag:
            y = 1
        return y

    def loop_variable():
        for k in []:
            pass
        return k

    names = [local, deleted, deleted_twice, free, cell, deleted_cell, delete_empty_cell, unknown, loop_variable]
    return [attempt(f) for f in names], attempt(conditional, True), attempt(conditional, False)


@program()
def globals_changed():
    global counter, made_here
    counter = 5
    counter += 1
    made_here = [counter]

    def inner():
        global counter
        counter *= 2

    inner()
    seen = counter, made_here
    del made_here

    def again():
        global made_here
        del made_here

    return seen, attempt(again), attempt(lambda: made_here), "counter" in globals()


@program()
def comprehensions():
    x = 10
    a = [x for x in range(3)]
    b = {x: y for x, y in zip("ab", range(2))}
    c = {x % 3 for x in range(10) if x % 2 if x > 2}
    d = list(x for x in range(3))
    e = [[x + y for x in range(2)] for y in range(2)]
    f = [(x, y) for x in range(3) for y in range(x) if (x + y) % 2]
    g = [y := 5, y**2]
    h = [last := z for z in range(4)]
    k = [i for i in (j for j in [k for k in range(5)])]
    return x, a, b, sorted(c), d, e, f, g, h, last, k, y


@program()
def cells_of_comprehensions():
    fs = [lambda: x for x in range(3)]
    x = "own"
    gs = [lambda: (x, y) for y in range(2)]
    hs = {y: (lambda: y) for y in range(2)}
    x = "changed"
    nested = [[lambda: (i, j) for i in range(2)] for j in range(2)]
    return [f() for f in fs], x, [g() for g in gs], [h() for h in hs.values()], [[f() for f in row] for row in nested]


@program()
def same_name_inside_and_outside():
    x = 1

    def inner():
        a = [x for _ in range(1)]
        b = [x for x in range(3)]
        c = [lambda: x for x in range(3)]
        return a, b, [f() for f in c], x

    def from_outside():
        b = [x for x in [5, 6]]
        c = [(lambda: x)() for x in [7, 8]]
        return x, b, c, x

    y = 4
    z = [y for y in [1, 2]]
    f = lambda: y
    w = [[y for y in [y, 2]] for y in [3]]

    def unbound():
        v = [v for v in [1]]
        q = [q for q in [1]] and q

    return inner(), from_outside(), y, z, f(), w, attempt(unbound)


@program()
def raising_comprehension():
    x = "kept"
    try:
        [1 / x for x in [1, 0]]
    except ZeroDivisionError:
        pass
    a = lambda: x
    try:
        {(lambda: x)() / 0 for x in [1]}
    except ZeroDivisionError as error:
        pass
    return x, a(), attempt(lambda: error)


@program()
def walrus():
    if (n := len("abc")) > 2:
        out = [n]
    while (n := n - 1) > 0:
        out.append(n)
    total = 0
    partial = [total := total + v for v in range(5)]
    any((found := v) > 2 for v in range(10))
    f = lambda: (inner := 3) + inner
    return out, partial, total, found, f(), [(m := k, m * 2) for k in range(2)], m


@program()
def class_scopes():
    x = "function"
    y = "outer"

    class C:
        x = x if False else "class"
        z = y
        seen = [y for _ in range(2)]
        items = [i for i in range(3)]
        gen = tuple(i * 2 for i in items)

        def method(self):
            return x, y

        def __init_subclass__(cls, **kwargs):
            cls.given = kwargs

        class Inner:
            x = y

            def get(self):
                return x

    class D(C, flag=3):
        locals()["dynamic"] = 4

    return C.x, C.z, C.seen, C.items, C.gen, C().method(), C.Inner.x, C.Inner().get(), D.given, D.dynamic, C.__qualname__, C.__module__


@program()
def imports_of_every_kind():
    import math
    import os.path as path
    import collections.abc
    from collections import OrderedDict as Ordered, deque
    from . import attempt as relative
    from .calls import rest

    def missing():
        from math import there_is_none

    def missing_module():
        import there_is_no_such_module

    def missing_inside():
        import collections.there_is_none

    def too_far():
        from ....... import x

    kinds = [Ordered.__name__, deque.__name__, relative is attempt, rest(1), path.join("a", "b"), collections.abc.Mapping.__name__]
    errors = [attempt(missing)[0][0], attempt(missing_module), attempt(missing_inside), attempt(too_far)[0][0]]
    return kinds, errors, math.floor(2.5), sorted(locals())


@program()
def lookups_of_builtins():
    len = lambda value: "own"
    return len([]), max(3, 4), __name__, attempt(lambda: __builtins__ is not None)


def long_source(count):
    lines = ["def f(n):", "    total = 0"]
    lines += [f"    v{i} = n + {i}" for i in range(count)]
    lines += ["    for i in range(3):", "        if i == n:", "            continue", "        try:"]
    lines += [f"            total += v{i} * {i + 1000}" for i in range(count)]
    lines += ["            if i == 2: raise ValueError(i)", "        except ValueError:", "            total += 1", "        else:"]
    lines += [f"            total -= v{i} if v{i} % 3 else {i}" for i in range(count)]
    lines += ["    while total < 0:", *(f"        total += v{i}.bit_length()" for i in range(count)), "    return total, lambda: v0 + v299"]
    return "\n".join(lines)


LONG: dict = {}
exec(long_source(300), LONG)


@program()
def long_function():
    value, inner = LONG["f"](1)
    return value, inner(), LONG["f"](5)[0]


@program()
def views_of_the_frame():
    a, b = 1, 2

    def inner(c, *, d=5):
        e = a
        first = locals()
        f = 6
        return sorted(first), sorted(locals()), dir(), sorted(vars()), sorted(eval("locals()"))

    def empty():
        return locals()

    return inner(3), empty(), [sorted(locals()) for _ in range(1)][0][0], b
