"""Errors of values that a run finds: NumPy's classes, words and the user's line, from every way to run a program."""

import copy
import inspect
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weftwork as wf

X, M = np.arange(6.0), np.arange(12.0).reshape(3, 4)


def put(x: Any, i: Any) -> Any:
    y = x.copy()
    y[i] = 7
    return y


def looped(x: Any, i: Any) -> Any:
    total = 0.0
    for k in range(20):
        total = total + x[i[k]]
    return total


def squeezed(x: Any, i: Any) -> Any:
    return np.concatenate([x[i], x, x[i] * 2]), np.pad(x[i], 3), (x[i] > 2).sum()


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "index": (lambda x, i: x[i], X, np.array([3, 9])),
    "index from the end": (lambda x, i: x[i], X, np.array([3, -7])),
    "number": (lambda x, i: x[i] + 1, X, np.int64(6)),
    "narrow": (lambda x, i: x[i], X, np.array([3, 200], np.uint8)),
    "rows": (lambda x, i: x[i].sum(0), M, np.array([0, 3])),
    "columns": (lambda x, i: x[:, i] * 2, M, np.array([[0, 1], [2, 4]])),
    "both": (lambda x, i: x[i, i], M, np.array([0, 3])),
    "take": (lambda x, i: np.take(x, i, axis=1), M, np.array([0, -5])),
    "take along": (lambda x, i: np.take_along_axis(x, i, 1), M, np.array([[0], [1], [4]])),
    "put": (put, X, np.array([1, 6])),
    "add at": (lambda x, i: np.add.at(x * 1, i, 1) or x, X, np.array([1, 6])),
    "loop": (looped, X, np.arange(20) % 7),
    "masked parts": (squeezed, X, np.array([5, 6, 2])),
    "choose": (lambda i, x: np.choose(i, [x, x + 1, x * 2]), np.array([0, 1, 3]), X[:3]),
    "choose_one": (lambda i, x: np.choose(i, [x]), np.array([0, 0, 1]), X[:3]),
    "negative power": (lambda n, k: n**k, np.arange(1, 5), np.array([2, 1, 0, -1])),
    "singular": (lambda a: np.linalg.inv(a), np.ones((2, 3, 3))),
    "no solution": (lambda a, b: np.linalg.solve(a, b), np.ones((3, 3), np.float32), np.ones(3, np.float32)),
    "not positive definite": (lambda a: np.linalg.cholesky(a), -np.eye(3)),
    "percentile": (lambda x, q: np.percentile(x, q), X, np.array([10.0, 101.0])),
    "bins": (lambda x, e: np.digitize(x, e), X, np.array([0.0, 5.0, 3.0])),
}
UNREAD = {"add at"}  # NumPy raises for what no program computes


def arguments(name: str) -> list[Any]:
    return [copy.deepcopy(a) for a in PROGRAMS[name][1:]]


