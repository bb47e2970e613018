"""Integers among the arguments: inputs of one program once they vary, where the program does not depend on their values."""

import operator
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

Outcome = tuple[str, Any]


def matrix() -> np.ndarray:
    return np.random.default_rng(0).random((40, 50))


def outcome(function: Callable[..., Any], args: tuple) -> Outcome:
    try:
        return "result", function(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def require_same(got: Any, wanted: Any, own: np.ndarray, other: np.ndarray) -> None:
    """Equal results of the same types, which share memory with the argument alike."""
    assert type(got) is type(wanted)
    if isinstance(wanted, (tuple, list)):
        for a, b in zip(got, wanted, strict=True):
            require_same(a, b, own, other)
    elif isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype and np.shares_memory(got, own) == np.shares_memory(wanted, other)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    else:
        assert got == wanted or abs(got - wanted) < 1e-12 * abs(wanted)


def agreeing(function: Callable[..., Any], values: Any, make: Callable[[], np.ndarray] = matrix) -> Any:
    """The jitted function, whose calls are all as plain ones: results, what is written, errors."""
    jitted = wf.jit(function, strict=False)
    for value in values:
        own, other = make(), make()
        (kind, got), (wanted_kind, wanted) = outcome(jitted, (own, value)), outcome(function, (other, value))
        assert kind == wanted_kind, (value, got, wanted)
        if kind == "result":
            require_same(got, wanted, own, other)
        else:
            assert got == wanted
        np.testing.assert_array_equal(own, other)
    return jitted


def view_and_write(x: Any, i: int) -> Any:
    row = x[i]
    x[i, 0] = 5.0
    return row.sum(), row


def window_and_write(x: Any, i: int) -> Any:
    part = x[i : i + 3]
    x[i] = 7.0
    part[1] += 1
    return part.sum(), x


def both_axes(x: Any, i: int) -> Any:
    x[i : i + 2, i] = 1.5
    x[:, i : i + 2] *= 2.0
    return x


def element(x: Any, i: int) -> Any:
    before = x[i, i]
    x[i, i] = 9.0
    return before, x[i, i], x[i][i], x[None, i], x[..., i]


def added_in_place(x: Any, i: int) -> None:
    x[i] += 1.0
    x[i, 3] += i


def product_of_rows(x: Any, i: int) -> Any:
    total = np.zeros(x.shape[1])
    for k in range(20):
        total = total + x[k] * x[i]
    x[i] = total
    return total


#: One program for all values but the first, which has its own.
ONE_PROGRAM: list[Callable[..., Any]] = [
    lambda x, n: x * n + n,
    lambda x, n: x / (1 - 0.9**n),
    lambda x, n: (x / n, x // n, x % n),
    lambda x, n: x.astype(np.int64) << n,
    lambda x, n: (x > n, x == n, np.maximum(n, 3), np.sqrt(n), np.float32(n)),
    lambda x, n: (np.full(3, n), np.array([n, 1]), np.asarray(n)),
    lambda x, n: (max(n, 3), min(n, x.shape[0]), abs(n), x[0] * max(n, 3)),
    lambda x, n: (x + 1, n, n + 1, float(n)),
    lambda x, n: x * 2 if isinstance(n, int) else x * 3,
    lambda x, n: x[n % 4] * (n // 3),
    lambda x, n: (np.take(x, n, axis=0), x[[n, 0]], x[np.array([0, n])]),
    lambda x, n: (x[n], x[:, n], x[n][1], x[n, 1:], x[n][1:3], x.T[n]),
    lambda x, n: (x[n : n + 4], x[n : n + 6 : 2].sum(0), x[n + 5 : n : -2].copy()),
    lambda x, n: (x.ravel()[n : n + 7], x.reshape(-1)[n * 2]),
    lambda x, n: np.roll(x, n),
    view_and_write,
    window_and_write,
    both_axes,
    element,
    added_in_place,
    product_of_rows,
]


@pytest.mark.parametrize("number", range(len(ONE_PROGRAM)))
def test_an_integer_that_varies_costs_two_programs(number: int) -> None:
    jitted = agreeing(ONE_PROGRAM[number], [1, 2, 3, 7, 5, 3, 9, 11, 20, 2, 4])
    assert not jitted.refusals and jitted.plan_count == 2


def repeated(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * 1.5
    return x


#: A program for each value.
OWN_PROGRAMS: list[Callable[..., Any]] = [
    lambda x, n: np.zeros(n) + x[0, 0],
    lambda x, n: x**n,
    lambda x, n: (x + 1, f"{n}"),
    lambda x, n: [x, x + 1, x * 2][n % 3],
    lambda x, n: (x[:n].sum(), x[n:]),
    lambda x, n: np.eye(40, k=n) @ x,
    repeated,
]


@pytest.mark.parametrize("number", range(len(OWN_PROGRAMS)))
def test_what_depends_on_the_value_is_a_program_of_its_own(number: int) -> None:
    jitted = agreeing(OWN_PROGRAMS[number], [1, 2, 3, 5, 3, 7, 2, 5])
    assert not jitted.refusals and jitted.plan_count in (5, 6)


def test_axes_and_errors_are_those_of_the_value() -> None:
    assert agreeing(lambda x, n: x.sum(axis=n), [0, 1, 0, -1, -2, 1, 5, 0]).plan_count == 4
    agreeing(lambda x, n: x.reshape(-1, n), [1, 2, 4, 5, 3, 8, 10])
    assert agreeing(lambda x, n: x[n].sum(), [0, 1, 39, -1, 40, -40, -41, 5]).plan_count == 2
    agreeing(lambda x, n: x[n : n + 4], [0, 1, -3, 38, 39, 45, -50, 7])
    with np.errstate(all="ignore"):
        agreeing(lambda x, n: x / n, [1, 2, 0, -1])
    agreeing(lambda x, n: x**n, [1, 2, 3, 0, 4, -3, 5], lambda: np.arange(12))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.uint64, np.float16])
def test_numbers_that_a_dtype_cannot_hold_raise(dtype: Any) -> None:
    values = [1, 2, 3, 255, 256, 300, -1, 7, 70000, 2**40, 2, 2**63, 2**70, -(2**63), 4]
    make = lambda: np.arange(5).astype(dtype)
    with np.errstate(all="ignore"):
        for function in (
            lambda x, n: x + n,
            lambda x, n: (x > n, x == n),
            lambda x, n: np.where(x > 2, x, n),
            lambda x, n: np.clip(x, 0, n),
            lambda x, n: np.full(3, n, x.dtype),
        ):
            agreeing(function, values, make)

        def assigned(x: Any, n: int) -> Any:
            x[1] = n
            return x

        agreeing(assigned, values, make)


def test_counters_in_containers() -> None:
    def step(x: Any, state: dict[str, Any]) -> Any:
        state["t"] += 1
        state["mean"] = 0.9 * state["mean"] + x
        return state["mean"] / (1 - 0.9 ** state["t"])

    jitted = wf.jit(step, strict=False)
    own, other = ({"t": 0, "mean": np.zeros(3)} for _ in range(2))
    for _ in range(8):
        np.testing.assert_allclose(jitted(np.ones(3), own), step(np.ones(3), other), rtol=1e-12)
        assert own["t"] == other["t"] and type(own["t"]) is int
    assert jitted.plan_count == 2

    pair = wf.jit(lambda x, p: x[p[0]] * p[1], strict=True)
    for k in range(8):
        np.testing.assert_array_equal(pair(matrix(), (k, k + 2)), matrix()[k] * (k + 2))
        np.testing.assert_array_equal(pair(matrix(), (k, 2.5)), matrix()[k] * 2.5)
    assert pair.plan_count == 4


def test_places_outside_of_the_arguments_are_views_too() -> None:
    place = types.SimpleNamespace(n=0)

    def row(x: Any) -> Any:
        return x[place.n]

    def rows(x: Any) -> Any:
        x[place.n : place.n + 3] = 4.0
        part = x[place.n]
        part += 1
        return x[place.n : place.n + 2]

    for function in (row, rows):
        jitted = wf.jit(function, strict=False)
        for n in (1, 2, 3, 4, 5, 6, 30, 7):
            place.n, own, other = n, matrix(), matrix()
            require_same(jitted(own), function(other), own, other)
            np.testing.assert_array_equal(own, other)
        assert jitted.plan_count == 2


def test_truths_and_other_kinds_stay_what_they_are() -> None:
    jitted = wf.jit(lambda x, n: x * n if n is not None else x - 1.0, strict=True)
    for n in (1, 2, True, 3, False, None, 4, np.int64(5), 2.5, 6, np.bool_(True)):
        got, wanted = jitted(np.arange(3), n), (np.arange(3) * n if n is not None else np.arange(3) - 1.0)
        assert got.dtype == wanted.dtype and np.array_equal(got, wanted)


def test_threads_may_find_out_at_once() -> None:
    jitted = wf.jit(lambda x, n, m: x * n + m, strict=False)
    wrong: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        for n, m in np.random.default_rng(seed).integers(1, 50, (60, 2)).tolist():
            if not np.array_equal(jitted(np.ones(3), n, m), np.ones(3) * n + m):
                wrong.append((n, m))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and jitted.plan_count < 12


def test_explain_tells_that_it_is_an_input() -> None:
    jitted = wf.jit(lambda x, n: x * n, strict=True)
    for n in range(1, 5):
        jitted(np.ones(3), n)
    told = wf.explain(jitted, np.ones(3), 9)
    assert told.way == "compiled" and not any("'n'" in guard for guard in told.guards)


def diagonals(x: Any, n: int) -> Any:
    row = x.diagonal()
    x[1, 1] = n
    return row, np.diag(x, 1), x[..., ::-1].diagonal()


def bits(x: Any, n: int) -> Any:
    words = x.view(np.int64)
    words[0] = n
    return words, x.T.view(np.uint64)[1:], x[::2, 1:].view(np.int64)


@pytest.mark.parametrize("function", [diagonals, bits])
def test_results_that_are_other_views_are_views(function: Any) -> None:
    jitted = agreeing(function, [1, 2, 3])
    assert not jitted.refusals
    for got, wanted in zip(jitted(matrix(), 4), function(matrix(), 4), strict=True):
        assert (got.strides, got.flags.writeable) == (wanted.strides, wanted.flags.writeable)


def restored(x: Any, n: int) -> Any:
    flat = x[0]
    before = flat[n]
    flat[n] = 5.0
    between = flat.sum()
    flat[n] = before
    x[n] = x[n]
    flat[n], flat[n + 1] = flat[n + 1], flat[n]
    return between, flat


def test_an_element_that_is_put_back_is_put_back() -> None:
    assert not agreeing(restored, [1, 2, 3, 4, 20]).refusals
    with pytest.raises(TypeError):
        wf.jit(lambda x: operator.setitem(x, None, None), strict=False)(None)


# -- places that the program computes --------------------------------------------------------------------------------

ORDER = np.array([3, 1, 2, 5, 4, 0, 7, 6, 9, 8, 11, 10])


def written_later(x: Any, p: Any) -> Any:
    row = x[p[0]]
    x[p[0], 0] = 5.0
    return row.sum()


def exchanged(x: Any, p: Any) -> Any:
    before = x[p[0]]  # a view: nothing is exchanged
    x[p[0]] = x[p[1]]
    x[p[1]] = before
    return x


def written_through(x: Any, p: Any) -> Any:
    row = x[p[0]]
    row += 1.0
    row[2] = 9
    x[p[3], 1:] += 1.0
    x[1:][p[0]] -= 2
    x[:, p[1]] *= 3
    return x, row[1:]


def exchanged_in_a_loop(x: Any, p: Any) -> Any:
    for k in range(12):
        row = x[p[k]]
        x[p[k]] = x[k]
        x[k] = row
    return x


def read_in_a_loop(x: Any, p: Any) -> Any:
    total = np.zeros(x.shape[1])
    for k in range(12):
        row = x[p[k]]
        x[p[k], 0] += 1
        total = total + row
    return total


def written_in_a_loop(x: Any, p: Any) -> Any:
    for k in range(12):
        row = x[p[k]]
        row *= 2.0
    return x


#: Functions of a matrix and of places in it.
PLACES: list[Callable[..., Any]] = [
    lambda x, p: x[p[2]],
    lambda x, p: (x[p[0], 1:], x[np.argmax(x[:, 0])], x[:, p[1] - 1], x[p[0], p[1]], x[..., p[1]], x[None, p[-1]]),
    lambda x, p: (x[p], x[p[:3], 1], x[p[0] : p[0] + 2] if p.sum() > 0 else x),
    lambda x, p: x[p.argmin()][p[1] :].sum(),
    lambda x, p: (x[p[0], ...], x[p[0]][None], x.T[p[1]], x[np.asarray(p[0])]),
    written_later,
    exchanged,
    written_through,
    exchanged_in_a_loop,
    read_in_a_loop,
    written_in_a_loop,
]


@pytest.mark.parametrize("number", range(len(PLACES)))
def test_a_row_whose_place_the_program_computes_is_a_view(number: int) -> None:
    function = PLACES[number]
    jitted = agreeing(function, [ORDER, ORDER[::-1].copy(), ORDER - 12])
    assert not jitted.refusals
    with pytest.raises(IndexError):
        wf.jit(PLACES[0])(matrix(), ORDER + 40)
