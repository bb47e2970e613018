"""Arguments that nobody means, and extents below zero: an error or the plain answer, never a crash."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import weftwork as wf


def deep(levels, wrap):
    return functools.reduce(lambda inner, _: wrap(inner), range(levels), np.ones(2))


def holding_itself():
    values = [np.ones(3)]
    values += [values, values]
    table = {"x": np.ones(3)}
    table["again"] = [table, {"x": table}]
    return [values, table, (values, table)]


@pytest.mark.parametrize("which", range(3))
def test_containers_that_hold_themselves(which):
    first = lambda a: (a["x"] if isinstance(a, dict) else a[0]) if not isinstance(a, tuple) else a[1]["x"]
    given = holding_itself()[which]
    fast = wf.jit(lambda a: first(a) + 1, strict=False)
    for _ in range(3):
        assert fast(given).tolist() == [2, 2, 2]
        assert fast(a=given).tolist() == [2, 2, 2]
    for run in (wf.jit(lambda a: 1, strict=True), wf.simulate(lambda a: 1), lambda a: wf.trace(lambda a: 1, a)):
        with pytest.raises((wf.Error, RecursionError)):
            run(given)


@pytest.mark.parametrize("levels", [20, 40, 900, 100_000])
@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: (v, 1.5), lambda v: {"k": v}], ids=["list", "tuple", "dict"])
def test_containers_within_containers(levels, wrap):
    fast = wf.jit(lambda a, x: x * 2, strict=False)
    given = deep(levels, wrap)
    assert fast(given, np.ones(2)).tolist() == [2, 2]
    assert fast(given, np.ones(2)).tolist() == [2, 2]
    if levels > 32:
        with pytest.raises(wf.Error, match="nested more than 32 deep"):
            wf.jit(lambda a, x: x, strict=True)(given, np.ones(2))
    while not isinstance(given, np.ndarray):  # taken apart here, as its destructor would take it apart in one go
        given = given["k"] if isinstance(given, dict) else given[0]


SHAPES = [(-2, -3), (-1,), (3, -1), (0, -4), (-(2**31), -2), (-(2**62), 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_negative_extents(shape):
    key, x = wf.random.key(0), np.ones(3)
    makers = [
        lambda x: np.zeros(shape) + x,
        lambda x: np.ones(shape) + x,
        lambda x: np.empty(shape) + x,
        lambda x: np.full(shape, 2.0) + x,
        lambda x: np.full_like(x, 1.0, shape=shape),
        lambda x: np.broadcast_to(x, shape),
        lambda x: wf.random.normal(key, shape) + x,
        lambda x: wf.random.uniform(key, shape) + x,
        lambda x: wf.random.randint(key, shape, 0, 5) + x,
    ]
    for maker in makers:
        for run in (wf.jit(maker, strict=True), wf.jit(maker, strict=False), lambda x, maker=maker: wf.trace(maker, x)):
            with pytest.raises((ValueError, TypeError)):
                run(x)
    for call in (
        lambda: wf.random.normal(key, shape),
        lambda: wf.spec(shape, "f4"),
        lambda: wf.Buffer(shape, np.float32),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize("rows, columns", [(-3, None), (-2, 3), (3, -2), (-1, -1)])
def test_triangles_of_no_rows_are_empty_as_numpys(rows, columns):
    f = lambda x: np.tri(rows, columns) + x.sum()
    got, wanted = wf.jit(f, strict=False)(np.ones(3)), f(np.ones(3))
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
