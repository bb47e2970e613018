"""Reductions of the same elements that share what they add up: one kernel, over any axes, of any number of them."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(0)

#: Reductions of what two arrays have in common, along an axis.
REDUCTIONS: dict[str, Any] = {
    "sum": lambda x, y, axis, kept: (x * y).sum(axis, keepdims=kept),
    "squares": lambda x, y, axis, kept: (x * y * (x * y)).sum(axis, keepdims=kept),
    "max": lambda x, y, axis, kept: (x * y).max(axis, keepdims=kept),
    "min": lambda x, y, axis, kept: (x * y - x).min(axis, keepdims=kept),
    "mean": lambda x, y, axis, kept: (x * y).mean(axis, keepdims=kept),
    "count": lambda x, y, axis, kept: (x * y > 1).sum(axis, keepdims=kept),
    "any": lambda x, y, axis, kept: (x * y > 3).any(axis, keepdims=kept),
    "where": lambda x, y, axis, kept: np.where(x > 0, x * y, x).sum(axis, keepdims=kept),
    "spread": lambda x, y, axis, kept: (x * y).max(axis, keepdims=kept) - (x * y).min(axis, keepdims=kept),
    "deviation": lambda x, y, axis, kept: (x * y - (x * y).mean(axis, keepdims=True)).max(axis, keepdims=kept),
}


def gravity(axis: int) -> Any:
    def away(a: Any) -> Any:
        return a[None, :] - a[:, None] if axis == 1 else a[:, None] - a[None, :]

    def forces(x: Any, y: Any, z: Any, mass: Any) -> Any:
        dx, dy, dz = away(x), away(y), away(z)
        squared = dx * dx + dy * dy + dz * dz + 1e-3
        weight = (mass[None, :] if axis == 1 else mass[:, None]) / (squared * np.sqrt(squared))
        return np.stack([np.sum(dx * weight, axis), np.sum(dy * weight, axis), np.sum(dz * weight, axis)], 1)

    return forces


def kernels_with(exe: Any, op: str) -> int:
    return sum(op in kernel.ops for kernel in exe.kernels)


def check(function: Any, *arrays: Any, tolerance: float) -> None:
    with np.errstate(all="ignore"):
        want = function(*arrays)
    found = wf.jit(function, strict=True)(*arrays)
    for f, w in zip(found, want, strict=True):
        assert f.dtype == w.dtype and f.shape == w.shape
        np.testing.assert_allclose(np.asarray(f, np.float64), np.asarray(w, np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("bodies", [1, 7, 130, 701])
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-11), (np.float32, 2e-4)])
def test_three_sums_of_all_pairs_store_none(axis: int, bodies: int, dtype: Any, tolerance: float) -> None:
    arrays = [random.uniform(0.5, 2, bodies).astype(dtype) for _ in range(4)]
    forces = gravity(axis)
    want, found = forces(*arrays), wf.jit(forces)(*arrays)
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance * np.abs(want).max())
    exe = wf.compile(forces, *arrays)
    assert kernels_with(exe, "divide") == 1 or bodies == 1
    assert exe.memory["arena"] <= 64 * bodies + 1024


@pytest.mark.parametrize("seed", range(24))
def test_drawn(seed: int) -> None:
    draw = np.random.default_rng(seed)
    shape = tuple(int(n) for n in draw.choice([1, 3, 17, 64, 130, 257], draw.integers(1, 4)))
    axes = [None, -1, 0, *itertools.combinations(range(len(shape)), min(2, len(shape)))]
    axis = axes[draw.integers(len(axes))]
    names = draw.choice(list(REDUCTIONS), draw.integers(2, 7)).tolist()
    kept = bool(draw.integers(2))
    dtype, tolerance = [(np.float32, 2e-3), (np.float64, 1e-10), (np.int32, 0), (np.float16, 5e-2)][draw.integers(4)]
    # Few float16 may stand in one sum: NumPy rounds each.
    scale = 3 if dtype == np.int32 else 1
    x, y = ((draw.standard_normal(shape) * scale).astype(dtype) for _ in range(2))
    if dtype == np.float16:
        names = [name for name in names if name in ("max", "min", "count", "any", "spread")] or ["max", "min"]

    def several(x: Any, y: Any) -> Any:
        return tuple(REDUCTIONS[name](x, y, axis, kept) for name in names)

    check(several, x, y, tolerance=max(tolerance, 1e-12))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("columns", [1, 31, 640, 9001])
def test_extremes_of_short_floats_beside_sums(dtype: Any, columns: int) -> None:
    x = random.standard_normal((70, columns)).astype(dtype)
    x[3, columns // 2], x[4, 0], x[5, columns - 1] = np.nan, np.inf, -np.inf

    def several(x: Any) -> Any:
        return x.max(1), x.astype(np.float32).sum(1), x.min(1), (x > 0).sum(1)

    check(several, x, tolerance=1e-4)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("sums", [2, 8, 9, 20])
def test_any_number_of_sums(axis: int | None, sums: int) -> None:
    x = random.standard_normal((300, 1030))

    def several(x: Any) -> Any:
        return tuple((x * x + x * k).sum(axis) if k % 2 else (x * x * (k + 1)).max(axis) for k in range(sums))

    check(several, x, tolerance=1e-10)
    # One pass for each eight, and for all rows of a number what adds up its pieces.
    passes = [
        kernel
        for kernel in wf.compile(several, x).kernels
        if kernel.ops.count("reduce") > 1 or "multiply" in kernel.ops
    ]
    assert len(passes) <= -(-sums // 8) + (sums if axis is None else 0)


@pytest.mark.parametrize("shape", [(5000, 1030), (3000, 700)])
@pytest.mark.parametrize("axis", [0, 1])
def test_of_more_than_the_caches_hold(shape: tuple, axis: int) -> None:
    x = random.standard_normal(shape).astype(np.float32)
    x[1, 2] = np.nan

    def several(x: Any) -> Any:
        return x.sum(axis), x.max(axis), (x * x).sum(axis, dtype=np.float64), x.min(axis), (x > 0).sum(axis)

    check(several, x, tolerance=2e-3)


def test_few_long_rows_of_which_some_begin_elsewhere() -> None:
    x = random.standard_normal((3, 70000))

    def several(x: Any) -> Any:
        return x.sum(1), x.sum(1, initial=5.0), x.max(1), x.max(1, initial=9.0), x.prod(1, where=x > 2)

    check(several, x, tolerance=1e-9)


def test_sums_that_need_each_other_stay_in_order() -> None:
    """What a sum reads of others that stand in kernels of their own does not make kernels wait for each other."""
    x = random.standard_normal((200, 210))

    def several(x: Any) -> Any:
        columns = x.sum(0)
        rows = (x - columns[None]).sum(1)
        top = (x * rows[:, None]).max(0)
        return columns, rows, top, (x * x).sum(0), (x - top[None]).sum(1), (x - x.max()).min(), x.min()

    check(several, x, tolerance=1e-8)


def test_the_same_bits_on_any_number_of_threads() -> None:
    x = random.standard_normal((130, 3001)).astype(np.float32)
    found = []
    for threads in (1, 2, 5):
        wf.set_num_threads(threads)
        results = [
            wf.jit(lambda x, axis=axis: (x.sum(axis), (x * x).sum(axis), x.max(axis)))(x) for axis in (0, 1, None)
        ]
        found.append([np.asarray(part).tobytes() for result in results for part in result])
    wf.set_num_threads(0)
    assert found[0] == found[1] == found[2]
