"""Calls in pieces: what Python asks for between two programs, and that nothing is done twice."""

from __future__ import annotations

import bisect
import copy
import heapq
import math
import random
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

pytestmark = pytest.mark.usefixtures("at_once")

X = np.arange(6.0)


def state() -> Any:
    return np.random.get_state(legacy=False), random.getstate()


def outcome(function: Callable[..., Any], args: tuple, seed: int) -> str:
    """What a call gives and leaves, random state included, as text."""
    np.random.seed(seed)
    random.seed(seed)
    try:
        result = function(*args)
    except Exception as error:
        result = (type(error).__name__, str(error))
    left = [a.bit_generator.state if isinstance(a, np.random.Generator) else a for a in args]
    return repr((type(result).__name__, result, left, state()))


def agree(function: Callable[..., Any], *calls: tuple, way: str | None = "pieces") -> Any:
    """Calls beside plain Python; all of them in pieces, if nothing else is said."""
    fast = wf.jit(function, strict=False)
    for seed, args in enumerate(calls):
        given, wanted = copy.deepcopy(args), copy.deepcopy(args)
        assert outcome(fast, given, seed) == outcome(function, wanted, seed)
    if way is not None:
        assert {name for name, count in fast.ways.items() if count} == {way}, fast.refusals
    return fast


# -- values that Python asks for -----------------------------------------------------------------------------------------


def test_conditions_are_a_tree_of_programs():
    def f(x):
        if sorted(x)[-1] > 4:
            return x * 2
        if sorted(x)[0] < -4:
            return -x[1:]
        return x - 1

    fast = agree(f, (X,), (X,), (-X,), (-X,), (X / 8,), (X,), (X + 1,))
    assert fast.refusals == {}


def test_numbers_that_python_computes_with():
    def f(x):
        length = math.sqrt(x[0] ** 2 + x[1] ** 2)
        return np.array([length, x[2] / length]), float(x[3]), int(x[4]), round(float(x[5]), 2), 1.0 / float(x[1])

    agree(f, (X,), (X + 1.25,), (X + 2,))


def test_division_by_a_zero_that_only_the_run_knows_raises():
    agree(lambda x: 1.0 / float(x.sum()), (X,), (X,), (X - X.mean(),), (X,), way=None)


