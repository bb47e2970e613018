"""Programs about expressions and statements: operators, displays, slices, unpacking, loops, f-strings and stores of every kind."""

# ruff: noqa
# fmt: off
from . import attempt, program


@program(7, 3)
@program(-7, 2.5)
@program(True, 4)
@program(2, 0)
def arithmetic(a, b):
    tests = [
        lambda: a + b, lambda: a - b, lambda: a * b, lambda: a / b, lambda: a // b, lambda: a % b, lambda: a**b, lambda: a << b, lambda: a >> b,
        lambda: a & b, lambda: a | b, lambda: a ^ b, lambda: -a, lambda: +a, lambda: ~a, lambda: not a, lambda: a @ b, lambda: divmod(a, b),
        lambda: (a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b), lambda: a and b, lambda: a or b, lambda: a if b else -a,
    ]
    return [attempt(f) for f in tests]


@program()
def own_operators():
    log = []

    class V:
        def __init__(self, v):
            self.v = v

        def __repr__(self):
            return f"V({self.v})"

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return log.append(("getattr", name))

    def method(name):
        def f(self, *args):
            log.append((name, self.v, [getattr(a, "v", a) for a in args]))
            return NotImplemented if self.v == "no" else self

        return f

    for name in "add radd iadd sub rsub mul rmul matmul rmatmul truediv floordiv mod pow rpow lshift rshift and or xor neg pos invert lt gt le ge".split():
        setattr(V, f"__{name}__", method(name))
    a, b, n = V("a"), V("b"), V("no")
    a + b, a - b, a * b, a @ b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b, -a, +a, ~a, a < b, a > b, a <= b, a >= b
    1 + a, 2 * a, 3 - a
    a += 5
    a -= 6
    a **= 2
    return log, attempt(lambda: n + a), attempt(lambda: n + 1), attempt(lambda: n < n), attempt(lambda: n @ 1), repr(a)


@program()
def comparisons():
    log = []

    def f(v):
        log.append(v)
        return v

    class Odd:
        def __lt__(self, other):
            return []

        def __gt__(self, other):
            return "yes"

        def __eq__(self, other):
            return 3

        def __contains__(self, value):
            return value * 2

        __hash__ = None

    o = Odd()
    chained = [f(1) < f(2) < f(3), f(3) < f(2) < f(1), 1 < 2 > 1 != 3, 1 == 1.0 == True, f(1) in [1] in [[1]]]
    return chained, log, o < 1, o > 1, o == 1, o != 1, 0 in o, 3 in o, 3 not in o, (1 if o < 1 else 2), (1 if o > 1 else 2), not (o < 1), o < 1 < 2, o > 1 > 0, attempt(hash, o)


@program()
def truth():
    log = []

    class T:
        def __init__(self, value):
            self.value = value

        def __bool__(self):
            log.append(self.value)
            if self.value is None:
                raise ValueError("no truth")
            return self.value

    class L:
        def __len__(self):
            return 0

    t, f = T(True), T(False)
    results = [(t and f) is f, (f and t) is f, (t or f) is t, (f or t) is t, not t, not f, 1 if t else 2, 1 if f else 2, bool(L()), not L(), 1 if t and f or t else 2]
    if t and not f:
        results.append("if")
    while f or t:
        results.append("while")
        t = T(False)
    x = None
    if x is None and not (x is not None):
        results.append("none")
    assert f or True
    return results, log, attempt(lambda: not T(None)), attempt(lambda: T(None) and 1), attempt(lambda: [1 for _ in [1] if T(None)])


@program()
def displays():
    a, b = [1, 2], {"k": 1}
    return (
        (), (1,), (*a,), [*a, *"xy", 3], {*a, 3} == {1, 2, 3}, {**b, "k": 2, **{"l": 3}}, [], {}, {1: 2, 1: 3}, (1, *a, 2), [*range(3)], {"x": [*a], **b},
        [1, 2, 3, 4, 5], {1, 2, 3} == set([1, 2, 3]), {"a": 1, "b": 2, "c": 3}, ((1, 2), [3, (4,)]), set(), frozenset([1]), *a, [[]] * 2,
    )


@program()
def slices():
    a = list(range(10))
    b = a[:]
    b[2:4] = "xyz"
    b[::3] = [0] * len(b[::3])
    del b[1:3]
    c = a[1:8:2], a[-3:], a[:-3], a[::-1], "hello"[1:3], a[slice(1, 3)], (1, 2, 3)[:2]

    class Show:
        def __getitem__(self, key):
            return key

        def __setitem__(self, key, value):
            log.append((key, value))

        def __delitem__(self, key):
            log.append(key)

    log = []
    s = Show()
    s[1:2] = 3
    s[::2, 1] = 4
    s[...] = 5
    del s[1:], s[1, 2:3], s[:]
    d = list(range(5))
    d[1:3] += [7, 8]
    d[0] -= 1
    n = 2
    return b, c, [str(k) for k in (s[1:2], s[:], s[1:2:3], s[1, 2], s[1:2, ...], s[None], s[n:], s[:n], s[n : n + 1])], [str(x) for x in log], d, attempt(lambda: a[1:"x"]), attempt(lambda: n[1:2])


