"""NumPy's integers, of the surroundings and among the arguments, where indices, extents and axes are: as Python's."""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import pytest
import same_types
from sources import function_of

import weftwork as wf

GIVEN = np.arange(60.0)


class Model:
    def __init__(self) -> None:
        self.n, self.small, self.shape = np.int64(3), np.uint8(200), (np.int64(3), np.int32(20))
        self.extents, self.places, self.counts = np.array([3, 20]), [np.int32(4), np.int64(7)], {"a": np.int16(300)}


EXPRESSIONS = """
x.reshape(m.n, -1) + 1
x.reshape(m.shape) + 1
x.reshape(m.extents).sum(0)
np.zeros(m.shape) + x[0]
np.zeros(m.n + 1) + x[0]
np.zeros([m.n, m.n]) + x[0]
np.full(m.n, m.small) * 2
np.arange(m.n) * x[1]
np.linspace(0, x[1], m.n)
np.tile(x[:2], m.n)
np.repeat(x[:2], m.n)
np.roll(x, m.n)
np.split(x, m.n)[1] + 1
np.rot90(x.reshape(6, 10), m.n) + 1
np.pad(x, (m.n, 1))
np.fft.fft(x, m.n)
np.broadcast_to(x, (m.n, 60)) + 1
x.reshape(6, 10).sum(m.n - 2)
np.moveaxis(x.reshape(2, 3, 10), m.n - 3, m.n - 1) + 1
x[m.n:] + x[:-m.n]
x[::m.n] + 1
x[m.n] + x[m.places]
[x[v] for v in m.places]
[v * x[0] for v in range(m.n)]
x * m.n + m.small + m.small
x.astype('u1') + m.small
-m.small, m.small // 3, m.n ** 2, m.n / 2, m.n << 1, divmod(m.n, 2), m.n & 1
x * 2 if m.n > 3 else x - 1
{m.n: x + 1, 'b': [m.n] * m.n}
int(m.n) * x, float(m.n), m.n.dtype, m.n == 3, type(m.n)
str(m.n), f'{m.n:03d}', x + 1
isinstance(m.n, np.integer), isinstance(m.n, int), np.ndim(m.n), x + 1
"""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_of_an_object(expression: str, strict: bool) -> None:
    function = function_of(f"def f(m, x):\n    return {expression}\n", "f", f"{expression} {strict}")
    fast = wf.jit(function, strict=strict)
    plain, compiled = Model(), Model()
    for n in (3, 3, 4, 3):
        plain.n = compiled.n = np.int64(n)
        with np.errstate(all="ignore"):
            same(outcome(fast, compiled), outcome(function, plain))
    assert not fast.ways["pieces"]


def outcome(function: Any, model: Model) -> Any:
    try:
        return function(model, GIVEN)
    except Exception as error:
        return type(error).__mro__[-4:]


same = functools.partial(same_types.same, atol=0)


def step(m: Model, x: np.ndarray) -> Any:
    m.n = m.n + 1
    m.counts["a"] -= np.int16(1)
    return x[m.n], m.counts["a"]


def test_counters_are_stored_as_numpys() -> None:
    fast, plain, compiled = wf.jit(step), Model(), Model()
    for _ in range(5):
        same(fast(compiled, GIVEN), step(plain, GIVEN))
        same(vars(compiled), vars(plain))
    assert fast.ways["compiled"] == 5


def shaped(n: Any, x: np.ndarray) -> Any:
    return np.zeros(n) + x[:n].sum(), x.reshape(2, -1)[:, n] * n


@pytest.mark.filterwarnings("ignore::weftwork.errors.RecompilationWarning")
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_arguments_that_vary(kind: type) -> None:
    fast = wf.jit(shaped, strict=False)
    for n in [*range(1, 20), *range(19, 0, -1)]:
        same(fast(kind(n), GIVEN), shaped(kind(n), GIVEN))


def walked(m: Model, steps: np.ndarray) -> Any:
    place, count = m.n, 0
    while steps[place] != 0 and count < 60:
        place = steps[place]
        count += 1
    return place, count


def counted(m: Model, steps: np.ndarray) -> Any:
    found, total = m.n, 0.0
    for i in range(len(steps)):
        if steps[i] > m.small // 4:
            found = found + 1
        total += steps[(i * m.n) % 60] * m.n
    return found, total, m.n[None] * 2, m.n[()]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("function", [walked, counted])
def test_variables_of_loops_begin_with_one(function: Any, strict: bool) -> None:
    steps = np.roll(np.arange(60), 5)
    fast, model = wf.jit(function, strict=strict), Model()
    for n in (3, 5, 3, 7):
        model.n = np.int64(n)
        same(fast(model, steps), function(model, steps))
    assert fast.ways["compiled"] == 4


def summed(n: Any, x: np.ndarray) -> Any:
    total = x[0]
    for i in range(n):
        total += x[i] * i
    return total, n


def test_a_loop_over_an_argument_is_one_program() -> None:
    fast = wf.jit(summed)
    for n in (5, 9, 2, 0, 30):
        same(fast(np.int64(n), GIVEN), summed(np.int64(n), GIVEN))
    assert fast.plan_count == 1


def test_what_a_shape_is_read_from_is_read_at_each_call() -> None:
    extents = np.array([3, 20])
    fast = wf.jit(lambda x, extents: np.sin(x).reshape(extents), strict=False)
    for shape in ([3, 20], [20, 3], [6, 10], [3, 20]):
        extents[:] = shape
        assert fast(GIVEN, extents).shape == tuple(shape)
    own = copy.copy(extents)

    def written(x: np.ndarray) -> np.ndarray:
        own[0], own[1] = own[1], own[0]
        return x.reshape(own) + 1

    fast = wf.jit(written, strict=False)
    assert [fast(GIVEN).shape for _ in range(4)] == [(20, 3), (3, 20)] * 2


def test_np_require_knows_what_can_be_written() -> None:
    frozen = GIVEN.copy()
    frozen.flags.writeable = False
    fast = wf.jit(lambda x: np.require(x, requirements=["W", "C"]))
    assert fast(GIVEN) is GIVEN
    assert fast(frozen) is not frozen and fast(frozen).flags.writeable


def written_through_a_view(x: np.ndarray) -> Any:
    rows = x.reshape((x < 4).sum(), -1)
    rows[1] = 7
    return np.sin(x).sum(), rows * 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(*(np.array([3, 4]) + (x < 1).sum() - 1), -1).sum(1) * 2,
        lambda x: np.sin(x.reshape((x >= 30).sum() // 10, -1)).sum(0),
        lambda x: np.split(np.sin(x), (x < 4).sum())[1] * 2,
        lambda x: np.broadcast_to(np.sin(x)[:3], ((x < 7).sum(), 3)) * 2,
        lambda x: np.swapaxes(np.sin(x).reshape(3, 4, 5), (x < 1).sum(), (x < 2).sum()) * 1,
        written_through_a_view,
    ],
)
def test_views_by_extents_that_are_computed_are_made_in_pieces(function: Any) -> None:
    fast = wf.jit(function, strict=False)
    for _ in range(3):
        found, wanted = GIVEN.copy(), GIVEN.copy()
        same(fast(found), function(wanted))
        same(found, wanted)
    assert fast.ways["pieces"] and not fast.refusals
