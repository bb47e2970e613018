"""Arrays in files: .npy, .npz and .safetensors, in and out; and random ones."""

from __future__ import annotations

import io
import os
import struct
import sys
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .. import _core, safetensors
from ..errors import ArgumentTypeError, FileError
from ..graph import Io
from .program import check_extents, concrete, nearest, symbols_of
from .terminal import UsageError

SUFFIXES = (".npy", ".npz", ".safetensors")
#: What a damaged file ends with; NotImplementedError, of what zipfile cannot unpack, is a RuntimeError.
DAMAGED = (
    ValueError, TypeError, AttributeError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, SyntaxError,
    OverflowError, MemoryError, RuntimeError,
)  # fmt: skip


def suffix_of(path: str) -> str:
    suffix = ".npy" if path == "-" else os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"'{path}': arrays are in files .npy, .npz or .safetensors")
    return suffix


def can_hold(path: str, dtype: np.dtype) -> bool:
    """Whether a file of this name has a name for elements of this type."""
    return dtype in safetensors.DTYPE_NAMES if suffix_of(path) == ".safetensors" else dtype.isbuiltin == 1


def read(path: str) -> dict[str, np.ndarray]:
    """The arrays of a file by name; that of a .npy file by the name ""."""
    suffix = suffix_of(path)
    content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    if suffix == ".safetensors":
        arrays = safetensors.read(path, content)
    else:
        if content[:2] not in (b"\x93N", b"PK"):
            raise FileError(f"'{path}' cannot be read: it is no file of NumPy's  [array_file]")
        try:
            loaded = np.load(io.BytesIO(content), allow_pickle=False)
            arrays = {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
        except DAMAGED as error:
            raise FileError(
                f"'{path}' cannot be read: {str(error).splitlines()[0] if str(error) else type(error).__name__}  [array_file]"
            ) from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise FileError(f"'{path}' has '{name}', which is no array  [array_file]")
        if array.dtype.kind == "V" and not array.dtype.isbuiltin:
            place = f"'{path}'" + (f", '{name}'" if name else "")
            raise FileError(
                f"{place} has elements that NumPy cannot name ({array.dtype}); bfloat16 and its like go in .safetensors  [array_file]"
            )
        if array.dtype.kind in "USMm":
            raise FileError(f"'{path}' has elements that are no numbers, but {array.dtype}  [array_file]")
    # Either order of bytes holds the same numbers.
    return {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}


def write(path: str, arrays: dict[str, np.ndarray]) -> None:
    """Writes what :func:`read` reads; a .npy file takes one array."""
    suffix = suffix_of(path)
    if suffix == ".safetensors":
        content = safetensors.written(arrays)
    else:
        buffer = io.BytesIO()
        if suffix == ".npy":
            np.save(buffer, next(iter(arrays.values())))
        else:
            # np.savez has parameters whose names no array can have.
            with zipfile.ZipFile(buffer, "w") as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
        content = buffer.getvalue()
    if path == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        _core.write_file(path, content)


def random_array(dtype: np.dtype, shape: tuple[int, ...], seed: int, number: int) -> np.ndarray:
    """Normal floats, integers from 0 to 9, or as far as the type goes; each input has numbers of its own."""
    rng = np.random.default_rng([seed, number])
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    try:
        top = int(ml_dtypes.iinfo(dtype).max)
    except (ValueError, TypeError):
        narrow = dtype.kind != "f" or dtype.itemsize < 8
        return np.asarray(rng.standard_normal(shape, np.float32 if narrow else np.float64)).astype(dtype, copy=False)
    return np.asarray(rng.integers(0, min(top, 9) + 1, shape)).astype(dtype)


class Inputs:
    """The arrays for the inputs of a program: those of the files given, random ones for the others."""

    def __init__(self, ios: list[Io], files: list[str], extents: dict[str, int], seed: int, cast: bool) -> None:
        self.ios = ios
        self.names = [io.name or f"input{i}" for i, io in enumerate(ios)]
        self.arrays: list[Any] = [None] * len(ios)
        self.sources = [f"random, seed {seed}"] * len(ios)
        for file in files:
            self._take(file)
        symbols = symbols_of(ios)
        check_extents(symbols, extents)
        #: Extents that are known by now.
        self.extents = {**extents, **self._bound()}
        for name, value in extents.items():
            if self.extents[name] != value:
                raise UsageError(f"extent '{name}' is {self.extents[name]} in the arrays, --extent says {value}")
        self.assumed = {name: s.opt for name, s in symbols.items() if name not in self.extents}
        every = {**self.assumed, **self.extents}
        for i, wanted in enumerate(ios):
            if self.arrays[i] is None:
                shape = concrete(wanted.shape, every)
                try:
                    self.arrays[i] = random_array(wanted.dtype, shape, seed, i)
                except ValueError as error:
                    raise MemoryError(
                        f"input '{self.names[i]}' of shape {list(shape)} does not fit in memory"
                    ) from error
            elif cast and self.arrays[i].dtype != wanted.dtype:
                self.arrays[i] = self.arrays[i].astype(wanted.dtype)

    def _take(self, given: str) -> None:
        name, equals, path = given.partition("=")
        if equals and name in self.names:
            arrays = read(path)
            if len(arrays) != 1:
                raise UsageError(f"'{path}' has {len(arrays)} arrays, '{name}' takes one")
            return self._set(self.names.index(name), next(iter(arrays.values())), path)
        if equals and not os.path.exists(given):
            raise UsageError(f"the program has no input '{name}'{nearest(name, self.names)}")
        arrays = read(given)
        if all(key in ("", f"arr_{i}") for i, key in enumerate(arrays)):
            for array in arrays.values():
                free = [i for i, taken in enumerate(self.arrays) if taken is None]
                if not free:
                    raise UsageError(f"'{given}': the program takes no more than {len(self.ios)} inputs")
                self._set(free[0], array, given)
            return None
        for key, array in arrays.items():
            if key not in self.names:
                raise UsageError(f"'{given}' has '{key}', the program has no such input{nearest(key, self.names)}")
            self._set(self.names.index(key), array, given)

    def _set(self, i: int, array: np.ndarray, source: str) -> None:
        if self.arrays[i] is not None:
            raise UsageError(f"input '{self.names[i]}' is given twice, by {self.sources[i]} and {source}")
        self.arrays[i], self.sources[i] = array, "standard input" if source == "-" else source

    def _bound(self) -> dict[str, int]:
        """Extents that the arrays given tell."""
        known: dict[str, int] = {}
        for wanted, array in zip(self.ios, self.arrays, strict=True):
            if array is None or array.ndim != len(wanted.shape):
                continue
            for extent, value in zip(wanted.shape, array.shape, strict=True):
                if not isinstance(extent, int) and [str(s) for s in extent.symbols] == [str(extent)]:
                    known.setdefault(str(extent), value)
        return known

    def fresh(self, outputs: list[Io]) -> list[np.ndarray]:
        """The arrays, with copies of those that outputs land in."""
        written = {io.alias for io in outputs}
        return [array.copy() if i in written else array for i, array in enumerate(self.arrays)]

    def check(self) -> None:
        """The first input whose array is of another element type than the program takes."""
        for name, wanted, array, source in zip(self.names, self.ios, self.arrays, self.sources, strict=True):
            if array.dtype != wanted.dtype:
                raise ArgumentTypeError(
                    f"input '{name}' must be {wanted.dtype}, got {array.dtype} from {source}; --cast converts it  [input_dtype]"
                )
