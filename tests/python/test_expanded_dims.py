"""Reshapes that join dimensions, concatenations and what is computed from them: the loops that they give, and the values."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(0)


def grid(x: Any, y: Any) -> list[Any]:
    return [each.ravel() for each in np.meshgrid(x, y)]


def points(x: Any, y: Any) -> Any:
    return np.stack(grid(x, y), 1)


PROGRAMS = [
    lambda x, y: np.tile(x, 5) * 2,
    lambda x, y: np.tile(np.outer(x, y), (2, 3)),
    lambda x, y: np.outer(x, y).ravel() + 1,
    lambda x, y: (x[:, None] - y).T.ravel(),
    lambda x, y: np.repeat(x, len(y)) * np.tile(y, len(x)),
    lambda x, y: np.kron(np.outer(x[:5], y[:40]), np.outer(y[:30], x[:8])),
    lambda x, y: points(x, y),
    lambda x, y: np.transpose(grid(x, y)),
    lambda x, y: np.concatenate(grid(x, y)) ** 2,
    lambda x, y: np.linalg.norm(points(x, y) - np.array([0.1, 0.2]), axis=1),
    lambda x, y: np.hypot(*grid(x, y)).reshape(len(y), len(x)),
    lambda x, y: (x[:, None, None] * y[:, None] * np.arange(3.0)).reshape(-1, 3).sum(1),
    lambda x, y: (x[:, None, None] * y[:, None] * np.arange(3.0)).reshape(-1, 3).max(0),
    lambda x, y: (x[:, None] * y).ravel().std(),
    lambda x, y: (x[:, None] * y).ravel() @ np.arange(float(len(x) * len(y))),
    lambda x, y: (np.arange(len(x))[:, None] * 7 % 5 + np.zeros(len(y), int)).reshape(-1, len(y)).ravel(),
    lambda x, y: np.where((x[:, None] > y).ravel(), 1.0, (x[:, None] + y).ravel()),
    lambda x, y: (x[:, None, None] + y[None, :, None] + np.ones((1, 1, 4))).transpose(2, 0, 1).reshape(4, -1)[:, ::3],
    lambda x, y: np.exp(np.stack([x, -x], 1).ravel()) + 1,
    lambda x, y: np.stack([x, x * 2, x + 1], 1).reshape(3, -1) - x.mean(),
    lambda x, y: np.clip(np.stack([x, -x], 1), [-0.5, 0], [0, 0.5]).ravel(),
    lambda x, y: (np.stack([x + 1j, x * 1j], 1) * (1 + 0j)).sum(1),
    lambda x, y: np.stack([x > 0, x < 1], 1).sum(1),
    lambda x, y: np.prod(np.stack([x, -x, x + 2], -1) + 1, axis=-1),
    lambda x, y: (lambda s: (s.ravel() * 2, s.sum(1), s[::-1]))(np.stack([x, -x], 1)),
    # One part of a vector reads where there is nothing.
    lambda x, y: (lambda c: c + c.mean())(np.concatenate([x, x * 2])),
    lambda x, y: (lambda c: c[::-1] - c.max())(np.concatenate([x[::-1], x * 2])),
    lambda x, y: np.roll(np.concatenate([x, y]), 3) * 2,
    lambda x, y: np.diff(np.pad(np.outer(x, y), 2).ravel()),
    lambda x, y: (np.outer(x, y) * 2).reshape(-1, 2 * len(y))[::-1],
    lambda x, y: np.minimum(np.pad(np.outer(x, y), 2, mode="wrap"), 0.3) - 1,
    lambda x, y: np.pad(np.outer(x, y), ((0, 1), (2, 0)), constant_values=3).ravel() + 1,
    lambda x, y: np.sqrt(np.abs(np.concatenate([x, x * 2, y]))) * np.concatenate([y, x, x]),
    lambda x, y: np.concatenate([np.outer(x, y), np.outer(y, x).T], 1) * np.concatenate([y, -y]) + x[:, None],
    lambda x, y: np.roll(np.stack([x, -x], 1).ravel(), 3) + 1,
    lambda x, y: (lambda r: np.where(r > 0, r, r * 0.1))(np.roll(x[:1], -3)),
    lambda x, y: np.concatenate([x[:0], y[:1]]).reshape(()) + 1 - np.concatenate([x[:0], y[:1]])[0],
    lambda x, y: np.stack([np.outer(x, y), np.outer(x, y) + 1], 2).ravel()[5:-5].cumsum(),
    lambda x, y: np.take(np.outer(x, y), np.arange(len(x))[::-1] * 7 % len(x), 0).ravel() * 2,
    lambda x, y: (np.take(np.outer(x, y)[:, :, None] * np.ones(3), np.arange(len(y))[::-1], 1) + 1).reshape(3, -1),
    lambda x, y: [np.outer(x, y)[rows].ravel() * 2 for rows in np.s_[1:, ::2, ::-1]],
    lambda x, y: [np.outer(x, y)[:, columns].ravel() + 1 for columns in np.s_[1:, ::2, ::-1]],
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(8, 5), (6, 300), (310, 7), (64, 129)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_numpys(program: Any, sizes: tuple[int, int], dtype: Any) -> None:
    x, y = (random.normal(size=size).astype(dtype) for size in sizes)
    given, wanted = wf.jit(program)(x, y), program(x, y)
    for a, b in zip(*((given, wanted) if isinstance(wanted, (tuple, list)) else ((given,), (wanted,))), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(
            a, b, rtol=2e-5 if dtype == np.float32 else 1e-11, atol=1e-5 if dtype == np.float32 else 1e-11
        )


@pytest.mark.parametrize("target", ["avx2", "x86-64"])
def test_narrower_vectors_give_them_too(target: str, request: pytest.FixtureRequest) -> None:
    chosen = ("-k", "values_are_numpys and float64 and (sizes1 or sizes3)", "-p", "no:cacheprovider", "-q", "-x")
    chosen += ("--share", str(request.config.getoption("share")))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", __file__, *chosen],
        env={**os.environ, "WEFT_TARGET": target},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("program", [PROGRAMS[0], PROGRAMS[2], PROGRAMS[4], PROGRAMS[11], PROGRAMS[13]])
def test_no_index_is_divided(program: Any) -> None:
    x, y = random.normal(size=300), random.normal(size=400)
    kernels = wf.trace(program, x, y).core.kernels_text()
    assert "vector for" in kernels and "mod(.i" not in kernels and "floordiv(.i" not in kernels


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [0, 1, 3, 9, (1, 4), (0, 7)])
@pytest.mark.parametrize("shape", [(5,), (1,), (2, 3), (4, 1, 3)])
def test_paddings_that_repeat_elements(shape: tuple[int, ...], width: Any, mode: str) -> None:
    x = random.normal(size=shape)
    np.testing.assert_array_equal(wf.jit(lambda x: np.pad(x, width, mode=mode))(x), np.pad(x, width, mode=mode))  # type: ignore[call-overload]


def test_large_results_are_turned_as_numpys_are() -> None:
    x = random.normal(size=(70, 80))
    for function in (
        lambda x: (x * 2).T,
        lambda x: [(x + 1).T, (x * 3).T.copy()],
        lambda x: (x + 1).reshape(7, 10, 80).transpose(2, 0, 1),
    ):
        given, wanted = wf.jit(function)(x), function(x)
        for a, b in zip(*((given, wanted) if isinstance(wanted, list) else ([given], [wanted])), strict=True):
            assert a.strides == b.strides and a.flags.writeable
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_to_powers_and_their_divisors(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.concatenate(
        [random.integers(info.min, info.max, 999, dtype, endpoint=True), [0, 1, info.min, info.max]]
    ).astype(dtype)
    y = np.roll(x, 7)
    for function in (
        np.gcd,
        np.lcm,
        lambda a, b: a ** (b & 15),
        lambda a, b: a**5 + a**0,
        lambda a, b: a ** np.array(3, dtype),
    ):
        np.testing.assert_array_equal(wf.jit(function)(x, y), function(x, y))
    np.testing.assert_array_equal(wf.jit(np.gcd)(x, x * 0), np.gcd(x, x * 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_next_number(dtype: Any) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    odd = np.array(
        [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, tiny, -tiny, np.finfo(dtype).max, np.finfo(dtype).tiny], dtype
    )
    x, y = (each.ravel() for each in np.meshgrid(np.concatenate([odd, random.normal(size=40).astype(dtype)]), odd))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(wf.jit(np.nextafter)(x, y), np.nextafter(x, y))
        np.testing.assert_array_equal(wf.jit(np.spacing)(x), np.spacing(x))
        assert (np.signbit(wf.jit(np.nextafter)(x, y)) == np.signbit(np.nextafter(x, y)))[~np.isnan(x + y)].all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i8", "?"])
@pytest.mark.parametrize("shape", [(50,), (64, 300), (3, 7, 500), (2, 70000)])
def test_places_of_a_few_in_order(shape: tuple[int, ...], dtype: str) -> None:
    x = (random.normal(size=shape) * 20).astype(dtype)
    if dtype[0] == "f":
        x.flat[::7], x.flat[::11], x.flat[::13] = np.nan, -0.0, 0.0
    n = shape[-1]
    for low, high in [(0, 5), (n - 3, n), (n // 2, n // 2 + 1), (n // 3, n // 2)]:
        few = lambda x, low=low, high=high: np.argsort(x, axis=-1, kind="stable")[..., low:high]
        np.testing.assert_array_equal(wf.jit(few)(x), few(x))
