"""Floats to integers, of which several are converted at once: ends, what is beyond them, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

ENDS = [
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    2**31 - 129,
    2**31,
    2**32 - 257,
    2**32,
    2**63 - 2**39,
    2**63,
    2**64,
]
VALUES = [0.0, 0.5, 0.99, 1.0, 1.5, 3.7, np.inf, *(float(end) for end in ENDS), *(end + 0.5 for end in ENDS[:8])]


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
def test_floats_become_the_integers_of_numpy(source: Any, target: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.array(VALUES + [-value for value in VALUES] + [np.nan]).astype(source)
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64):
            compiled = wf.jit(lambda x: (x * 1).astype(dtype))  # noqa: B023
            for count in (x.size, 19, 3):
                np.testing.assert_array_equal(
                    compiled(x[:count]), x[:count].astype(dtype), err_msg=np.dtype(dtype).name
                )
        # NumPy's own answer beyond 32 bits depends on where an element lies.
        within = x[(x > -1) & (x < 2**32)]
        np.testing.assert_array_equal(wf.jit(lambda x: (x * 1).astype(np.uint32))(within), within.astype(np.uint32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_conversions_of_stablehlo_stop_at_the_ends(dtype: Any, target: str) -> None:
    info, x = np.iinfo(dtype), np.array([3.7, -3.7, 1e30, -1e30, np.inf, -np.inf, np.nan, 0.5, -0.5] * 5, np.float32)
    kind = np.dtype(dtype)
    name = f"{'ui' if kind.kind == 'u' else 'i'}{8 * kind.itemsize}"
    text = f"func.func @f(%x: tensor<45xf32>) -> tensor<45x{name}> {{\n  %0 = stablehlo.convert %x : (tensor<45xf32>) -> tensor<45x{name}>\n"
    module = wf.stablehlo.parse(f"{text}  return %0 : tensor<45x{name}>\n}}")
    want = [3, max(-3, info.min), info.max, info.min, info.max, info.min, 0, 0, 0] * 5
    np.testing.assert_array_equal(wf.compile(module)(x), np.array(want, dtype))
