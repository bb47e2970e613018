"""The dtypes of torch that programs have, and what NumPy calls them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

__all__ = ["FROM_TORCH", "carrier_of", "widened"]

FROM_TORCH: dict[torch.dtype, np.dtype] = {
    torch.bool: np.dtype(np.bool_),
    torch.uint8: np.dtype(np.uint8),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
    torch.float8_e4m3fn: np.dtype(ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: np.dtype(ml_dtypes.float8_e5m2),
}

#: Dtypes that torch does not share with NumPy cross as integers of the same size.
CARRIERS = {
    torch.bfloat16: torch.int16,
    torch.float8_e4m3fn: torch.uint8,
    torch.float8_e5m2: torch.uint8,
}


def carrier_of(dtype: torch.dtype) -> torch.dtype | None:
    """The integers that elements cross as where NumPy lacks the dtype."""
    return CARRIERS.get(dtype)


def widened(dtype: Any) -> Any:
    """The dtype that arithmetic on elements is done in: float32 for shorter floats, as torch does it."""
    return np.dtype(np.float32) if dtype.itemsize < 4 and dtype.kind in "fV" else dtype
