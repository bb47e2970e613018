"""Order statistics and searches along symbolic extents: one program for lines of all lengths, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(5)

STATISTICS: dict[str, Any] = {
    "medians of columns": lambda x: np.median(x, 0),
    "median of all": lambda x: np.median(x),
    "deviations from the median": lambda x: np.median(np.abs(x - np.median(x, 1, keepdims=True)), 1),
    "medians without NaN": lambda x: np.nanmedian(x, 0),
    "quantile": lambda x: np.quantile(x, 0.3, axis=0),
    "quantiles": lambda x: np.quantile(x, [0.1, 0.5, 1], axis=1),
    "between percentiles": lambda x: np.subtract(*np.percentile(x, [75, 25], axis=0)),
    "an element": lambda x: np.quantile(x, 0.37, axis=0, method="nearest"),
    "by Hazen": lambda x: np.quantile(x, 0.2, axis=0, method="hazen"),
    "quantile without NaN": lambda x: np.nanquantile(x, 0.4, axis=1),
}


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", STATISTICS)
def test_order_statistics(name: str, dtype: Any) -> None:
    function = STATISTICS[name]
    f = wf.jit(function, dynamic={"x": {0: "n", 1: "m"}})
    for shape in [(3, 5), (4, 4), (1, 1), (2, 9), (100, 31), (7, 1)]:
        for first in (1, np.nan):
            x = (9 * RNG.standard_normal(shape)).astype(dtype)
            if x.dtype.kind == "f":
                x[0, 0] = first
            wanted = function(x)
            np.testing.assert_allclose(f(x), wanted, rtol=1e-5 if dtype == np.float32 else 1e-12)
            assert f(x).dtype == wanted.dtype
    assert len(f.executables) == 1


SEARCHES: dict[str, Any] = {
    "from the left": lambda t, x: np.searchsorted(t, x),
    "from the right": lambda t, x: np.searchsorted(t, x, side="right"),
    "bins": lambda t, x: np.digitize(x, t),
    "bins that descend": lambda t, x: np.digitize(x, t[::-1]),
    "between points": lambda t, x: np.interp(x, t, np.sin(t)),
    "with ends": lambda t, x: np.interp(x, t, t * 2, left=-1, right=9),
    "round a circle": lambda t, x: np.interp(x, t, np.sin(t), period=3.0),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("dynamic", [None, {"t": {0: "n"}}, {"t": {0: "n"}, "x": {0: "m"}}], ids=str)
def test_searches(name: str, dynamic: Any) -> None:
    function = SEARCHES[name]
    f = wf.jit(function, dynamic=dynamic)
    for count in (1, 2, 5, 16, 17, 100, 3001):
        t = np.sort(RNG.standard_normal(count))
        x = np.array([t[0], t[-1], t[0] - 1, t[-1] + 1, t.mean(), 0.5])
        x = x if name == "round a circle" else np.append(x, np.nan)
        np.testing.assert_allclose(f(t, x), function(t, x), rtol=1e-9)
    assert not dynamic or len(f.executables) == 1


@pytest.mark.parametrize(
    "function", [lambda x: np.median(x), lambda x: np.quantile(x, 0.5), lambda x: np.searchsorted(x, 1.0)]
)
def test_lines_that_may_be_empty_are_refused(function: Any) -> None:
    with pytest.raises(wf.errors.UnsupportedError, match=r"of what may be empty along a symbolic extent \(n\)"):
        wf.jit(function, dynamic={"x": {0: wf.Dim("n", 0, 4, 64)}})(np.ones(3))


SHAPES: dict[str, Any] = {
    "edges": lambda x: np.pad(x, ((1, 2), (0, 1)), mode="edge"),
    "reflected": lambda x: np.pad(x, 2, mode="reflect"),
    "symmetric": lambda x: np.pad(x, ((2, 1), (0, 3)), mode="symmetric"),
    "round": lambda x: np.pad(x, ((3, 1), (2, 2)), mode="wrap"),
    "even steps": lambda x: np.linspace(0, 1, x.shape[0])[:, None] * x,
    "even steps between rows": lambda x: np.linspace(x[0], x[-1], x.shape[0], axis=1),
    "even steps without the end": lambda x: np.linspace(0, 5, x.shape[1], endpoint=False) * x,
    "even whole numbers": lambda x: np.linspace(0, 9, x.shape[0], dtype=int),
    "the step": lambda x: np.linspace(0, 9, x.shape[0], retstep=True)[1] * x,
    "lengths": lambda x: x * len(x) + len(x[0]),
    "rolled": lambda x: np.roll(x, 1, axis=0) - np.roll(x, -2, axis=1),
    "gradients": lambda x: np.gradient(x, axis=0) + np.gradient(x, 2.0, axis=1),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_follow_a_line(name: str, dtype: Any) -> None:
    function = SHAPES[name]
    f = wf.jit(function, dynamic={"x": {0: wf.Dim("n", 4, 8, 1 << 20), 1: wf.Dim("m", 4, 8, 1 << 20)}})
    for shape in [(4, 4), (9, 5), (30, 7)]:
        x = RNG.standard_normal(shape).astype(dtype)
        wanted = function(x)
        np.testing.assert_array_equal(f(x), wanted)
        assert f(x).dtype == wanted.dtype
    assert len(f.executables) == 1


@pytest.mark.parametrize("endpoint", [False, True])
def test_even_steps_of_few_numbers(endpoint: bool) -> None:
    function = lambda x: np.linspace(x[0], 3, x.shape[0], endpoint=endpoint, retstep=True)
    f = wf.jit(function, dynamic={"x": {0: wf.Dim("n", 1, 8, 64)}})
    for count in (1, 2, 3):
        for first in (0.5, 3.0):
            for got, wanted in zip(f(np.full(count, first)), function(np.full(count, first)), strict=True):
                np.testing.assert_array_equal(got, wanted)


def test_padding_of_lines_that_may_be_too_short_is_refused() -> None:
    with pytest.raises(wf.errors.UnsupportedError, match=r"pad by \[2, 2\] of a line that may be as short as 1"):
        wf.jit(lambda x: np.pad(x, 2, mode="reflect"), dynamic={"x": {0: "n"}})(np.ones(9))