def test_shapes_that_values_decide():
    def f(x):
        u, where = np.unique(x, return_index=True)
        y = x[x > 1]
        return u * 2, where, np.nonzero(x)[0], y.tolist(), len(y), y[::-1], np.where(x > 2), [v for v in y]

    agree(f, (X,), (X,), (X // 2,), (X * 0,))


def test_selected_elements_are_one_array_in_all_places():
    def f(x):
        y = x[x > 1]
        z = y
        y *= 2
        told = y.tolist()
        y += 1
        w = x[x < 3]
        w[0] = 100
        v = w[1:]
        v += 1
        w.sort()
        return z, told, y, w, x[x > 2].sum()

    agree(f, (X,), (X,), (-X + 5,))


def test_integers_as_shapes_and_indices():
    def f(x):
        n = int(x[1])
        return x[:n], x[int(x.argmax())], [i for i in range(n)], np.zeros(n)

    agree(f, (X,), (X,), (X + 1,), (X[::-1].copy(),))


def test_a_loop_until_it_converges():
    def f(x):
        y, log = x.copy(), {}
        while True:
            log["last"] = y[0]
            z = y - (y * y - x) / (2 * y)
            if np.abs(z - y).max() < 1e-12:
                return z
            y = z

    fast = agree(f, (X + 1,), (X + 1,))
    assert np.allclose(fast(X + 2), np.sqrt(X + 2), rtol=1e-14)


def test_a_membership_and_a_sort_of_elements():
    agree(lambda x: (3.0 in x, 7.0 in x * 2, sorted([x[2] + 1, x[1]]), x.sum() * 2), (X,), (X,), (X + 5,))


def test_arrays_are_written_once_and_in_the_end():
    seen = {}

    def f(x):
        x[0] += 1
        if x.max() > 5:
            x *= 2
            seen["large"] = True
        return x

    fast = wf.jit(f, strict=False)
    for _ in range(2):
        given, wanted = X.copy(), X.copy()
        result = fast(given)
        assert result is given
        np.testing.assert_array_equal(given, f(wanted))
    agree(f, (X,), (-X,), (X,))


def test_an_array_that_is_written_between_pieces_is_one_object():
    seen = {}

    def f(x):
        y = x * 2
        if y.sum() > 0:
            y[0] = 5
            seen.update(positive=True)
        if y.max() > 3:
            y[1] = 7
            seen.update(large=True)
        z = y[2:]
        z += 1
        return y, z

    fast = agree(f, (X,), (X,), (-X,))
    y, z = fast(X)
    assert np.shares_memory(y, z)


def test_a_model_whose_steps_decide():
    class Model:
        def __init__(self):
            self.steps, self.weights = 0, np.ones(6)

        def step(self, x):
            self.weights = self.weights - 0.1 * x
            self.steps += 1
            if self.weights.min() < 0:
                self.weights = np.abs(self.weights)
            return self.weights.sum()

    ours, wanted = Model(), Model()
    step = wf.jit(Model.step, strict=False)
    for _ in range(11):
        np.testing.assert_allclose(step(ours, X), wanted.step(X), rtol=1e-14)
        assert ours.steps == wanted.steps
        np.testing.assert_array_equal(ours.weights, wanted.weights)
    assert step.ways["plain"] <= 3


def test_layouts_that_pieces_find_out():
    def f(x):
        if sorted(x[0])[0] > 100:
            return x
        return x.ravel(order="A")[1], x.flags.c_contiguous, x.T.flags["C"], x.strides

    wide = np.arange(12.0).reshape(3, 4)
    agree(f, (wide,), (np.asfortranarray(wide),), (wide,), (wide[:, ::2],))


def test_arrays_outside_that_share_memory():
    whole = np.arange(6.0)
    part = whole[1:]

    def f(x):
        nonlocal whole
        whole *= 0.5
        total = float(np.sum(part))
        return total, 1 if x[0] > x[1] else 2

    fast = wf.jit(f, strict=False)
    for _ in range(2):
        kept = whole.copy()
        wanted = f(X)
        whole[:] = kept
        assert fast(X) == wanted


def test_arguments_that_share_memory_in_dictionaries():
    def f(m, count, holder):
        count["n"] += 1
        holder["w"] = m[0]
        holder["w"][0] = np.abs(m).sum()

    matrix, count, holder = np.ones((2, 3)), {"n": 0}, {"w": np.zeros(3)}
    fast = wf.jit(f, strict=False)
    for calls in (1, 2, 3):
        fast(matrix, count, holder)
        assert count == {"n": calls} and holder["w"][0] == matrix[0, 0] and np.shares_memory(holder["w"], matrix)
    assert sum(fast.ways.values()) == 3


def test_results_of_other_kinds():
    local = threading.local()
    local.scale = 2.0

    def f(x):
        i = x.argmax()
        local.last = i
        return slice(i, None, None), x * local.scale, x.dtype

    agree(f, (X,), (X[::-1].copy(),), way="compiled")
    assert local.last == 0


# -- random numbers ------------------------------------------------------------------------------------------------------


def test_draws_happen_once():
    def of_an_argument(x, rng):
        return x + rng.normal(size=x.shape), rng.integers(5)

    agree(of_an_argument, *((X, np.random.default_rng(seed)) for seed in (0, 1, 2)))

    def of_the_module(x):
        y = np.random.rand(*x.shape)
        z = np.random.permutation(x)
        if y.sum() > 3:
            return y, z
        return x + np.random.normal()

    agree(of_the_module, *((X + i,) for i in range(8)))

    def of_python(x):
        return x * random.random() + random.uniform(1, 2) + random.gauss(0, 1)

    agree(of_python, (X,), (X,), (X + 1,))


def test_generators_in_containers():
    def f(x, tools, rng=None):
        rng = tools["rng"] if rng is None else rng
        return x * rng.normal(), tools["more"][0].random()

    def tools(seed):
        return {"rng": np.random.default_rng(seed), "more": [np.random.RandomState(seed)]}

    fast = wf.jit(f, strict=False)
    for seed in range(4):
        ours, wanted = tools(seed), tools(seed)
        assert repr(fast(X, ours)) == repr(f(X, wanted))
        assert ours["rng"].bit_generator.state == wanted["rng"].bit_generator.state
    assert fast.ways["pieces"] == 4


def test_a_generator_of_its_own_and_seeds():
    def f(x):
        rng = np.random.default_rng(3)
        centers = x[rng.choice(len(x), 3, replace=False)]
        np.random.seed(5)
        return centers.sum() + np.random.randn(), rng

    fast = wf.jit(f, strict=False)
    for _ in range(3):
        (ours, rng), (wanted, other) = fast(X), f(X)
        assert ours == wanted and rng.bit_generator.state == other.bit_generator.state
    assert fast.ways["pieces"] == 3


def test_shuffling_in_place():
    def f(x):
        np.random.shuffle(x)
        return x * 2

    agree(f, (X,), (X,), (X,))


def test_what_is_given_up_has_drawn_nothing():
    def f(x, loud):
        y = x + np.random.normal()
        if y.sum() > 0 and loud:
            print(y, end="")
        return y

    agree(f, (X, False), (X, True), (-X, True), (X, False), (X, True), way=None)


# -- calls by Python ---------------------------------------------------------------------------------------------------


def test_functions_that_change_their_arguments():
    def f(x):
        out = np.zeros(6)
        np.place(out, x > 2, x[x > 1])
        out.sort()
        np.partition(x, 2)
        return out

    agree(f, (X,), (X,), (X * 2,))


def test_warnings_that_are_put_aside_and_the_standard_library():
    def f(x):
        heap = [3, 1, 2]
        heapq.heapify(heap)
        heapq.heappush(heap, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return x * heapq.heappop(heap), bisect.bisect_left([1, 2, 3], 2)

    agree(f, (X,), (X,), way="compiled")


def test_what_a_call_was_given_is_what_it_was_then():
    def f(x):
        weights, order = np.array([3.0, 1.0, 2.0]), [2, 0, 1]
        first = np.unique(weights * (x.sum() > 0)), np.intersect1d(x, order)
        weights[0] = 7
        order.append(5)
        x[x > 4] = 0
        return first, np.unique(weights + x[0]), np.intersect1d(x, order)

    agree(f, (X,), (X,), (X + 1,))


# -- errors that values decide ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda x: np.linalg.inv(x), np.eye(3) + np.ones((3, 3)), np.zeros((3, 3))),
        (lambda x: np.linalg.solve(x, x[0]), np.eye(3) + np.ones((3, 3)), np.ones((3, 3))),
        (lambda x: np.linalg.cholesky(x), np.eye(3) * 2, -np.eye(3)),
        (lambda x: np.linalg.eigvalsh(x), np.diag([1.0, 2.0, 3.0]), np.full((3, 3), np.nan)),
        (lambda i: np.arange(5.0)[i], np.array([0, -5, 4]), np.array([0, 5])),
        (lambda i: np.take(np.arange(5.0), i), np.array([0, -5, 4]), np.array([-6, 0])),
        (lambda i: np.choose(i, [np.zeros(2), np.ones(2)]), np.array([0, 1]), np.array([0, 2])),
        (lambda i: np.int64(2) ** i, np.array([0, 3]), np.array([1, -1])),
    ],
    ids=["inv", "solve", "cholesky", "eigvalsh", "index", "take", "choose", "power"],
)
def test_numpys_errors_about_values_are_raised(function, good, bad):
    fast = wf.jit(function, strict=False)
    for _ in range(2):
        np.testing.assert_allclose(fast(good), function(good), rtol=1e-12)
    assert fast.ways == {"compiled": 2, "pieces": 0, "plain": 0}
    with pytest.raises(Exception) as wanted:
        function(bad)
    with pytest.raises(wanted.type) as found:
        fast(bad)
    assert str(found.value) == str(wanted.value)


def test_a_handler_sees_the_error_and_nothing_is_written_before():
    def f(x, a):
        x += 1
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return None

    agree(f, (X, np.eye(3)), (X, np.zeros((3, 3))), (X, np.eye(3)), way=None)


def test_what_sorting_leaves_open_is_numpys():
    ties = np.random.default_rng(0).integers(0, 5, 200)
    for function in (np.argsort, lambda x: np.partition(x, 50), lambda x: np.argpartition(x, 50)):
        fast = wf.jit(lambda x, function=function: function(x), strict=False)
        for _ in range(2):
            np.testing.assert_array_equal(fast(ties), function(ties))


def test_vectors_that_are_anyones_choice_are_numpys():
    for matrix in (np.ones((4, 4)), np.eye(4), np.diag([1.0, 1.0, 2.0])):
        for function in (np.linalg.eigh, np.linalg.svd, np.linalg.qr):
            fast = wf.jit(lambda a, function=function: tuple(function(a)), strict=False)
            for ours, wanted in zip(fast(matrix), function(matrix), strict=True):
                np.testing.assert_allclose(ours, wanted, atol=1e-12)


def test_errors_that_errstate_asks_for():
    fast = wf.jit(lambda x: 1 / x, strict=False)
    fast(X + 1)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        fast(X)
    assert np.isinf(fast(X)[0])


def test_warnings_that_are_errors_are_raised():
    inverse, real = (wf.jit(f, strict=False) for f in (lambda x: 1 / x, lambda x: x.astype(float)))
    for kind in (RuntimeWarning, Warning, np.exceptions.ComplexWarning):
        assert np.isinf(inverse(np.zeros(2))).all() and inverse.ways["compiled"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            real(np.ones(2, complex))
            warnings.simplefilter("error", kind)
            with pytest.raises(np.exceptions.ComplexWarning):
                real(np.ones(2, complex))
            if kind is not np.exceptions.ComplexWarning:
                with pytest.raises(RuntimeWarning, match="divide by zero"):
                    inverse(np.zeros(2))


def test_calls_with_files_have_their_class(tmp_path):
    def use(x):
        x.flush()
        x += 1
        return x[1:], x.copy(), x * 2, x.mode, isinstance(x, np.memmap), np.asarray(x), x.sum()

    jitted = wf.jit(use, strict=False)
    for _ in range(3):
        got, wanted = (f(np.memmap(tmp_path / "x", np.float32, "w+", shape=(4,))) for f in (jitted, use))
        assert [type(v) for v in got] == [type(v) for v in wanted]
        assert all(np.array_equal(a, b) for a, b in zip(got, wanted, strict=True))
    rows = np.memmap(tmp_path / "x", np.float32, "r", shape=(4,))
    assert wf.jit(lambda x: x + 1, strict=True)(rows).tolist() == (rows + 1).tolist()


# -- what gains nothing ------------------------------------------------------------------------------------------------


def test_what_gains_nothing_is_given_back_and_larger_arrays_are_compiled(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "1")
    fast = wf.jit(lambda x: x.shape[0] + x.ndim, strict=False)
    results = [fast(X) for _ in range(30)]
    assert results == [7] * 30 and fast.given_back == 1
    assert fast.ways["plain"] >= 18

    # Of two programs the one for large arrays stays, whatever became of the other.
    norm = wf.jit(lambda x: np.tanh(x * x + 1).sum(), strict=False)
    large = np.linspace(0, 1, 300_000)
    for _ in range(30):
        norm(X)
        norm(large)
    first = norm.ways["compiled"]
    norm(large)
    assert norm.ways["compiled"] == first + 1
    assert len({float(norm(large)) for _ in range(5)}) == 1


def test_what_was_given_back_is_tried_again_where_calls_take_much_longer(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "1")

    def first_above(x, limit):
        for i in range(len(x)):
            if x[i] > limit:
                return i
        return None

    fast, x = wf.jit(first_above, strict=False), np.linspace(0, 1, 3000)
    for _ in range(40):
        assert fast(x, -1.0) == 0
    known = fast.ways["compiled"]
    for _ in range(100):
        assert fast(x, 2.0) is None
    assert fast.ways["compiled"] > known + 40, fast.ways
    assert fast(x, 0.5) == first_above(x, 0.5)


def test_results_of_what_is_measured_aside_stay_the_programs(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "1")
    fast = wf.jit(lambda x, w: np.tanh(np.exp(x * w) + x).sum(), strict=False)
    large = np.linspace(0, 1, 100_000)
    results = {float(fast(large, 0.5)) for _ in range(12)}
    assert len(results) == 1 and fast.ways == {"compiled": 12, "pieces": 0, "plain": 0}


def test_buffers_stay_buffers_when_calls_run_plainly(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "1")
    fast = wf.jit(lambda x: x.reshape(2, 3), strict=False)
    for _ in range(30):
        fast(X)
    assert fast.given_back == 1
    assert type(fast(wf.Buffer(X))) is wf.Buffer
    first = wf.jit(lambda xs: xs["all"][0].reshape(2, 3), strict=False)
    for _ in range(30):
        first({"all": [X]})
    assert first.given_back == 1
    assert type(first({"all": [wf.Buffer(X)]})) is wf.Buffer


def test_what_a_call_takes_to_look_at_its_arguments_counts(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "1")
    weights = {f"w{i}": X + i for i in range(400)}
    fast = wf.jit(lambda weights, x: x * weights["w7"], strict=False)
    for _ in range(30):
        assert np.array_equal(fast(weights, X), X * weights["w7"])
    assert fast.given_back == 1 and fast.ways["plain"] >= 18


# -- sessions ------------------------------------------------------------------------------------------------------------


def test_threads_share_a_tree():
    def f(x, rng):
        y = x + rng.normal(size=x.shape)
        return y * 2 if y.sum() > 0 else y - 1

    fast, failed = wf.jit(f, strict=False), []

    def work(seed: int) -> None:
        try:
            for i in range(40):
                ours, wanted = np.random.default_rng(seed + i), np.random.default_rng(seed + i)
                x = np.linspace(-1, 1, 50) * (seed + 1)
                assert np.array_equal(fast(x, ours), f(x, wanted))
                assert ours.bit_generator.state == wanted.bit_generator.state
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_call_that_asks_too_often_runs_plainly():
    def f(x):
        total = 0.0
        for i in range(100):
            total += float((x * i).sum() > 3)
        return total

    agree(f, (X,), (X,), way=None)


def test_strict_functions_and_programs_are_never_in_pieces():
    first_of = lambda x: x[: int(x.sum())]
    for make in (
        lambda: wf.jit(first_of, strict=True)(X),
        lambda: wf.compile(first_of, X),
        lambda: wf.trace(first_of, X),
    ):
        with pytest.raises(wf.Error, match="an index or extent needs the value"):
            make()


# -- promises ------------------------------------------------------------------------------------------------------------

SCALE = 2


def test_pure_functions_do_not_look_at_what_is_outside(monkeypatch):
    fast = wf.jit(lambda x, rate: x * SCALE if rate > 0 else x - SCALE, strict=False, pure=True)
    assert (fast(X, 1.0) == X * 2).all() and (fast(X, -1.0) == X - 2).all()
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert (fast(X, 1.0) == X * 2).all() and (fast(X, -1.0) == X - 2).all()
    assert fast.ways == {"compiled": 4, "pieces": 0, "plain": 0}


class Quantity:
    """A wrapper that answers for the array in it, as those of pint do, and has another meaning."""

    def __init__(self, magnitude, factor):
        self.magnitude, self.factor = magnitude, factor

    def __getattr__(self, name):
        return getattr(self.magnitude, name)


def test_an_object_that_answers_for_an_array_is_not_taken_for_one():
    f = wf.jit(lambda q: (type(q).__name__, q.magnitude * q.factor), strict=False)
    for factor in (2.0, 3.0, 3.0):
        name, values = f(Quantity(np.arange(3.0), factor))
        assert name == "Quantity" and values.tolist() == [0.0, factor, 2 * factor]


def test_vectors_that_are_searched_and_not_in_order_are_numpys_own_matter():
    x, edges, values = np.linspace(0, 1, 9), np.array([0.0, 0.7, 0.2, 0.9]), np.arange(4.0)
    for f in (
        lambda x, e, v: np.interp(x, e, v),
        lambda x, e, v: np.searchsorted(e, x),
        lambda x, e, v: np.digitize(x, e),
    ):
        fast = wf.jit(f, strict=False)
        for given in (edges, np.sort(edges)):
            try:
                wanted = f(x, given, values)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error)):
                    fast(x, given, values)
                continue
            np.testing.assert_array_equal(fast(x, given, values), wanted)
        assert fast.ways["plain"] >= 1 and fast.ways["compiled"] >= 1


