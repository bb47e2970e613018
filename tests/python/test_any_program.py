"""Small functions with state, called again and again beside plain Python: results, types and what is left behind agree."""

from __future__ import annotations

import cmath
import collections
import copy
import functools
import math
import re
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import weftwork as wf

#: Each makes a function anew, and the argument lists of its calls: thunks, which may change the state first.
Program = Callable[[], tuple[Callable[..., Any], list[Callable[[], tuple]]]]
PROGRAMS: list[Program] = []
X = np.arange(3.0)


def program(make: Program) -> Program:
    PROGRAMS.append(make)
    return make


def told(value: Any) -> Any:
    """A value with the types of all its parts."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, repr(value.tolist())
    if isinstance(value, dict):
        return type(value).__name__, [(told(k), told(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [told(v) for v in value], told(vars(value)) if hasattr(value, "__dict__") else ""
    if isinstance(value, types.BuiltinFunctionType):
        return value.__qualname__, told(value.__self__)
    return type(value).__name__, repr(value)


def outcome(function: Callable[..., Any], args: tuple) -> Any:
    try:
        return told(function(*args)), told(args)
    except Exception as error:
        return type(error).__name__, str(error), told(args)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_as_plain_python(make):
    (plain, expected), (function, actual) = make(), make()
    jitted = wf.jit(function, strict=False)
    for wanted, given in zip(expected, actual, strict=True):
        assert outcome(jitted, given()) == outcome(plain, wanted())
    assert sum(jitted.ways.values()) == len(expected)


def changing(container: Any, *values: Any) -> list[Callable[[], tuple]]:
    """Calls with one array; before each, an entry of the container is set."""

    def call(value: Any) -> tuple:
        container["a"] = value
        return (X,)

    return [lambda v=v: call(v) for v in values]


class Ordered(dict):
    pass


class Row(tuple):
    __slots__ = ()


class Items(list):
    pass


class Pair(NamedTuple):
    items: list
    factor: float


def copied(state):
    return lambda x: x * dict(state)["a"]


def unpacked(state):
    return lambda x: x * {**state}["a"]


def handed_on(state):
    def inner(**entries):
        return entries["a"]

    return lambda x: x * inner(**state)


def program_of(use: Callable[[Any], Any], make_state: Callable[[], Any], name: str) -> None:
    def make():
        state = make_state()
        return use(state), changing(state, 1.0, 1.0, 2.0, 3, "no")

    make.__name__ = name
    program(make)


for _use in (copied, unpacked, handed_on):
    for _kind in (dict, collections.OrderedDict, Ordered, lambda: collections.defaultdict(float)):
        program_of(_use, _kind, f"{_use.__name__}_{getattr(_kind, '__name__', 'default')}")


@program
def view_of_a_mapping():
    state: dict = {}
    proxy = types.MappingProxyType(state)
    return (lambda x: x * dict(proxy)["a"]), changing(state, 1.0, 2.0, 2.0)


@program
def a_tuple_of_a_class_of_its_own():
    row = Row(({},))
    return (lambda x: x * row[0]["a"]), changing(row[0], 1.0, 1.0, 2.0)


@program
def the_order_of_a_set():
    state = {8, 0}

    def call(*values):
        state.clear()
        for value in values:
            state.add(value)
        return (X,)

    turns = [lambda v=v: call(*v) for v in [(8, 0), (8, 0), (0, 8), (16, 8, 0), (0, 8, 16), (1,), (True,), (1.0,)]]
    return (lambda x: [x * k for k in state]), turns


@program
def a_list_of_a_class_of_its_own_is_an_argument():
    return (lambda x, items: (x, items)), [lambda v=v: (X, Items([v])) for v in (1.0, 1.0, 2.0)]


@program
def such_a_list_grows():
    return (lambda x, items: items.append(1.0)), [lambda v=v: (X, Items([v])) for v in (1.0, 1.0, 2.0)]


@program
def a_list_within_a_named_tuple_grows():
    def grow(x, pair):
        pair.items.append(pair.factor)
        return x * pair.items[0]

    return grow, [lambda v=v: (X, Pair([v], v)) for v in (1.0, 1.0, 2.0)]


class Measured(collections.namedtuple("Measured", "a b")):
    """A named tuple with an attribute besides."""

    def __new__(cls, a, b, extra):
        return super().__new__(cls, a, b)

    def __init__(self, a, b, extra):
        self.extra = extra


@program
def a_named_tuple_with_attributes_is_the_result():
    return (lambda x: (m := Measured(x, x + 1, x * 2), m.extra)), [lambda: (X,)] * 3


@program
def a_named_tuple_with_attributes_is_an_argument():
    return (lambda x, m: (hasattr(m, "extra"), m.extra * x + m.a)), [
        lambda v=v: (X, Measured(1.0, 2.0, v)) for v in (1.0, 1.0, 2.0)
    ]


@program
def the_order_of_a_set_that_is_an_argument():
    return (lambda x, s: [x * k for k in s]), [
        lambda v=v: (X, frozenset(v)) for v in ([8, 0], [0, 8], [1], [True], [1.0])
    ]


class Named:
    """Equal by what it holds, which may change."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name

    def __repr__(self):
        return f"Named({self.name})"