WAYS = {
    "default": lambda f, *a: wf.jit(f, strict=False)(*a),
    "jit": lambda f, *a: wf.jit(f, strict=True)(*a),
    "compile": lambda f, *a: wf.compile(f, *a)(*a),
    "avx2": lambda f, *a: wf.compile(f, *a, target="avx2")(*a),
    "later": lambda f, *a: wf.compile(f, *a).run_async(*a).wait(),
    "simulate": lambda f, *a: wf.simulate(f)(*a),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_numpy_raises(name: str, way: str) -> None:
    function = PROGRAMS[name][0]
    with pytest.raises((IndexError, ValueError)) as wanted:
        function(*arguments(name))
    if name in UNREAD and way != "default":
        return
    with pytest.raises(type(wanted.value)) as raised:
        WAYS[way](function, *arguments(name))
    if way != "default":
        assert isinstance(raised.value, wf.errors.Error) and "test_range_checks.py" in str(raised.value)
        assert str(wanted.value).split(":")[0].split(", got")[0] in str(raised.value)


def test_the_line_is_the_user_s() -> None:
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 6") as raised:
        wf.jit(put)(X, np.array([9]))
    lines, first = inspect.getsourcelines(put)
    assert f"test_range_checks.py:{first + 2}" in str(raised.value) and lines[2].strip() in str(raised.value)


def test_saved_programs_raise(tmp_path: Any) -> None:
    exe = wf.compile(lambda x, i: x[i] * 2, X, np.array([3, 4]))
    exe.save(tmp_path / "picked.weft")
    loaded = wf.load(tmp_path / "picked.weft")
    np.testing.assert_array_equal(loaded(X, np.array([1, -1])), [2, 10])
    with pytest.raises(IndexError, match="index -7 is out of bounds for axis 0 with size 6") as raised:
        loaded(X, np.array([1, -7]))
    assert "test_range_checks.py" in str(raised.value)


def test_extents_that_only_the_run_knows() -> None:
    f = wf.jit(lambda x, i: x[i], dynamic={"x": {0: "n"}}, strict=True)
    for n in (4, 9):
        x = np.arange(float(n))
        assert f(x, np.array([n - 1, -n])).tolist() == [n - 1, 0]
        with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis 0 with size {n}"):
            f(x, np.array([0, n]))


def test_checks_may_be_turned_off() -> None:
    with wf.knobs(checks=False):
        assert wf.compile(lambda x, i: x[i], X, np.array([3, 9]))(X, np.array([3, 9])).tolist() == [3, 5]


def test_programs_of_other_tools_move_indices_inside() -> None:
    graph = wf.trace(lambda x, i: x[i] * 2, X, np.array([3, 9]))
    text = graph.stablehlo()
    assert "check_range" not in text
    assert wf.compile(wf.stablehlo.parse(text))(X, np.array([3, 9])).tolist() == [6, 10]


def test_what_nothing_reads_is_numpy_s_matter() -> None:
    def unread(x: Any, i: Any) -> Any:
        x[i]
        return x + 1

    fast = wf.jit(unread, strict=False)
    assert fast(X, np.array([1])).tolist() == (X + 1).tolist()
    with pytest.raises(IndexError):
        fast(X, np.array([9]))


def test_bodies_of_loops_and_branches_stay_compiled() -> None:
    def loop(x: Any, i: Any) -> Any:
        return wf.while_loop(
            lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + x[i + s[0]]), (np.int64(0), np.float64(0))
        )[1]

    def branch(x: Any, i: Any) -> Any:
        return wf.cond(i < 100, lambda: x[i], lambda: x[0])

    for f, last in ((loop, 3), (branch, 5)):
        fast = wf.jit(f, strict=False)
        for i in (np.int64(1), np.int64(last)):
            assert fast(X, i) == f(X, i)
        assert fast.ways == {"compiled": 2, "pieces": 0, "plain": 0}
        with pytest.raises(IndexError):
            fast(X, np.int64(last + 1))
    assert fast(X, np.int64(200)) == 0 and fast.ways["plain"] == 1


def test_nothing_is_written_before_numpy_raises() -> None:
    def written(x: Any, i: Any) -> Any:
        y = x[i] * 2
        x += 1
        return y

    fast, x = wf.jit(written, strict=False), X.copy()
    fast(x, np.array([1]))
    with pytest.raises(IndexError):
        fast(x, np.array([9]))
    np.testing.assert_array_equal(x, X + 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 70), st.integers(0, 200), st.data())
def test_any_place_of_any_index_is_found(size: int, count: int, data: Any) -> None:
    places = np.array(data.draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count)), np.int64)
    x = np.arange(float(size))
    exe = wf.compile(lambda x, i: (np.sqrt(x[i]), x[i].sum()), x, places)
    np.testing.assert_array_equal(exe(x, places)[0], np.sqrt(x[places]))
    if count:
        places[data.draw(st.integers(0, count - 1))] = bad = data.draw(
            st.sampled_from([size, size + 3, -size - 1, 2**40, -(2**40)])
        )
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size {size}"):
            exe(x, places)


def test_the_index_that_is_furthest_out_is_told_by_any_threads() -> None:
    places = np.random.default_rng(0).integers(0, 1000, 500_000)
    places[[17, 250_000, 499_999]] = 1005, 1000, 1003
    x = np.arange(1000.0)
    exe = wf.compile(lambda x, i: np.sqrt(x[i]), x, places)
    for threads in (1, 2, 5):
        with wf.knobs(threads=threads), pytest.raises(IndexError, match="index 1005 is"):
            exe(x, places)