@program()
def stores():
    class Box:
        count = 0

    box, other = Box(), {"a": [1, 2, {"b": 3}]}
    box.x = box.y = z = 3
    box.x += 1
    box.count += 5
    other["a"][2]["b"] *= 10
    other["a"][0], other["new"] = 8, 9
    (p, q), [r, *s] = (1, 2), "abc"
    box.a, other["t"], *box.rest = range(5)
    del other["new"], box.y
    i = 0
    items = [0, 0]
    i, items[i] = 1, 5
    first = second = third = []
    first.append(1)
    a = b = c = 1
    a, b, c = c + 1, a + 2, b + 3
    a, b = b, a
    n: int = 4
    m: "undefined"
    box.typed: str = "s"
    for box.loop, other["loop"] in [(1, 2), (3, 4)]:
        pass
    return vars(box), other, z, p, q, r, s, items, second is third, a, b, c, n, Box.count


@program()
def unpacking():
    a, (b, [c, *d], *e), f = 1, (2, "xyz", 4, 5), 6
    *g, h = [1]
    i, *j = "s"
    [k, l] = {1: 2, 3: 4}
    (m,) = [9]
    *n, o, p = range(6)
    q, *r, s, t = (1, 2, 3)
    [] = ()
    for u, (v, *w) in [(1, (2, 3)), (4, "xyz")]:
        pass
    x = *a_list(), 1
    return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x


def a_list():
    return [1, 2]


@program()
def loops():
    log = []
    for i in range(10):
        if i == 2:
            continue
        if i == 5:
            break
        log.append(i)
    else:
        log.append("for else")
    for i in []:
        pass
    else:
        log.append("empty else")
    n = 0
    while n < 5:
        n += 1
        if n == 3:
            continue
        for k in "ab":
            if k == "b" and n == 4:
                break
            log.append((n, k))
        else:
            continue
        break
    else:
        log.append("while else")
    while n:
        n -= 1
    else:
        log.append("counted down")
    while False:
        log.append("never")
    for a in range(3):
        for b in range(3):
            if b > a:
                break
            if a == b == 1:
                continue
            log.append((a, b))
    d = {"x": 1, "y": 2}
    for key, value in d.items():
        log.append(key * value)
    items = [1, 2, 3]
    for item in items:
        if item == 2:
            items.append(9)
    return log, items, i, attempt(lambda: [d.pop(k) for k in d])


@program()
def iterators():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    class Old:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return i * i

    class Bad:
        def __iter__(self):
            return 5

    class Failing:
        def __iter__(self):
            raise KeyError("no iterator")

    def over(value):
        return [v for v in value]

    return over(Count(3)), over(Old()), attempt(over, Bad()), attempt(over, Failing()), [*Old()], attempt(lambda: [*Bad()]), list(Old()), 4 in Old(), (lambda a, b, c: c)(*Old()), attempt(lambda: dict(Old()))


@program(3.14159, "text", [1])
def formats(number, text, values):
    width, spec = 10, ".2f"
    nested = f"{number:{width}.{2 + 1}f}|{text!r:>{width}}|{text!s:<8}|{text!a}|{values}"
    return [
        f"", f"{{}}", f"{number}", f"{number:.2f}", f"{number!r}", f"{number:{spec}}", nested, f"{text:>10}", f"{text!r}", f"{values!r:>5}", f"{number=}", f"{number = :.1f}",
        f"{'inner' + f'{text}'}", f"{text.upper()!s:*^12}", f"{1:+d}{-1:+d}{255:#x}{5:03}", f"{[v * 2 for v in values]}", f"{(lambda x: x + 1)(2)}", f"{None}{True}", f"{'é'!a}",
        "%s %r %5.1f" % (text, text, number), "{} {x:>4}".format(1, x=2), attempt(lambda: f"{text:d}"), attempt(lambda: f"{values:5}"), f"{number:}", f"a{1}b{2}c", rf"\n{1}", f"{1}" "plain" f"{2}",
    ]


@program()
def constants():
    return 1, 1.5, 2j, "s", b"b", None, True, ..., (1, (2, "x")), -1, -0.0, 10**20, "a" "b", 0x1F, 1_000, frozenset({1}), __debug__, 1 in {1, 2}, 3 in [1, 2], "a" not in ("b",)


@program()
def conditions():
    def f(a, b, c):
        if a:
            if b:
                return "ab"
            elif c:
                return "ac"
        elif b and c or not a:
            return "bc" if b else "else"
        else:
            pass
        return "end"

    flags = (False, True)
    return [f(a, b, c) for a in flags for b in flags for c in flags], [x if x > 1 else y if (y := -x) else 0 for x in range(3)]


@program()
def globals_of_types():
    made = type("Made", (), {"x": 1})
    with_meta = type("Meta", (type,), {})
    other = with_meta("Other", (made,), {"y": 2})
    return made.__module__, other.__module__, other.x, other.y, type(other).__name__, made.__qualname__