def test_whether_indices_are_valid_is_asked_without_the_rest_of_the_program() -> None:
    def written(cache: Any, index: Any, weight: Any, x: Any) -> Any:
        y = x @ weight
        cache[index] = y
        return (y @ weight).sum()

    def by_product(cache: Any, index: Any, weight: Any, x: Any) -> Any:
        """The indices are what takes time."""
        y = x @ weight
        cache[y[:, 0].astype(int) - 60] = y
        return y.sum()

    args = np.zeros((8, 64)), np.array([1, 5, 2]), np.ones((64, 64)), np.ones((3, 64))
    for function, inputs in ((written, 1), (by_product, 3)):
        jitted = wf.jit(function, strict=False)
        for _ in range(3):
            want, found = np.zeros((8, 64)), np.zeros((8, 64))
            assert jitted(found, *args[1:]) == function(want, *args[1:])
            np.testing.assert_array_equal(found, want)
        assert jitted.ways == {"compiled": 0, "pieces": 3, "plain": 0}
        assert len(jitted.executables[0].inputs) == inputs
        with pytest.raises(IndexError):
            jitted(found[:0], *args[1:])


def test_methods_of_ufuncs_that_no_program_holds_run_between_two() -> None:
    def groups(keys: Any, values: Any) -> Any:
        order = np.argsort(keys, kind="stable")
        begins = np.searchsorted(keys[order], np.arange(5))
        values = values * 2
        np.negative.at(values, [1, 1, 3])
        return np.maximum.reduceat(values[order], begins), np.add.reduceat(values[order], begins)

    jitted = wf.jit(groups, strict=False)
    keys, values = np.array([0, 1, 4, 2, 3, 4, 4, 1]), np.arange(8.0)
    for _ in range(2):
        for mine, other in zip(jitted(keys, values), groups(keys, values), strict=True):
            np.testing.assert_array_equal(mine, other)
    assert jitted.ways == {"compiled": 0, "pieces": 2, "plain": 0}


