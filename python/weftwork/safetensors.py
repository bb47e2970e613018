"""Arrays in the format safetensors: eight bytes with the length of a JSON header, the header, the bytes of the arrays.

The package of that name gives copies to NumPy, and does not know bfloat16 there. Arrays that are read here are the file's own bytes.
"""

from __future__ import annotations

import json
import mmap
import os
from typing import Any

import ml_dtypes
import numpy as np

from .errors import ArgumentTypeError, FileError

__all__ = ["DTYPES", "DTYPE_NAMES", "map_file", "read", "written"]

#: The format's names of element types.
DTYPES = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16, "I16": np.int16, "U32": np.uint32, "I32": np.int32,
    "U64": np.uint64, "I64": np.int64, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F32": np.float32, "F64": np.float64,
    "C64": np.complex64, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2, "F8_E8M0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
DTYPE_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


def read(path: str, content: Any) -> dict[str, np.ndarray]:
    """The arrays by name, over the memory of ``content``; a FileError where it is damaged."""
    try:
        data = memoryview(content)
        size = int.from_bytes(data[:8], "little")
        if len(data) < 8 or size > len(data) - 8:
            raise ValueError(f"its header has {size} bytes, and the file has {len(data)}")
        header, data = json.loads(bytes(data[8 : 8 + size])), data[8 + size :]
        arrays = {}
        for name, row in header.items():
            if name == "__metadata__":
                continue
            begin, end = row["data_offsets"]
            if not 0 <= begin <= end <= len(data):
                raise ValueError(f"'{name}' lies outside of the file")
            if not all(type(number) is int and number >= 0 for number in row["shape"]):
                raise ValueError(f"'{name}' has the shape {row['shape']}")
            arrays[name] = np.frombuffer(data[begin:end], DTYPES[row["dtype"]]).reshape(row["shape"])
        return arrays
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError, MemoryError, RecursionError) as error:
        raise FileError(f"'{path}' is no such file as .safetensors should be: {error}  [array_file]") from error


def map_file(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a file, read-only and mapped: pages are read when they are used."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            # An empty file cannot be mapped.
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
    except (OSError, ValueError) as error:
        raise FileError(
            f"'{name}' cannot be read: {getattr(error, 'strerror', None) or error}  [array_file]"
        ) from error
    return read(name, whole)


def written(arrays: dict[str, np.ndarray]) -> bytes:
    """What :func:`read` reads; an ArgumentTypeError where the format has no name for a dtype."""
    header, parts, end = {}, [], 0
    for name, array in arrays.items():
        if array.dtype not in DTYPE_NAMES:
            raise ArgumentTypeError(f"'{name}': .safetensors cannot hold elements of {array.dtype}  [array_file]")
        parts.append(np.ascontiguousarray(array).tobytes())
        begin, end = end, end + len(parts[-1])
        header[name] = {"dtype": DTYPE_NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
