"""Loops that end when values say so, as one program: ``while``, ``break``, ``return`` and ``else``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from drawn_loops import DrawnExits
from early_programs import cases, has_zero_row, insertion_sort, occurrences, places_of, runs_of, sparse_product, walked
from same_types import same
from test_branches import check_drawn

import weftwork as wf
from weftwork.bytecode.decode import decoded
from weftwork.bytecode.natural_loops import exits, guarded, innermost, natural_loops

CASES = [pytest.param(*case[:1], case[1:], id=f"{case[0].__name__}-{i}") for i, case in enumerate(cases())]


@pytest.fixture(autouse=True)
def without_trials(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")


def agrees(jitted: Any, function: Any, args: tuple) -> None:
    """Results, and arguments that are written, are NumPy's."""
    ours, plain = copy.deepcopy(args), copy.deepcopy(args)
    same(jitted(*ours), function(*plain))
    for one, other in zip(ours, plain, strict=True):
        same(one, other)


@pytest.mark.parametrize("target", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("function, args", CASES)
def test_they_are_one_program(function, args, target, monkeypatch):
    monkeypatch.setenv("WEFT_TARGET", target)
    jitted = wf.jit(function)
    for _ in range(2):
        agrees(jitted, function, args)


@pytest.mark.parametrize("function, args", CASES)
def test_they_may_run_plainly(function, args):
    jitted = wf.jit(function, strict=False)
    for _ in range(3):
        agrees(jitted, function, args)
    assert not jitted.ways["plain"] or function is occurrences, jitted.refusals


@pytest.mark.parametrize("n", [0, 1, 3, 5, 9])
@pytest.mark.parametrize("function, args", CASES)
def test_of_few_elements(function, args, n):
    """Loops around those that end early are written out, and Python knows in a turn where some end."""
    args = tuple(a[(slice(n),) * a.ndim] if isinstance(a, np.ndarray) else a for a in args)
    jitted = wf.jit(function, strict=False)
    try:
        with np.errstate(all="ignore"):
            function(*copy.deepcopy(args))
    except (ValueError, IndexError, OverflowError) as error:
        with pytest.raises(type(error)):
            jitted(*copy.deepcopy(args))
    else:
        agrees(jitted, function, args)


@pytest.mark.parametrize(
    "function, args",
    [case for case in CASES if case.values[0] in (places_of, runs_of, walked, sparse_product, has_zero_row)],
)
def test_interpreter_and_xla_agree(function, args):
    pytest.importorskip("jaxlib")
    from test_stablehlo import run_by_xla

    args = tuple(np.asarray(a) for a in args)
    graph = wf.trace(function, *args)
    wanted = function(*args)
    wanted = wanted if type(wanted) is tuple else (wanted,)
    for got in (graph.core.interpret(list(args)), run_by_xla(graph, list(args))):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)  # XLA contracts


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 9, 40])
def test_few_turns_and_none(count):
    def f(x, limit):
        i, total = 0, 0.0
        while i < len(x) and x[i] < limit:
            total += x[i]
            i += 1
        for j in range(len(x)):
            if x[j] == limit:
                return total, i, j
        return total, i, -1

    x = np.arange(float(count))
    for limit in (-1.0, 0.0, 2.0, 7.0, 100.0):
        agrees(wf.jit(f, strict=False), f, (x, np.float64(limit)))
        assert wf.jit(f)(x, np.float64(limit)) == f(x, limit)


def test_one_program_for_all_sizes():
    size = wf.Dim("n", 1, 1000)
    compiled = wf.compile(places_of, x=wf.spec((size,), "float64"), queries=wf.spec((5,), "float64"))
    for count in (1, 2, 17, 1000):
        x, queries = np.arange(float(count)), np.array([-1.0, 0.5, 3.0, 40.0, 2000.0])
        np.testing.assert_array_equal(compiled(x, queries), places_of(x, queries))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype):
    def f(x, v):
        i = 0
        while x[i] != v:
            i += 1
        last = x[i]
        for value in x:
            if value == v:
                break
            last = last + value
        return i, last

    x = (np.arange(60) % 50 * 2).astype(dtype)
    for strict in (True, False):
        agrees(wf.jit(f, strict=strict), f, (x, x[40]))


def test_nan_and_infinities():
    def f(x):
        i = 0
        while not x[i] > 2.0:
            i += 1
            if np.isinf(x[i]):
                break
        return i, x[i]

    for last in (np.inf, 3.0, -np.inf):
        x = np.full(30, np.nan)
        x[25] = last
        for strict in (True, False):
            agrees(wf.jit(f, strict=strict), f, (x,))


@pytest.mark.parametrize("strict", [True, False])
def test_a_place_outside_ends_a_loop_without_an_end(strict):
    def f(x):
        i = 0
        while x[i] != 0:
            i += 1
        return i

    fast = wf.jit(f, strict=strict)
    agrees(fast, f, (np.array([1.0] * 20 + [0.0]),))
    for _ in range(2):
        with pytest.raises(IndexError, match="20"):
            fast(np.ones(20))
    agrees(fast, f, (np.zeros(20),))


