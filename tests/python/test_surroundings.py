"""What a jitted function reads from its surroundings is read anew at each call, unless nobody can write to it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weftwork as wf


def test_arrays_of_one_element():
    rate = np.array(0.5)
    step = wf.jit(lambda w, g: w - rate * g)
    w, g = np.ones(2), np.ones(2)
    np.testing.assert_array_equal(step(w, g), [0.5, 0.5])
    rate[...] = 0.25
    np.testing.assert_array_equal(step(w, g), [0.75, 0.75])


def test_arrays_with_nan_in_another_order():
    weights = np.full((3, 2), np.nan).T
    add = wf.jit(lambda x: x + weights)
    assert np.isnan(add(np.zeros((2, 3)))).all()
    weights[:] = 1
    np.testing.assert_array_equal(add(np.zeros((2, 3))), np.ones((2, 3)))


def test_what_another_jitted_function_reads():
    weights = np.arange(8.0)
    head = wf.jit(lambda n: weights[:n])
    add = wf.jit(lambda x: x + head(4))
    add(np.zeros(4))
    weights[0] = 100
    np.testing.assert_array_equal(add(np.zeros(4)), [100, 1, 2, 3])

    empty = wf.jit(lambda n: np.zeros(n))

    def placed(x):
        row = empty(3)
        row[0] = x
        return row

    np.testing.assert_array_equal(wf.jit(placed)(np.float64(2)), [2, 0, 0])


def test_read_only_buffers_over_memory_that_others_write():
    x = np.ones((8, 8))
    frozen = x.view()
    frozen.flags.writeable = False
    buffer = wf.Buffer(frozen)
    product = wf.jit(lambda a: a @ buffer)
    assert product(np.ones((8, 8)))[0, 0] == 8
    x[:] = 2
    assert product(np.ones((8, 8)))[0, 0] == 16


def test_tensors_that_share_elements_in_another_order():
    torch = pytest.importorskip("torch")

    def clear(a, b):
        a[...] = 0
        return b.sum()

    t = torch.ones(2, 3)
    assert wf.jit(clear)(t, t.T) == 0


def test_shared_steps_of_paired_rows_are_walked_once():
    """Each step reads the one before three times: 3**30 paths."""

    @wf.jit
    def steps(x):
        y = x - x.max(axis=1, keepdims=True)
        for _ in range(30):
            y = y - y * y * np.float32(0.01)
        return y

    x = np.random.default_rng(0).random((1024, 4096), dtype=np.float32)
    np.testing.assert_allclose(steps(x)[:2], steps.__wrapped__(x[:2]), rtol=1e-5, atol=1e-6)


HIDDEN = -np.inf
NARROW = np.float32("-inf")


@pytest.mark.parametrize(
    "hide",
    [
        lambda x: np.float32(-np.inf),
        lambda x: HIDDEN,
        lambda x: NARROW,
        lambda x: -math.inf,
        lambda x: x.dtype.type("-inf"),
    ],
)
def test_what_an_infinity_hides_is_not_computed(hide, tmp_path):
    def causal(q, k):
        below = np.arange(600)[:, None] >= np.arange(600)
        scores = np.where(below, q @ k.T, hide(q))
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (e / e.sum(axis=1, keepdims=True)) @ k

    q, k = np.random.default_rng(0).normal(size=(2, 600, 16)).astype(np.float32)
    with wf.knobs(dump=str(tmp_path), cache="off"):
        np.testing.assert_allclose(wf.jit(causal)(q, k), causal(q, k), rtol=1e-4, atol=1e-5)
    text = "".join(path.read_text() for path in tmp_path.rglob("20-kernels.txt"))
    assert "n min(600, 96*block0 + 96) k" in text


def test_infinities_and_numbers_of_modules_are_constants(monkeypatch):
    state = {"best": math.inf}

    @wf.jit
    def lower(x):
        state["best"] = np.minimum(x, state["best"]).min()
        return np.pi * x

    for value in (3.0, 5.0, 2.0):
        np.testing.assert_array_equal(lower(np.full(4, value)), np.pi * np.full(4, value))
    assert state["best"] == 2.0
    state["best"] = -math.inf
    lower(np.ones(4))
    assert state["best"] == -math.inf
    # Nobody does this, but the answer is NumPy's.
    monkeypatch.setattr(np, "pi", 3.0)
    np.testing.assert_array_equal(lower(np.ones(4)), np.full(4, 3.0))
