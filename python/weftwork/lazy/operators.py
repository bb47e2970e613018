"""The operators of lazy arrays, by the shortest way to what they record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..numpy.operators import BINARY, COMPARISONS, MIXIN, UNARY
from .calls import SHORTEST
from .creation import asarray
from .tensor import Tensor

#: divmod, which gives a pair, stays NumPy's own method.
TWO_OPERANDS = {name: ufunc for name, ufunc in BINARY.items() if ufunc.nout == 1} | {"matmul": np.matmul}


def operator(name: str, ufunc: np.ufunc, reflected: bool = False) -> Callable[..., Any]:
    """The method of that name; NumPy's own where operands are anything else than tensors and Python's numbers."""
    longer, shortest = getattr(MIXIN, name), SHORTEST.get(ufunc, "")

    def of_one(self: Tensor) -> Any:
        result = _core.operated(shortest, self)
        return longer(self) if result is None else result

    def of_two(self: Tensor, other: Any) -> Any:
        result = _core.operated(shortest, other, self) if reflected else _core.operated(shortest, self, other)
        return longer(self, other) if result is None else result

    def of_power(self: Tensor, exponent: Any) -> Any:
        # As NumPy's operator: a boolean's square is an int8.
        return np.square(self) if type(exponent) is int and exponent == 2 else of_two(self, exponent)

    def of_equality(self: Tensor, other: Any) -> Any:
        try:
            return of_two(self, other)
        except TypeError:
            # No number is a text or a date: NumPy has an answer.
            return asarray(getattr(self.numpy(), name)(other))

    others = {"__pow__": of_power, "__eq__": of_equality, "__ne__": of_equality}
    method = of_one if ufunc.nin == 1 else others.get(name, of_two)
    method.__name__ = name
    return method


def install() -> None:
    """Gives them to the class."""
    for name, ufunc in (TWO_OPERANDS | COMPARISONS | UNARY).items():
        setattr(Tensor, f"__{name}__", operator(f"__{name}__", ufunc))
    for name, ufunc in TWO_OPERANDS.items():
        setattr(Tensor, f"__r{name}__", operator(f"__r{name}__", ufunc, reflected=True))
