"""Running totals: jit and simulate give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from agreement import agrees, close

import weftwork as wf

RNG = np.random.default_rng(6)
F = RNG.normal(size=(4, 6)).astype(np.float32)
D = RNG.normal(size=(5, 7))
V = RNG.normal(size=300).astype(np.float32)
I = RNG.integers(-9, 10, (4, 6))
U = RNG.integers(0, 200, (4, 6)).astype(np.uint8)
S = RNG.integers(-100, 100, (4, 6)).astype(np.int8)
H = RNG.normal(size=(4, 6)).astype(np.float16)
B = RNG.integers(0, 2, (4, 6)).astype(bool)
C = (RNG.normal(size=(4, 6)) + 1j * RNG.normal(size=(4, 6))).astype(np.complex64)
T3 = RNG.normal(size=(2, 3, 4)).astype(np.float32)
E0 = np.zeros((0, 3))
N = np.where(RNG.integers(0, 3, (4, 6)) == 0, np.nan, RNG.normal(size=(4, 6)))
ZEROS = np.array([-0.0, -0.0, 0.0, -0.0])

Snippet = tuple[Callable[..., Any], tuple]

SCANS: list[Snippet] = [
    *[(lambda x, k=k, f=f: f(x, axis=k), (a,)) for f in (np.cumsum, np.cumprod) for a in (F, D, I, U, S, H, B, C, E0) for k in (None, 0, -1)],
    *[(lambda x, k=k, f=f: f(x, axis=k), (a,)) for f in (np.nancumsum, np.nancumprod) for a in (N, N.astype(np.float32), I, N + 1j) for k in (None, 0)],
    *[(lambda x, f=f: f(x, axis=1, dtype=np.float64), (a,)) for f in (np.cumsum, np.cumprod, np.nancumsum) for a in (F, I)], (lambda x: np.cumsum(x, dtype=np.int8), (I,)),
    (lambda x: np.cumsum(x, dtype=bool), (I,)), (lambda x: np.cumprod(x, dtype=bool), (I,)), (lambda x: x.cumsum(1), (T3,)), (lambda x: x.cumprod(), (T3,)), (lambda x: np.cumsum(x), (np.float32(3),)),
    *[(lambda x, f=f, i=i: f(x, axis=0, include_initial=i), (a,)) for f in (np.cumulative_sum, np.cumulative_prod) for i in (False, True) for a in (F, I, B)],
    (lambda x: np.cumulative_sum(x), (V,)), (lambda x: np.cumsum(x), (V,)), (lambda x: np.cumsum(np.copysign(1, np.cumsum(x))), (ZEROS,)), (lambda x: np.copysign(1, np.cumsum(x)), (ZEROS,)),
    (lambda x: np.cumsum(x, axis=0) / np.cumsum(x * 0 + 1, axis=0), (T3,)), (lambda x: np.cumsum(x[:, ::-1], axis=1)[:, ::-1], (F,)),
]  # fmt: skip

ACCUMULATED: list[Snippet] = [
    *[(lambda x, u=u, k=k: u.accumulate(x, axis=k), (a,)) for u in (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logical_or, np.logical_and)
      for a in (F, I, U, B, H, N, E0) for k in (0, -1)],
    *[(lambda x, u=u: u.accumulate(x), (a,)) for u in (np.bitwise_and, np.bitwise_or, np.bitwise_xor) for a in (I, U, B)], (lambda x: np.logical_xor.accumulate(x), (I,)),
    *[(lambda x, u=u: u.accumulate(x, 1), (a,)) for u in (np.subtract, np.divide, np.hypot, np.power, np.arctan2) for a in (F, D)], (lambda x: np.subtract.accumulate(x, axis=1), (I,)),
    (lambda x: np.gcd.accumulate(x), (I,)), (lambda x: np.add.accumulate(x, dtype=np.float32), (I,)), (lambda x: np.maximum.accumulate(x), (np.array([1, np.nan, 3]),)),
    *[(lambda x, u=u: u.reduceat(x, [0, 2, 1, 3], axis=1), (a,)) for u in (np.add, np.multiply, np.maximum, np.minimum) for a in (F, I, U, B)],
    (lambda x: np.add.reduceat(x, [0, 3, 1, 3]), (I,)), (lambda x: np.add.reduceat(x, []), (F[0],)), (lambda x: np.logical_or.reduceat(x, [0, 2], axis=-1), (I,)),
]  # fmt: skip

UNWRAPPED: list[Snippet] = [
    *[(lambda x: np.unwrap(x), (a,)) for a in (D * 5, F * 5, I, V)], (lambda x: np.unwrap(x, axis=0), (D * 9,)), (lambda x: np.unwrap(x, discont=4.0), (D * 9,)),
    *[(lambda x, p=p: np.unwrap(x, period=p), (I,)) for p in (4, 5, 360.0)], (lambda x: np.unwrap(x, period=6), (np.array([0, 3, 6, 3, 0, -3]),)),
]  # fmt: skip

SNIPPETS = [
    pytest.param(*s, id=f"{name}{i}")
    for name, group in (("scans", SCANS), ("accumulated", ACCUMULATED), ("unwrapped", UNWRAPPED))
    for i, s in enumerate(group)
]


@pytest.mark.parametrize(("function", "args"), SNIPPETS)
def test_as_numpy(function: Callable[..., Any], args: tuple) -> None:
    agrees(function, args)


@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8", "i1", "i4", "?"])
@pytest.mark.parametrize("shape", [(4, 8, 64), (70, 37), (33, 17), (520, 48), (300, 6)])
def test_many_lines(dtype: str, shape: tuple[int, ...]) -> None:
    x = RNG.normal(size=shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    x[..., 3] = 0
    scans = [
        lambda x: np.cumsum(x * x, axis=-1),
        lambda x: np.cumprod(x, axis=-1),
        lambda x: np.maximum.accumulate(x, axis=-1),
    ]
    for function in scans:
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(wf.jit(function)(x), function(x), strict=True)


def test_out() -> None:
    def function(x: Any, y: Any) -> Any:
        return np.cumsum(x, axis=0, out=y)

    given, wanted = np.zeros((4, 6)), np.zeros((4, 6))
    close(wf.jit(function)(F, given), function(F, wanted))
    close(given, wanted)


BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "subtract": lambda a, b: a - b,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("initial", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("reversed_", [False, True])
def test_windows_that_are_no_scan(body: str, initial: float, reversed_: bool) -> None:
    """Padding holds the initial value, and a window is combined in order: only some are running totals."""
    padding = "[[0, 4]]" if reversed_ else "[[4, 0]]"
    graph = wf.stablehlo.parse(f"""
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {{
  %c = stablehlo.constant dense<{initial}> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.{body} %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{window_dimensions = array<i64: 5>, padding = dense<{padding}> : tensor<1x2xi64>}} : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}}""")
    x = np.array([3, -1, 2, 5, 4], np.float32)
    fill = np.full(4, initial, np.float32)
    whole = np.concatenate([x, fill] if reversed_ else [fill, x])
    wanted = []
    for place in range(5):
        total = np.float32(initial)
        for element in whole[place : place + 5]:
            total = BODIES[body](total, element)
        wanted.append(total)
    for _ in range(2):  # a second run sees the same constants
        close(wf.simulate(graph)(x), np.array(wanted))
        close(wf.compile(graph)(x), np.array(wanted))


def test_a_long_scan_is_interpreted_once_over() -> None:
    x = RNG.normal(size=30_000)
    close(wf.simulate(lambda x: np.cumsum(x))(x), np.cumsum(x))


ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda x: np.cumsum(x, axis=2), (F,), wf.errors.ArgumentValueError, "out of bounds"), (lambda x: np.cumulative_sum(x), (F,), wf.errors.ArgumentValueError, "required"),
    (lambda x: np.divide.accumulate(x), (V,), wf.errors.UnsupportedError, "300"), (lambda x: np.add.reduceat(x, [9]), (F,), wf.errors.OutOfBoundsError, "9"),
    (lambda x: np.add.accumulate(x), (np.float32(1),), wf.errors.ArgumentTypeError, "scalar"), (lambda x: np.sin.accumulate(x), (F,), ValueError, "binary"),
    (lambda x: np.less.accumulate(x), (F,), wf.errors.UnsupportedError, "less"), (lambda x, i: np.add.reduceat(x, i), (F, I[0]), wf.errors.DataDependentError, "constants"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)]
)
def test_errors(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wf.jit(function)(*args)
