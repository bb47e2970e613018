"""ndarray.flags and ndarray.strides of arrays that stand for values: by the layout that NumPy's arrays would have."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from .layout import UNKNOWN, is_contiguous, note, strides_of
from .methods import PROPERTIES
from .tracer import TracedArray, raise_here
from .views import is_read_only

__all__ = ["Flags", "byte_strides"]

NAMES = {
    "C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "C_CONTIGUOUS": "c_contiguous", "F": "f_contiguous",
    "FORTRAN": "f_contiguous", "F_CONTIGUOUS": "f_contiguous", "W": "writeable", "WRITEABLE": "writeable", "A": "aligned",
    "ALIGNED": "aligned", "B": "behaved", "BEHAVED": "behaved", "CA": "carray", "CARRAY": "carray", "FA": "farray",
    "FARRAY": "farray", "FNC": "fnc", "FORC": "forc",
}  # fmt: skip


def known_strides(array: TracedArray) -> Any:
    """The strides in elements; the program is for arguments of this layout."""
    strides = strides_of(array)
    if strides is UNKNOWN:
        raise_here(UnsupportedError, "the layout of an array in memory that is not known is asked for", "layout")
    note(array, None)
    return strides


def byte_strides(array: TracedArray) -> tuple[Any, ...]:
    if any(isinstance(extent, int) and extent <= 1 for extent in array.shape):
        raise_here(UnsupportedError, "the stride of an axis with no more than one element, which may be any", "layout")
    return tuple(stride * array.itemsize for stride in known_strides(array))


class Flags:
    """What ``flags`` tells of an array's memory; none of it can be set."""

    __slots__ = ("_array",)

    def __init__(self, array: TracedArray) -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        return is_contiguous(self._array.shape, known_strides(self._array))

    @property
    def f_contiguous(self) -> bool:
        return is_contiguous(self._array.shape[::-1], known_strides(self._array)[::-1])

    @property
    def writeable(self) -> bool:
        note(self._array, None)  # of an argument it counts as a part of its layout
        return not (self._array.scalar or self._array._storage.locked or is_read_only(self._array))

    @property
    def aligned(self) -> bool:
        return True

    @property
    def behaved(self) -> bool:
        return self.writeable

    @property
    def carray(self) -> bool:
        return self.writeable and self.c_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.writeable and self.fnc

    contiguous, fortran = c_contiguous, f_contiguous

    def __getitem__(self, name: str) -> bool:
        if name not in NAMES:
            raise_here(UnsupportedError, f"the flag {name!r} of an array that does not have its memory yet", "flags")
        return bool(getattr(self, NAMES[name]))


PROPERTIES["flags"], PROPERTIES["strides"] = Flags, byte_strides
