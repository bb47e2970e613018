"""Programs about the match statement: patterns of every kind, guards, and classes whose patterns do not fit."""

# ruff: noqa
# fmt: off
import collections
import dataclasses

from . import attempt, program


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Loose:
    __match_args__ = ("a", "b")

    def __init__(self, **values):
        vars(self).update(values)


class Names:
    RED = 1
    TEXT = "text"


SUBJECTS = [
    0, 1, 2, -1, 1.5, 2j, True, None, "", "text", "long text", b"b", (), [], [1], (1, 2), [1, 2, 3], [1, [2, 3]], range(4), "ab", {}, {"k": 1}, {"k": 1, "l": 2},
    {"k": {"l": [1, 2]}}, Point(1, 2), Point(0), Point(5, [1, 2]), Loose(a=1), Loose(a=1, b=2), Loose(), {1, 2}, collections.deque([1, 2]), collections.OrderedDict(k=7),
    collections.defaultdict(int), {"type": "add", "args": [1, 2]}, ["go", "north"], ["go", "up", "fast"], frozenset(), int, bytearray(b"x"), range(2), [None, True],
]


def literals(v):
    match v:
        case 0:
            return "zero"
        case -1 | 2:
            return "minus one or two"
        case 1.5:
            return "float"
        case 0 + 2j:
            return "complex"
        case None:
            return "none"
        case True:
            return "true"
        case "text" | b"b":
            return "text"
        case Names.RED:
            return "value"
        case _:
            return "other"


def sequences(v):
    match v:
        case []:
            return "empty"
        case [x]:
            return "one", x
        case [1, 2]:
            return "one two"
        case [1, [a, b]]:
            return "nested", a, b
        case ["go", ("north" | "up") as where, *rest]:
            return where, rest
        case [first, *_, last] if first == last:
            return "same ends"
        case (first, *middle, last):
            return first, middle, last
        case _:
            return "none of them"


def mappings(v):
    match v:
        case {"k": {"l": [x, *y]}}:
            return "deep", x, y
        case {"k": 1, **rest}:
            return "k is 1", rest
        case {"k": value}:
            return "k", value
        case {"type": "add", "args": [a, b]}:
            return a + b
        case {}:
            return "mapping"
    return "no mapping"


def kinds(v):
    match v:
        case bool():
            return "bool"
        case int(n) | float(n):
            return "number", n
        case str(s) if len(s) > 4:
            return "long", s
        case str() | bytes() | bytearray():
            return "short"
        case Point(0):
            return "x is 0"
        case Point(x=1, y=yy):
            return "x is 1", yy
        case Point(xx, [a, *b]):
            return xx, a, b
        case Loose(1, b=2) | Loose(a=3):
            return "loose"
        case Loose(a=_):
            return "has a"
        case Loose():
            return "empty loose"
        case list([x, *_]) | tuple((x, *_)):
            return "starts", x
        case dict(d) | set(d):
            return "collection", len(d)
        case type():
            return "type"
    return "unknown"


def captures(v):
    match v:
        case [a, b] as whole if (a, b) == (1, 2):
            pass
        case {"k": int() as a} as whole:
            b = 0
        case (int() | str()) as whole:
            a = b = None
        case whole:
            a = b = "nothing"
    return str(type(whole)), a, b


for subject in SUBJECTS:
    for function in (literals, sequences, mappings, kinds, captures):
        program(subject)(function)


@program()
def patterns_that_fail():
    class NoTuple:
        __match_args__ = ["a"]

    class NoText:
        __match_args__ = (5,)

    class Twice:
        __match_args__ = ("a", "a")
        a = 1

    class Plain:
        a = 1

    def too_many(v):
        match v:
            case Point(1, 2, 3):
                return True

    def whole(v):
        match v:
            case int(1, 2):
                return True

    def first(kind, v):
        match v:
            case kind(_):
                return "matched"
        return "not matched"

    def both(kind, v):
        match v:
            case kind(_, a=1):
                return "matched"

    def two(kind, v):
        match v:
            case kind(_, _):
                return "matched"

    def keys(a, b, v):
        Space.a, Space.b = a, b
        match v:
            case {Space.a: x, Space.b: y}:
                return x, y

    class Space:
        pass

    classes = [NoTuple, NoText, Twice, Plain]
    return (
        attempt(too_many, Point(1)), attempt(whole, 1), [attempt(first, k, k()) for k in classes], [attempt(two, k, k()) for k in classes], attempt(both, Twice, Twice()),
        attempt(first, 5, 1), attempt(keys, "k", "k", {"k": 1}), attempt(keys, "k", "l", {"k": 1, "l": 2}), attempt(keys, 1, 2, {}),
    )


@program()
def own_mappings_and_sequences():
    log = []

    class M(collections.abc.Mapping):
        def __getitem__(self, key):
            log.append(("item", key))
            return {"a": 1, "b": 2}[key]

        def __iter__(self):
            return iter("ab")

        def __len__(self):
            return 2

        def get(self, key, default=None):
            log.append(("get", key))
            return 5 if key == "a" else default

    class S(collections.abc.Sequence):
        def __getitem__(self, i):
            log.append(i)
            return [7, 8, 9][i]

        def __len__(self):
            return 3

    d = collections.defaultdict(list)

    def f(v):
        match v:
            case {"missing": x}:
                return "missing"
            case {"a": x, **rest}:
                return x, rest
            case [x, *y, z]:
                return x, y, z
            case {}:
                return "some mapping"

    return f(M()), f(S()), f(d), dict(d), log


@program()
def an_interpreter():
    def evaluate(node, env):
        match node:
            case int() | float():
                return node
            case str(name):
                return env[name]
            case ["let", str(name), value, body]:
                return evaluate(body, env | {name: evaluate(value, env)})
            case ["if", test, yes, no]:
                return evaluate(yes if evaluate(test, env) else no, env)
            case [("+" | "*" | "-") as op, *args]:
                values = [evaluate(a, env) for a in args]
                total = values[0]
                for v in values[1:]:
                    match op:
                        case "+":
                            total += v
                        case "*":
                            total *= v
                        case _:
                            total -= v
                return total
            case _:
                raise SyntaxError(f"what is {node!r}?")

    program = ["let", "x", 5, ["+", "x", ["if", ["-", "x", 5], 1, ["*", 2, "x", 3]], 0.5]]
    return evaluate(program, {}), attempt(evaluate, ["?"], {}), attempt(evaluate, "y", {})


@program()
def loops_with_match():
    out = []
    for item in [1, "a", None, 3, "b"]:
        match item:
            case None:
                continue
            case 3:
                break
            case int(n) if n > 0:
                out.append(n)
            case s:
                out.append(s * 2)
    else:
        out.append("else")
    return out