def test_integers_of_pythons_beyond_64_bits():
    def f(x, limit):
        n = 1
        while n * n < limit or x[0] > 0:
            n = n * 3
            if n > 10**12:
                break
        return x * 2, n

    agrees(wf.jit(f, strict=False), f, (np.ones(3), 50.0))
    with pytest.raises(ValueError, match="beyond int64"):
        wf.jit(f)(np.ones(3), 50.0)


def test_a_loop_in_a_way_that_is_not_taken_does_not_run():
    def f(x):
        count = 0
        for i in range(len(x)):
            if x[i] > 0:
                n = x[i]
                while n != 1:
                    n = n // 2 if n % 2 == 0 else 3 * n + 1
                    count += 1
        return count

    x = np.array([0, 7, -3, 0, 9, 1, 2, -1, 27, 0])
    for strict in (True, False):
        agrees(wf.jit(f, strict=strict), f, (x,))


def test_which_array_a_variable_has_shows():
    """``best`` is one of two arrays: a write to either is seen through it, and so is which one is returned."""

    def written(x):
        best, error = x, 10.0
        for i in range(20):
            y = x * 0.5 + i
            if y.sum() < error:
                error = y.sum()
                best = y
                break
            best = x
        x[0] = 100.0
        return best + 0.0

    def returned(x):
        best = x
        for i in range(20):
            if x[i] > 0.5:
                best = x * 2
                break
        return best

    for value in (0.1, 5.0):
        x = np.full(20, value)
        agrees(wf.jit(written, strict=False), written, (x,))
        fast = wf.jit(returned, strict=False)
        for _ in range(3):
            agrees(fast, returned, (x,))
            given = x.copy()
            assert (fast(given) is given) == (returned(given) is given)


def test_what_a_turn_does_outside_of_it_happens_as_often():
    class Log:
        turns = 0

    def f(x, log, rows):
        while x.max() > 1.0:
            x = x * 0.5
            log.turns += 1
            rows.append(x.sum())
        return x

    for value in (100.0, 3.0):
        logs, rows = [Log(), Log()], [[], []]
        x = np.array([value, 1.0])
        got, wanted = wf.jit(f, strict=False)(x, logs[0], rows[0]), f(x, logs[1], rows[1])
        same(got, wanted)
        assert logs[0].turns == logs[1].turns
        same(rows[0], rows[1])


def test_iterators_that_are_shared():
    def f(x):
        numbers, total = iter(range(30)), 0.0
        for i in numbers:
            if x[i] > 1.0:
                break
            total += x[i]
        for i in numbers:
            total += 100 * i
        return total

    x = np.linspace(0, 1.4, 30)
    agrees(wf.jit(f, strict=False), f, (x,))


def test_a_sort_of_many_is_no_longer_pythons():
    x = np.random.default_rng(3).random(3000)
    fast = wf.jit(insertion_sort, strict=False)
    agrees(fast, insertion_sort, (x[:200],))
    np.testing.assert_array_equal(fast(x.copy()), np.sort(x))


def test_the_parts_of_a_function_that_are_loops():
    def f(x):
        for i in range(9):
            if x[i]:
                break
            while x[i] > 2 and i:
                x[i] -= 1
        return x

    code = decoded(f.__code__)
    loops = natural_loops(code)
    outer, inner = sorted(loops, key=lambda header: -len(loops[header]))
    assert code.instructions[outer].name == "FOR_ITER" and loops[inner] < loops[outer]
    assert innermost(code, inner) == inner and innermost(code, outer) == outer and innermost(code, 0) is None
    guards = [at for at in range(len(code.instructions)) if guarded(code, at) is not None]
    assert {guarded(code, at) for at in guards} == {inner} and all(at in loops[outer] - loops[inner] for at in guards)
    assert len(exits(code, outer)) == 2


@pytest.mark.parametrize("seed", range(40))
def test_drawn(seed):
    check_drawn(seed, DrawnExits)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_drawn(block):
    for seed in range(1000 + 20 * block, 1020 + 20 * block):
        check_drawn(seed, DrawnExits)


def test_variables_that_only_turns_bind():
    def f(x):
        while x.max() > 1:
            y = x.sum()
            x = x * 0.5
        return y

    def g(x, counts):
        for i in range(len(x)):
            for j in range(counts[i]):
                k = j * 2.0
            x[i] = k
        return x, j

    def h(x, counts):
        total = 0
        for i in range(len(x)):
            total += counts[i] if x[i] > 0 else 1
            for j in range(counts[i] - 1):
                last = x[j]
        return total, last

    x = np.ones(12)
    for function, calls in (
        (f, [(x * 9,), (x * 0.1,)]),
        (g, [(x, np.arange(1, 13)), (x, np.arange(12)), (x, np.zeros(12, int))]),
        (h, [(x, np.arange(2, 14)), (x, np.arange(12)), (x, np.zeros(12, int))]),
    ):
        fast = wf.jit(function, strict=False)
        for args in calls * 2:
            try:
                function(*copy.deepcopy(args))
            except UnboundLocalError:
                with pytest.raises(UnboundLocalError):
                    fast(*copy.deepcopy(args))
            else:
                agrees(fast, function, args)