SETTINGS = {"x": -0.75, "k": 2, "z": 1.0}


@pytest.mark.parametrize(
    ("expression", "name", "bad"),
    [
        ("math.acos(SETTINGS['x'])", "x", 3.0), ("math.exp(SETTINGS['x'])", "x", 1e5), ("1 / SETTINGS['z']", "z", 0.0), ("1.0 % SETTINGS['z']", "z", 0.0),
        ("divmod(1.0, SETTINGS['z'])", "z", 0.0), ("int(SETTINGS['x'])", "x", math.nan), ("round(SETTINGS['x'])", "x", math.inf),
        ("1 << SETTINGS['k']", "k", -1), ("SETTINGS['k'] // SETTINGS['k']", "k", 0), ("[1, 2, 3][SETTINGS['k']]", "k", 7),
    ],
)  # fmt: skip
def test_numbers_that_nothing_needs_are_computed_since_that_may_raise(expression: str, name: str, bad: Any) -> None:
    function = eval(f"lambda x: ({expression}, x * 2)[1]")
    jitted = wf.jit(function, strict=False)
    kept = SETTINGS[name]
    try:
        for _ in range(2):
            np.testing.assert_array_equal(jitted(X), X * 2)
        SETTINGS[name] = bad
        with pytest.raises(Exception) as wanted:
            function(X)
        with pytest.raises(type(wanted.value)) as found:
            jitted(X)
        assert str(found.value) == str(wanted.value)
    finally:
        SETTINGS[name] = kept


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: np.cumsum(x, 0, None, out),
        lambda x, out: np.add(x, 1, out),
        lambda x, out: np.compress([True] * 3, x, 0, out),
        lambda x, out: np.dot(np.eye(3), x, out),
        lambda x, out: np.fix(x, out),
    ],
    ids=["cumsum", "add", "compress", "dot", "fix"],
)
@pytest.mark.parametrize("locked", [True, False])
def test_outputs_by_position_are_written_or_raise(call, locked):
    """NumPy is never called, between pieces, with an array that it would write."""

    def function(x, given):
        out = x.imag if locked else given[:, 0]
        try:
            call(x, out)
        except ValueError:
            return out + 0, -1
        return out + 0, len(np.unique(given))

    x = np.array([0.5, 2.0, 1.0])
    jitted = wf.jit(function, strict=False)
    for _ in range(3):
        ours, theirs = np.zeros((3, 2)), np.zeros((3, 2))
        got, expected = jitted(x, ours), function(x, theirs)
        np.testing.assert_array_equal(got[0], expected[0])
        assert got[1] == expected[1]
        np.testing.assert_array_equal(ours, theirs)


def test_long_pieces_run_plainly():
    """A loop that is written out before a value is asked for is not compiled for longer than NumPy takes."""

    def function(x):
        for step in [np.sin, np.cos] * 3000:
            x = step(x)
        return x if x.sum() > 0 else -x

    x = np.linspace(0, 1, 5)
    jitted = wf.jit(function, strict=False)
    np.testing.assert_array_equal(jitted(x), function(x))
    assert jitted.ways["plain"] == 1
    assert "operations together" in next(iter(jitted.refusals))[0]


def test_a_call_that_takes_long_to_record_in_vain_is_soon_recorded_no_more():
    class Drawing:
        def __init__(self):
            self.generator = np.random.default_rng(0)

        def drawn(self, x):
            for _ in range(1000):
                x = np.sin(np.cos(x + self.generator.normal())) * x + 1
            return np.unique(x) + x.sum()

    def function(drawing, x):
        return drawing.drawn(x) + 1

    jitted = wf.jit(function, strict=False)
    for _ in range(4):
        np.testing.assert_array_equal(jitted(Drawing(), np.ones(2)), function(Drawing(), np.ones(2)))
    assert jitted.is_plain