def test_runs_at_once_tell_their_own_errors() -> None:
    exe = wf.compile(lambda x, i: x[i], X, np.array([0]))
    wrong: list[Any] = []

    def run(bad: bool) -> None:
        for _ in range(300):
            try:
                exe(X, np.array([6 if bad else 1]))
                wrong.extend([bad] if bad else [])
            except IndexError:
                wrong.extend([] if bad else [bad])

    threads = [threading.Thread(target=run, args=(bad,)) for bad in (True, False, True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


CUT: list[Any] = [
    lambda x, k: x[k][:1], lambda x, k: x[k][:0], lambda x, k: x[k][0], lambda x, k: x[k][:, :0], lambda x, k: np.take(x, k, 0)[:1], lambda x, k: x[k][:1].sum(),
    lambda x, k: (x[k] * 2)[:1], lambda x, k: x[k].reshape(4)[:2], lambda x, k: x[k].T[:, :1], lambda x, k: np.concatenate([x[k], x])[:1], lambda x, k: x[k][:, 0],
    lambda x, k: np.split(x[k], 2)[0], lambda x, k: next(iter(x[k])), lambda x, k: np.take_along_axis(x, k[:, None], 0)[:1], lambda x, k: x[np.arange(3)[k][:1]],
    lambda x, k: x[k][:1] @ x.T, lambda x, k: x[k][::-1][1:], lambda x, k: np.stack([x[k], x[k]])[:, 0], lambda x, k: float(x[k][0, 0]) + x[0], lambda x, k: x[:, :0][k].sum(),
]  # fmt: skip


@pytest.mark.parametrize("function", CUT)
@pytest.mark.parametrize("places", [[0, 5], [0, -4], [2, 1]])
def test_indices_of_what_is_left_out_count(function: Any, places: list[int]) -> None:
    arguments = np.arange(6.0).reshape(3, 2), np.array(places)
    jitted = wf.jit(function, strict=False)
    for _ in range(2):
        if places == [2, 1]:
            np.testing.assert_array_equal(jitted(*arguments), function(*arguments))
        else:
            with pytest.raises(IndexError):
                jitted(*arguments)


N = 6
INSIDE: dict[str, Any] = {
    "windows": lambda x, i: np.lib.stride_tricks.sliding_window_view(x, 3)[::2],
    "sums of counters": lambda x, i: x[np.arange(4)[:, None] + np.arange(3)][::2],
    "from the end": lambda x, i: x[np.arange(3) - 3],
    "wrapped around": lambda x, i: x[(i + 1) % N],
    "clipped": lambda x, i: x[np.clip(i, 0, N - 1)],
    "bounded by two": lambda x, i: x[np.minimum(np.maximum(i, -N), N - 1)],
    "products": lambda x, i: x[np.arange(3) * 2 + (i[:3] & 1)],
    "quotients": lambda x, i: x[np.arange(2 * N) // 2],
    "order": lambda x, i: x[np.argsort(i)],
    "greatest": lambda x, i: x[np.argmax(i)],
    "chosen": lambda x, i: x[np.where(i > 2, 5, -6)],
    "turned": lambda x, i: x[-np.abs(np.arange(-3, 3)) - 1],
    "of a table": lambda x, i: x[np.array([5, 0, -6])[np.arange(3)]],
    "narrow": lambda x, i: x[np.arange(N).astype(np.int8)],
}
NOT_KNOWN: dict[str, Any] = {
    "given": lambda x, i: x[i],
    "one more": lambda x, i: x[np.arange(N) + i % 2],
    "bounded above": lambda x, i: x[np.minimum(i, N - 1)],
    "of another sign": lambda x, i: x[i % -7],
    "by a divisor that is not known": lambda x, i: x[i % (i | 8)],
    "wrapped in eight bits": lambda x, i: x[(np.arange(N) * 60).astype(np.int8)],
    "wrapped in sixty-four": lambda x, i: x[np.arange(N) + (2**63 - 3) - (2**63 - 3)],
}


@pytest.mark.parametrize("name", INSIDE | NOT_KNOWN)
def test_indices_that_are_surely_inside_are_not_looked_at(name: str) -> None:
    function = (INSIDE | NOT_KNOWN)[name]
    given = np.arange(float(N)), np.array([3, 1, 4, 1, 5, 2])
    assert ("check_range" in str(wf.trace(function, *given))) == (name in NOT_KNOWN)
    for places in ([3, 1, 4, 1, 5, 2], [0, 5, -6, 7, 1000, -(2**62)]):
        arguments = given[0], np.array(places)
        try:
            wanted = function(*arguments)
        except IndexError:
            with pytest.raises(IndexError):
                wf.jit(function, strict=False)(*arguments)
        else:
            np.testing.assert_array_equal(wf.jit(function, strict=False)(*arguments), wanted)


def test_windows_of_an_extent_that_only_the_run_knows_are_not_looked_at() -> None:
    def windows(x: Any) -> Any:
        return np.lib.stride_tricks.sliding_window_view(x, 3)[::2].sum(1)

    program = wf.compile(windows, x=wf.spec((wf.Dim("n", 3, 8, 100),), "float64"))
    assert "check_range" not in str(wf.trace(windows, wf.spec((wf.Dim("n", 3, 8, 100),), "float64")))
    for n in (3, 8, 100):
        np.testing.assert_array_equal(program(np.arange(float(n))), windows(np.arange(float(n))))
