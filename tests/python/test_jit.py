"""Signatures, statics, nesting, threads and targets."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import weftwork as wf
from weftwork.errors import InternalError

X = np.random.default_rng(0).normal(size=(64, 48)).astype(np.float32)


def test_one_program_for_each_signature() -> None:
    f = wf.jit(lambda x: x * 2)
    for x in (X, X + 1, X[:5].copy(), X.astype(np.float64), X):
        np.testing.assert_array_equal(f(x), x * 2)
    assert f.plan_count == 3


def test_static_arguments_are_part_of_the_program() -> None:
    @wf.jit(static_argnames="mode")
    def f(x: Any, n: int, mode: str = "up") -> Any:
        return x * n if mode == "up" else x / n

    np.testing.assert_array_equal(f(X, 3), X * 3)
    np.testing.assert_array_equal(f(X, 3, mode="down"), X / np.float32(3))
    np.testing.assert_array_equal(f(X, 4), X * 4)
    assert f.plan_count == 3


def test_python_floats_are_inputs() -> None:
    f = wf.jit(lambda x, s: x * s)
    for s in (0.5, 1.5, 2.5):
        np.testing.assert_array_equal(f(X, s), X * s)
    assert f.plan_count == 1


def test_nested_arguments_and_results() -> None:
    @wf.jit
    def f(p: Any) -> Any:
        return {"sum": p["a"] + p["b"][0], "pair": (p["a"], p["b"][1] * 2)}

    out = f({"a": X, "b": [X, X + 1]})
    np.testing.assert_array_equal(out["sum"], X + X)
    assert out["pair"][0] is X
    np.testing.assert_array_equal(out["pair"][1], (X + 1) * 2)


def test_methods_can_be_jitted() -> None:
    class Scale:
        factor = 3

        @wf.jit
        def __call__(self, x: Any) -> Any:
            return x * self.factor

    np.testing.assert_array_equal(Scale()(X), X * 3)


def test_donated_memory_is_taken_over() -> None:
    f = wf.jit(lambda x: x + 1, donate_argnames="x")
    x = X.copy()
    assert f(x) is x
    np.testing.assert_array_equal(x, X + 1)


def model(x: Any, w: Any) -> Any:
    h = np.tanh(x @ w)
    e = np.exp(h - h.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return p, np.sum(p, axis=0), np.mean(h), np.var(h, axis=1), h.T[::-1], np.sum(x.astype(np.float16)), np.sum(x)


@pytest.mark.parametrize("shape", [(3, 5), (129, 257), (700, 33)])
def test_results_do_not_depend_on_the_number_of_threads(shape: tuple) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=shape).astype(np.float32), rng.normal(size=(shape[1], 65)).astype(np.float32)
    f = wf.jit(model)
    runs = []
    try:
        for threads in (1, 2, 8):
            wf.set_num_threads(threads)
            runs += [f(x, w) for _ in range(3)]
    finally:
        wf.set_num_threads(0)
    for run in runs[1:]:
        for a, b in zip(runs[0], run, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("target", ["x86-64", "avx2", "avx512"])
def test_targets_agree(target: str, tmp_path: Any) -> None:
    program = (
        "import sys, numpy as np, weftwork as wf\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from test_jit import model\n"
        "rng = np.random.default_rng(1)\n"
        "x, w = rng.normal(size=(37, 45)).astype(np.float32), rng.normal(size=(45, 19)).astype(np.float32)\n"
        "try:\n    got = wf.jit(model)(x, w)\n"
        "except wf.Error as error:\n    print('skip', error); sys.exit(0)\n"
        "for a, b in zip(got, model(x, w)):\n    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)\n"
        "print('agree')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "WEFT_TARGET": target},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stdout.startswith("skip"):
        pytest.skip(done.stdout)
    assert done.stdout.strip() == "agree", done.stderr


def test_an_executable_tells_about_itself() -> None:
    exe = wf.compile(lambda x, w: np.tanh(x @ w), X, X.T.copy())
    assert [io.name for io in exe.inputs] == ["x", "w"]
    assert exe.outputs[0].shape == (64, 64)
    assert any("tanh" in k.ops and "dot_general" in k.ops for k in exe.kernels)
    assert exe.benchmark(warmup=1, iters=3)["min"] > 0


def test_softmax_and_layer_norm_are_one_kernel_each() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def layer_norm(x: Any) -> Any:
        c = x - x.mean(axis=-1, keepdims=True)
        return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5)

    assert len(wf.compile(softmax, X).kernels) == 1
    assert len(wf.compile(layer_norm, X).kernels) == 1


def test_maps_over_the_same_elements_share_a_kernel() -> None:
    def step(x: Any, y: Any) -> Any:
        rise = np.sin(y) + 1
        sum_of_both = x + rise
        x[:] = rise * 2  # over what sum_of_both reads
        return sum_of_both, np.cos(sum_of_both)

    x, y = np.linspace(0, 3, 30_000), np.linspace(1, 5, 30_000)
    wanted = (x + np.sin(y) + 1, np.cos(x + np.sin(y) + 1))
    assert len(wf.compile(step, x, y).kernels) == 1
    got = wf.jit(step)(x, y)
    np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(x, (np.sin(y) + 1) * 2, rtol=1e-14, atol=1e-14)


def test_expressions_of_much_shared_work_are_written_once() -> None:
    def deep(x: Any, y: Any) -> Any:
        row = y.mean(axis=-1, keepdims=True)
        for _ in [None] * 60:
            x, row = x * 0.5 + x * x, row * 0.5 + row * row
        return x * row

    x = np.linspace(0.1, 0.4, 4000).reshape(40, 100)
    np.testing.assert_allclose(wf.jit(deep)(x, x), deep(x, x), rtol=1e-10)
    assert len(wf.compile(deep, x, x).kernels) == 1


def test_memory_of_large_results_is_taken_again() -> None:
    f = wf.jit(lambda x: (x + 1, {"twice": x * 2}))
    x = np.ones(1 << 18)
    gc.disable()
    try:
        places = set()
        for _ in range(20):
            sums, twice = f(x)[0], f(x)[1]["twice"]
            assert sums[-1] == twice[-1] == 2
            places |= {sums.ctypes.data, twice.ctypes.data}
            del sums, twice
        assert len(places) <= 4
    finally:
        gc.enable()
    kept = f(x)[0]
    other = f(np.zeros(1 << 18))[0]
    assert kept[0] == 2 and other[0] == 1
    other.resize(1 << 20, refcheck=False)
    assert other[0] == 1 and other[-1] == 0


def test_forked_children_can_run() -> None:
    f = wf.jit(lambda x: np.exp(x) @ x.T)
    wanted = f(X)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(f(X), wanted) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_every_snippet_is_bitwise_the_same_with_1_2_and_8_threads() -> None:
    from test_numpy import SNIPPETS

    def leaves(value: Any) -> list[bytes]:
        if isinstance(value, (tuple, list)):
            return [leaf for item in value for leaf in leaves(item)]
        return [np.asarray(value).tobytes()]

    functions = [(wf.jit(function), args) for function, args in SNIPPETS]
    runs = []
    try:
        for threads in (1, 2, 8):
            wf.set_num_threads(threads)
            runs.append([leaves(function(*args)) for function, args in functions])
    finally:
        wf.set_num_threads(0)
    assert runs[0] == runs[1] == runs[2]


def test_many_threads_may_call_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    f = wf.jit(model)
    rng = np.random.default_rng(2)
    inputs = [
        (rng.normal(size=(50, 40)).astype(np.float32), rng.normal(size=(40, 30)).astype(np.float32)) for _ in range(8)
    ]
    wanted = [f(*pair) for pair in inputs]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            for got, want in zip(pool.map(lambda pair: f(*pair), inputs), wanted, strict=True):
                assert all(a.tobytes() == b.tobytes() for a, b in zip(got, want, strict=True))


def test_functions_that_nobody_has_any_more_are_let_go() -> None:
    jitted = wf.jit(lambda x: x + 1)
    jitted(np.ones(3))
    kept = weakref.ref(jitted)
    del jitted
    gc.collect()
    assert kept() is None


def test_what_holds_a_function_and_is_its_static_argument_is_let_go() -> None:
    class Model:
        def __init__(self) -> None:
            self.run = wf.jit(lambda model, x: x + 1, static_argnames="model")

    model = Model()
    model.run(model, np.ones(3))
    kept = weakref.ref(model)
    del model
    gc.collect()
    assert kept() is None


def test_class_methods_and_static_methods_stay_what_they_are() -> None:
    class Scaled:
        by = 2.0
        of_class = wf.jit(classmethod(lambda cls, x: x * cls.by))
        of_none = wf.jit(staticmethod(lambda x: x + 1))

        @wf.jit
        @classmethod
        def named(cls, x: Any) -> Any:
            return x - cls.by

    class Tripled(Scaled):
        by = 3.0

    x = np.ones(2)
    for kind in (Scaled, Tripled):
        for given in (kind, kind()):
            assert given.of_class(x).tolist() == [kind.by] * 2
            assert given.of_none(x).tolist() == [2.0, 2.0]
            assert given.named(x).tolist() == [1 - kind.by] * 2


def test_attributes_of_the_function_are_those_of_the_jitted_one() -> None:
    calls = []

    @wf.jit(strict=False)
    @functools.lru_cache
    def table(n: int, scale: float = 2.0) -> Any:
        calls.append(n)
        return np.arange(n) * scale

    assert table(3) is table(3) and calls == [3]
    assert table.cache_info().hits == 1
    assert not hasattr(table, "missing") and not hasattr(table, "__array__")

    def added(x: Any, by: float = 1.0, *, twice: bool = False) -> Any:
        return (x + by) * (2 if twice else 1)

    jitted = wf.jit(added)
    assert jitted.__defaults__ == (1.0,) and jitted.__kwdefaults__ == {"twice": False}
    assert jitted.__code__ is added.__code__


def test_what_fails_to_compile_runs_plainly(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise InternalError("internal error at here.cpp:1: no such axis")

    monkeypatch.setattr(sys.modules["weftwork.jit"], "native_executable", broken)
    double = lambda x: x * 2
    with wf.knobs(verify=False):
        jitted = wf.jit(double, strict=False)
        for _ in range(2):
            np.testing.assert_array_equal(jitted(X), X * 2)
        assert jitted.ways == {"compiled": 0, "pieces": 0, "plain": 2}
        assert "no such axis" in caplog.text and "no such axis" in next(iter(jitted.refusals))[0]
        with pytest.raises(InternalError, match="no such axis"):
            wf.jit(double, strict=True)(X)
    with pytest.raises(InternalError, match="no such axis"):  # tests see it
        wf.jit(double, strict=False)(X)