def with_a_key(use: Callable[..., Any]) -> None:
    def make():
        key = Named(1)
        table = {Named(1): 1.0, Named(2): 2.0}

        def call(name):
            key.name = name
            return (X,)

        return (lambda x: use(x, key, table)), [lambda n=n: call(n) for n in (1, 1, 2, 2, 3)]

    make.__name__ = use.__name__
    program(make)


@with_a_key
def entry_of_an_object(x, key, table):
    return x * table[key]


@with_a_key
def entry_or_another(x, key, table):
    return x * table.get(key, 5)


@with_a_key
def entry_of_a_dictionary_made_here(x, key, table):
    return x * {Named(1): 1.0, Named(2): 2.0}[key]


@with_a_key
def a_set_of_objects(x, key, table):
    return x * len({Named(1), key}), len({*[Named(2)], key})


@with_a_key
def objects_within_lists_compared(x, key, table):
    return x * ([[key]] == [[Named(1)]]), key in [Named(2)], [key] in [[Named(1)]]


def with_a_number(use: Callable[..., Any]) -> None:
    def make():
        numbers = (2.0, 2.0, 1.0, np.float64(2), np.float64(1), np.array(2.0), 1 + 0j)
        return use, [lambda n=n: (X, n) for n in numbers]

    make.__name__ = use.__name__
    program(make)


@with_a_number
def a_number_as_a_key(x, y):
    return x * {y: 1}.get(2.0, 3), {y, 2.0}, {y: 1, 1.0: 2}


@with_a_number
def keys_of_a_comprehension(x, y):
    return {v: x for v in (y, 2.0)}, {v for v in (y, 2.0)}


@with_a_number
def a_key_that_is_a_tuple(x, y):
    table: dict = {}
    table[y, 1] = x
    table.setdefault((y, 2), 3)
    return table


@with_a_number
def numbers_in_containers(x, y):
    return x, y in {2.0, 1.0}, y in (2.0, 1.0)


@program
def functions_with_caches():
    calls: list = []

    @functools.lru_cache(maxsize=2)
    def counted(a, b=1):
        calls.append(a)
        return [a, b, len(calls)]

    def use(x, k):
        known = counted(k)
        known.append(k)
        return x * known[2], counted(k, b=2), counted.cache_info(), list(calls)

    return use, [lambda k=k: (X, k) for k in (1, 1, 2, 1, 1, 1, 3, 1, 1)]


@program
def patterns_and_text():
    pattern = re.compile("a(b+)")

    def use(x, text):
        found = pattern.match(text)
        return x * len(found.group(1)) if found else re.sub("c", "d", text), str(len(text)) + repr(text), f"{text:>9}"

    return use, [lambda t=t: (X, t) for t in ("abb", "abb", "cab", "", "cab")]


@program
def copies_of_containers():
    held = {"a": [1, (2, 3)], "b": X}

    def use(x, value):
        held["a"].append(value)
        new, flat = copy.deepcopy([x, x, held]), copy.copy(held["a"])
        new[0][0] = 7
        return new, new[0] is new[1], flat, copy.deepcopy((1, value))

    return use, [lambda v=v: (X, v) for v in (1, 1, 2.0, "text")]


class Base:
    def scaled(self, x):
        return x * self.factor


class Derived(Base):
    factor = 2

    def scaled(self, x):
        return super(Derived, self).scaled(x) + 1  # noqa: UP008


@program
def super_with_arguments():
    thing = Derived()

    def call(value):
        thing.factor = value
        return (X,)

    return (lambda x: thing.scaled(x)), [lambda v=v: call(v) for v in (1, 1, 2, 2.0)]


@program
def parts_of_named_tuples():
    def use(x):
        values, _ = np.linalg.eigh(np.outer(x, x))
        pair = Pair([1.0], 2.0)
        first, second = pair
        with np.errstate(divide="ignore", invalid="ignore"):
            return x / 0, values.shape, first, second, len(pair), pair[1], 2.0 in pair

    return use, [lambda: (X,)] * 3


