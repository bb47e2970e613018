"""What lazy arrays do by calls on them: NumPy's protocols, indices and methods, given to their class here."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import _core
from ..numpy import plain
from .calls import SHORTEST, called
from .creation import array_of
from .tensor import HEAVY, Method, Tensor

__all__ = ["install"]

#: What an array tells of its memory.
OF_MEMORY = frozenset(["base", "ctypes", "data", "flags", "flat", "strides"])
#: Methods that change the array.
WRITING = frozenset(["fill", "itemset", "partition", "put", "resize", "setfield", "sort"])


def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method == "__call__" and not kwargs and ufunc in SHORTEST:
        result = _core.operated(SHORTEST[ufunc], *inputs)
        if result is not None:
            return result
    return called(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)


def array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return called(function, args, kwargs)


def get(self: Tensor, index: Any) -> Any:
    return called(operator.getitem, (self, index), {})


def write(self: Tensor, function: Any, *args: Any) -> None:
    if self._array._storage.tensor.is_computed:
        self._length = 0
    called(function, (self, *args), {}, writes=True)
    self._grew(HEAVY)


def put(self: Tensor, index: Any, value: Any) -> None:
    write(self, operator.setitem, index, value)


def part(name: str, doc: str) -> property:
    """An attribute that may be assigned, which writes to the array."""
    return property(
        lambda self: called(operator.attrgetter(name), (self,), {}),
        lambda self, value: write(self, setattr, name, value),
        doc=doc,
    )


def attribute(self: Tensor, name: str) -> Any:
    if name.startswith("__") or not hasattr(np.ndarray, name):
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")
    if name in OF_MEMORY:
        return getattr(self.numpy(), name)
    if callable(getattr(np.ndarray, name)):
        return lambda *args, **kwargs: called(Method(name), (self, *args), kwargs, writes=name in WRITING)
    return called(operator.attrgetter(name), (self,), {})


def transpose(self: Tensor) -> Tensor:
    """The transpose: of a matrix alone in the standard, with all axes reversed here as in NumPy."""
    return called(np.transpose, (self,), {})


def matrix_transpose(self: Tensor) -> Tensor:
    """The transpose of the last two axes."""
    return called(np.matrix_transpose, (self,), {})


def install() -> None:
    """Gives them to the class, and tensors to functions that NumPy does not have."""
    members = {
        "__array_ufunc__": array_ufunc,
        "__array_function__": array_function,
        "__getitem__": get,
        "__setitem__": put,
        "__getattr__": attribute,
        "T": property(transpose),
        "mT": property(matrix_transpose),
        "real": part("real", "The real part; what is assigned is written to the array."),
        "imag": part("imag", "The imaginary part, of a complex array; what is assigned is written to the array."),
        "_taken": staticmethod(array_of),
    }
    for name, member in members.items():
        setattr(Tensor, name, member)
    plain.lazy += [Tensor, called]
