"""Static arguments: told by what they hold where they hold something, by identity otherwise, and never stale."""

import copy
import dataclasses
import math
import random
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import weftwork as wf

X = np.arange(1, 9, dtype=np.int8)


@dataclasses.dataclass
class Settings:
    rate: Any = 1
    parts: Any = None

    def scale(self) -> Any:
        return self.rate


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: Any = 1
    parts: Any = None


@dataclasses.dataclass
class Slotted:
    __slots__ = ("parts", "rate")
    rate: Any
    parts: Any


Pair = namedtuple("Pair", "rate parts")


class Plain:
    """Told by identity."""

    def __init__(self, rate: Any, parts: Any = None) -> None:
        self.rate, self.parts = rate, parts


def total(x: Any, value: Any) -> Any:
    """A number that depends on all that a value holds."""
    if value is None:
        return x.sum()
    if isinstance(value, slice):
        return x[value].sum() * 3
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return total(x, value.tolist())
        return sum([x[int(i) % len(x)] for i in value.ravel()], x[0]) + value.size + (value * x[1]).sum()
    if isinstance(value, (list, tuple, set, frozenset, bytearray)):
        result = x.max() + len(value)
        for place, item in enumerate(value):
            result = result * 1.5 + total(x, item) * (place + 1)
        return result
    if isinstance(value, dict):
        return total(x, list(value)) + total(x, list(value.values())) * 0.5
    if isinstance(value, (Settings, Frozen, Slotted, Plain)):
        return total(x, value.rate) + 2 * total(x, value.parts)
    if isinstance(value, str):
        return x.min() * len(value)
    return x[2] * value


KINDS = [
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "array",
    "objects",
    "bytearray",
    "settings",
    "frozen",
    "slotted",
    "pair",
]