@program
def entries_of_a_large_dictionary():
    table = {f"k{i}": i for i in range(1000)} | {"a": 1.0}

    def use(x, key):
        return x * table["a"], table.get(key), table.get(key, 2.0), key in table, "none" in table, (1, 2) in table

    def call(value, key):
        if value is None:
            table.pop("a", None)
        else:
            table["a"] = value
        return (X, key)

    turns = [(1.0, "k1"), (1.0, "k1"), (2.0, "z"), (X, "a"), (None, "a"), (3, "a"), (1.0, "k1")]
    return use, [lambda v=v, k=k: call(v, k) for v, k in turns]


@program
def a_large_dictionary_is_filled():
    table = {i: i for i in range(1000)}

    def use(x, key):
        table[key] = x * 2
        return len(table), table.setdefault(key, 3), dict(table)[key], list(table)[-1]

    return use, [lambda k=k: (X, k) for k in (1, 1, "new", "new")]


@program
def an_ordered_dictionary():
    table = collections.OrderedDict(a=1.0, b=X)

    def use(x, key):
        table.move_to_end(key)
        table["c"] = x + 1
        return [k for k in table], table == collections.OrderedDict(table), x * table["a"], table

    return use, [lambda k=k: (X, k) for k in ("a", "a", "b", "b", "c")]


@program
def numbers_that_python_tells():
    return (lambda x: x + sys.float_info.min * sys.float_info.max_exp), [lambda: (X,)] * 2


@program
def very_many_operations():
    def use(x):
        for _ in range(30):
            x = list(map(lambda v: (lambda w: w + 1)(v), [x] * 400))[-1]
        return x

    return use, [lambda: (X,)] * 2


@program
def text_by_the_methods_of_arrays():
    methods = [np.ndarray.__repr__, lambda v: v.__repr__(), lambda v: v.__format__(""), lambda v: [v].__str__()]
    methods += [lambda v: v.__doc__[:8], lambda v: hasattr(v, "__module__"), lambda v: object.__repr__(v)[:14]]
    return (lambda x, i: methods[i](x)), [lambda i=i: (X, i) for i in range(len(methods)) for _ in range(2)]


@program
def methods_of_containers_outside():
    items, table, array = [1.0], {"a": 1.0}, X.copy()
    append, get, first, total, update = items.append, table.get, items.__getitem__, array.sum, table.update

    def use(x, value):
        append(value)
        update(b=value)
        return x * first(0), get("a"), len(items), total(), list(map(get, ["a", "b", "c"]))

    def call(value):
        items[0] = table["a"] = array[0] = value
        return (X, value)

    return use, [lambda v=v: call(v) for v in (1.0, 1.0, 2.0, 3, 3)]


@program
def partial_functions():
    items, options = [1.0], {"scale": 2.0}
    added = functools.partial(lambda held, x, scale=1.0: x * held[0] * scale, items)
    scaled = functools.partial(added.func, items, **options)

    def use(x):
        made = functools.partial(added, x)
        return added(x), scaled(x), made(), made.args[0]

    def call(value):
        items[0] = scaled.keywords["scale"] = value
        return (X,)

    return use, [lambda v=v: call(v) for v in (1.0, 1.0, 2.0, 3)]


@program
def a_method_of_a_list_is_an_argument():
    return (lambda x, add: (x, add(2.0), add.__self__)), [lambda: (X, [1.0].append)] * 3


@pytest.mark.parametrize("strict", [True, False])
def test_functions_of_numbers_that_give_two(strict: bool) -> None:
    def f(x: Any, a: Any) -> Any:
        whole, rest = divmod(a, 2)
        fraction, integer = math.modf(a)
        return x * whole + rest, math.frexp(a)[0] * x, fraction, cmath.polar(a)[1], integer

    fast = wf.jit(f, strict=strict)
    for a in (0.5, -3.25, 7.75):
        got, wanted = fast(np.arange(3.0), a), f(np.arange(3.0), a)
        assert [type(v) for v in got] == [type(v) for v in wanted]
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    assert fast.ways["compiled"] == 3


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("count", [150, 30_000])
def test_pythons_sums_of_many_elements_are_no_long_program(count):
    def f(x):
        y = x + 1
        if any(y > 2) and not all(y > 2):
            y = y * 2
        return sum(y, 1.5), sum(y > 1), min(y), max(np.sin(x)), sum(x > 9)

    x = np.random.default_rng(0).normal(size=count)
    fast = wf.jit(f, strict=False)
    for _ in range(3):
        for result, wanted in zip(fast(x), f(x), strict=True):
            assert type(result) is type(wanted)
            assert np.isclose(result, wanted)
    assert count == 150 or fast.ways["pieces"] == 3
