"""Dtypes, constants, and what the namespace says of itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ..device import Device
from ..errors import ArgumentTypeError, ArgumentValueError
from .tensor import Tensor, require_device

__all__ = [
    "__array_namespace_info__",
    "bfloat16",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "e",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "nan",
    "newaxis",
    "pi",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip

bool = np.dtype(np.bool_)
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(np.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(np.dtype, ("complex64", "complex128"))
bfloat16 = np.dtype(ml_dtypes.bfloat16)
e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi

KINDS = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def type_of(value: Any) -> Any:
    """The dtype of a tensor, anything else as it is."""
    return value.dtype if isinstance(value, Tensor) else value


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether a dtype, or that of a tensor, can be cast to another by promotion."""
    return np.can_cast(type_of(from_), to)


class FloatInfo(NamedTuple):
    """The limits of a float dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a float dtype, or of the dtype of a tensor: bits, eps, max, min, smallest_normal, dtype."""
    dtype = np.dtype(type_of(type))
    info: Any = ml_dtypes.finfo(dtype) if dtype.kind == "V" else np.finfo(dtype)
    eps, most, least, smallest = (float(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal"))
    return FloatInfo(info.bits, eps, most, least, smallest, info.dtype)


def iinfo(type: Any, /) -> np.iinfo:
    """The limits of an integer dtype, or of the dtype of a tensor: bits, max, min, dtype."""
    return np.iinfo(np.dtype(type_of(type)))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is another, of a kind ('bool', 'integral', 'real floating' …), or one of a tuple of these."""
    if isinstance(dtype, (Tensor, np.ndarray)):
        raise ArgumentTypeError(f"isdtype takes a dtype, got an array of {dtype.dtype}  [dtype]")
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    dtype = np.dtype(dtype)
    if not isinstance(kind, str):
        return dtype == np.dtype(kind)
    # NumPy knows no bfloat16, which is of the kinds of other short floats.
    return np.isdtype(float16 if dtype == bfloat16 else dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype that operands of these have together: tensors, dtypes and Python's numbers."""
    return np.result_type(*map(type_of, arrays_and_dtypes))


class NamespaceInfo:
    """What the namespace can do, as the standard asks for it."""

    def capabilities(self) -> dict[str, Any]:
        """Masks as indices and shapes that values decide are there; dimensions have no limit but memory."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Where tensors are unless told."""
        return Device()

    def devices(self) -> list[Device]:
        """Where tensors may be."""
        return [Device()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """What is made without a dtype has these."""
        require_device(device)
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype]:
        """The dtypes of the standard, of a kind if one is given, by name."""
        require_device(device)
        kinds = (kind,) if isinstance(kind, str) else ("bool", "numeric") if kind is None else kind
        if unknown := [each for each in kinds if each not in KINDS]:
            raise ArgumentValueError(f"a kind of dtypes is one of {', '.join(KINDS)}, got {unknown[0]!r}  [dtype_kind]")
        return {dtype.name: dtype for each in kinds for dtype in KINDS[each]}


def __array_namespace_info__() -> NamespaceInfo:
    """Capabilities, devices and dtypes of the namespace."""
    return NamespaceInfo()