def drawn(rng: random.Random, depth: int = 3, kinds: Any = KINDS) -> Any:
    """A value that functions may be given as a static argument."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(
            [None, True, 1, 1.0, 0.0, -0.0, 2, 2.5, "ab", "abc", 1 + 2j, slice(0, rng.randint(1, 5)), slice(1, None, 2)]
        )
    inner = lambda: drawn(rng, depth - 1, kinds)
    kind = rng.choice(kinds)
    items = [inner() for _ in range(rng.randint(0, 3))]
    if kind in ("set", "frozenset"):
        keys = [rng.choice([1, 2.5, "k", 7, True, None]) for _ in items]
        return set(keys) if kind == "set" else frozenset(keys)
    if kind == "array":
        made = np.arange(rng.randint(1, 6), dtype=rng.choice([np.int64, np.float32])) + rng.randint(0, 2)
        return made[::-1] if rng.random() < 0.2 else made
    if kind == "objects":
        made = np.empty(len(items), object)
        made[:] = [item if not isinstance(item, (np.ndarray, list, tuple)) else 3 for item in items]
        return made
    if kind == "dict":
        return {rng.choice(["a", "b", 1, 2.0]): item for item in items}
    if kind == "bytearray":
        return bytearray(rng.randbytes(len(items)))
    if kind in ("list", "tuple"):
        return items if kind == "list" else tuple(items)
    return {"settings": Settings, "frozen": Frozen, "slotted": Slotted, "pair": Pair, "plain": Plain}[kind](
        inner(), inner()
    )


def mutated(rng: random.Random, value: Any) -> None:
    """Changes something in it, in place, where there is anything that can be changed."""
    if isinstance(value, (Settings, Slotted, Plain)):
        if rng.random() < 0.5:
            value.rate = drawn(rng, 1)
        else:
            mutated(rng, value.parts)
    elif isinstance(value, Frozen):
        mutated(rng, value.parts)
    elif isinstance(value, list):
        if value and rng.random() < 0.6:
            mutated(rng, value[0])
            value[-1] = drawn(rng, 1)
        else:
            value.append(drawn(rng, 1))
    elif isinstance(value, dict):
        value[rng.choice("abc")] = drawn(rng, 1)
    elif isinstance(value, set):
        value.symmetric_difference_update({rng.choice([1, 7, "k"])})
    elif isinstance(value, bytearray):
        value.append(rng.randrange(256))
    elif isinstance(value, np.ndarray) and value.size:
        value[rng.randrange(len(value))] = rng.randint(0, 3)
    elif isinstance(value, tuple) and value:
        mutated(rng, rng.choice(value))


def outcome(function: Any, *args: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            result = np.asarray(function(*args))
        except Exception as error:
            return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return result.dtype, result


def agrees(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, type) or isinstance(got, type):
        return isinstance(wanted, type) and isinstance(got, type)
    return got[0] == wanted[0] and np.allclose(got[1], wanted[1], rtol=1e-6, equal_nan=True)


def draw_calls(seed: int, strict: bool) -> None:
    rng = random.Random(seed)
    function = wf.jit(total, static_argnames="value", strict=strict)
    # What an object that is told by identity holds is of the surroundings, of which a program does not take everything.
    values = [drawn(rng, kinds=KINDS if strict else [*KINDS, "plain"]) for _ in range(4)]
    for turn in range(12):
        value = rng.choice(values)
        if turn % 3 == 2:
            mutated(rng, value)
        given = copy.deepcopy(value) if rng.random() < 0.3 else value
        wanted = outcome(total, X, given)
        got = outcome(function, X, given)
        assert agrees(got, wanted), (seed, turn, given, got, wanted)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_answers_are_those_of_what_is_held_now(first: int) -> None:
    for seed in range(first, first + 20):
        draw_calls(seed, False)
        draw_calls(seed, True)


HELD = [
    [1, 2],
    {"a": [1, {"b": 2.0}]},
    {1, 2, 5},
    slice(0, 3),
    (1, [2]),
    np.arange(3),
    np.array([1, None, "a"], object),
    bytearray(b"ab"),
    Settings(2, [1.5]),
    Frozen(2, {"k": Settings(1)}),
    Slotted(2, [1]),
    Pair(1, [2]),
    frozenset([1, 2]),
    [Settings(1, np.ones(2)), slice(1, 2)],
    Settings(np.arange(100_000.0)),
]


@pytest.mark.parametrize("number", range(len(HELD)))
def test_equal_contents_are_one_program(number: int) -> None:
    function = wf.jit(lambda x, c: x * 2, static_argnames="c", strict=True)
    for _ in range(3):
        assert function(X, copy.deepcopy(HELD[number]))[0] == 2
    assert function.plan_count == 1
    assert function(X, c=copy.deepcopy(HELD[number]))[0] == 2 and function.plan_count == 2


def test_numbers_that_are_equal_are_told_apart() -> None:
    function = wf.jit(lambda x, c: x * c[0], static_argnames="c", strict=True)
    for c in ((1,), (1.0,), (True,), (0.0,), (-0.0,), (math.nan,), [1], [1.0], [True]):
        for x in (X, X[:4] > 2):
            assert function(x, c).dtype == (x * c[0]).dtype
    assert np.signbit(function(np.ones(1), (-0.0,)))[0] and not np.signbit(function(np.ones(1), (0.0,)))[0]
    config = wf.jit(lambda x, c: x * c.rate, static_argnames="c", strict=True)
    assert [config(X, Frozen(rate)).dtype for rate in (1, 1.0, True)] == [np.int8, np.float64, np.int8]
    assert config.plan_count == 3


def test_generators_and_plain_objects_are_told_by_identity() -> None:
    function = wf.jit(lambda x, c: x * 2, static_argnames="c", strict=True)
    for value in (np.random.RandomState(0), Plain(1)):
        function.clear()
        for _ in range(2):
            function(X, value)
        assert function.plan_count == 1
    weighted = wf.jit(lambda x, c: x * c.rate, static_argnames="c")
    first, second = Plain(2), Plain(3)
    assert [weighted(X, c)[0] for c in (first, second, first)] == [2, 3, 2]
    first.rate = 5
    assert [weighted(X, c)[0] for c in (first, second)] == [5, 3]


def appended(x: Any, c: Any) -> Any:
    c.append(x.sum())
    return c


def counted(x: Any, c: Any) -> Any:
    c.rate = c.rate + 1
    return x * c.rate, c


def filled(x: Any, c: Any) -> Any:
    c[0] = 5
    return x * c


DEFAULT = Settings(7)


def compared(x: Any, c: Any) -> Any:
    return x if c is DEFAULT else -x


@pytest.mark.parametrize("strict", [True, False])
def test_what_the_function_does_to_them_is_done_to_them(strict: bool) -> None:
    held: list[Any] = []
    function = wf.jit(appended, static_argnames="c", strict=strict)
    for count in (1, 2, 3):
        assert function(X, held) is held and len(held) == count and held[-1] == X.sum()
    settings = Settings(1)
    function = wf.jit(counted, static_argnames="c", strict=strict)
    for count in (2, 3, 4):
        result, same = function(X, settings)
        assert same is settings and settings.rate == count and result[0] == count
    other = Settings(4)
    assert function(X, other)[1] is other and other.rate == 5 and settings.rate == 4
    array = np.ones(8)
    function = wf.jit(filled, static_argnames="c", strict=strict)
    assert function(X, array)[0] == 5 and array[0] == 5
    function = wf.jit(compared, static_argnames="c", strict=strict)
    assert [function(X, c)[0] for c in (DEFAULT, Settings(7), DEFAULT)] == [1, -1, 1]


def test_ones_that_hold_themselves_are_told() -> None:
    held: list[Any] = [1]
    held.append(held)
    assert wf.jit(lambda x, c: x * c[0], static_argnames="c", strict=False)(X, held)[0] == 1
    with pytest.raises(wf.errors.ArgumentValueError, match="argument_nesting"):
        wf.jit(lambda x, c: x * c[0], static_argnames="c", strict=True)(X, held)


def test_calls_in_pieces_see_the_arguments_themselves() -> None:
    def noted(x: Any, c: Any) -> Any:
        if x.sum() > 0:
            c["calls"] = c.get("calls", 0) + 1
        return x * c["rate"]

    function, held = wf.jit(noted, static_argnames="c", strict=False), {"rate": 2}
    for count in (1, 2, 3):
        assert function(X, held)[0] == 2 and held["calls"] == count


@pytest.mark.parametrize("text", [np.str_("edge"), np.array(["edge", "wrap"])[1], np.bytes_(b"wrap")], ids=repr)
def test_texts_of_numpys_are_constants_as_pythons_are(text: Any) -> None:
    surroundings = {"mode": text}

    def padded(x: Any, mode: Any) -> Any:
        name = mode if isinstance(mode, str) else mode.decode()
        return np.pad(x, 1, mode=name), surroundings["mode"] == mode, len(mode)

    x = np.arange(3.0)
    compiled = wf.jit(padded, strict=True)
    for mode in (text, type(text)("reflect" if isinstance(text, str) else b"reflect"), text):
        got, want = compiled(x, mode), padded(x, mode)
        np.testing.assert_array_equal(got[0], want[0])
        assert got[1:] == want[1:]
    surroundings["mode"] = "other"
    assert compiled(x, text)[1] == (text == "other")
