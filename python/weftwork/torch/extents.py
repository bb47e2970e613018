"""Torch's symbolic integers as extents of programs."""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod, PythonMod

from .. import _core
from ..errors import UnsupportedError
from .forms import simplest, taken_for

__all__ = ["Extents", "expression_of", "is_symbolic", "solved"]

SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
MOST = 1 << 31


def is_symbolic(value: Any) -> bool:
    """Whether torch knows the number only at the call."""
    return isinstance(value, SYMBOLIC) and value.node.maybe_as_int() is None


def expression_of(value: Any) -> sympy.Expr:
    """A number or symbolic number as an expression."""
    return value.node.expr if isinstance(value, SYMBOLIC) else sympy.Integer(value)


def solved(expression: sympy.Expr) -> tuple[sympy.Symbol, int, int] | None:
    """Of ``a * symbol + b`` the symbol, a and b; None for other expressions."""
    if len(expression.free_symbols) != 1:
        return None
    (symbol,) = expression.free_symbols
    if not expression.is_polynomial(symbol):
        return None
    b = expression.subs(symbol, 0)
    a = sympy.expand(expression - b).coeff(symbol)
    is_line = a.is_Integer and b.is_Integer and a != 0 and sympy.expand(expression - a * symbol - b) == 0
    return (symbol, int(a), int(b)) if is_line else None


class Extents:
    """The symbols of one graph, each with the bounds that torch knows.

    ``inputs`` are the fake values of its placeholders. A symbol that none of their extents tells is in no program; an extent
    made of such symbols counts as one of its own, named by its place.
    """

    def __init__(self, inputs: list[Any]) -> None:
        self.symbols: dict[str, Any] = {}
        self.used: set[str] = set()  # since someone emptied it
        self.told: set[sympy.Symbol] = set()
        self.sized: set[sympy.Symbol] = set()  # those that extents of tensors tell
        self.whole: dict[sympy.Expr, str] = {}
        self.forms: dict[sympy.Expr, sympy.Expr] = {}  # of each expression, how it is written
        self.taken: dict[sympy.Expr, sympy.Expr] | None = None
        sizes: list[Any] = [e for v in inputs if isinstance(v, torch.Tensor) for e in v.shape if is_symbolic(e)]
        numbers = [v for v in inputs if not isinstance(v, torch.Tensor) and is_symbolic(v)]
        given: list[Any] = [*sizes, *numbers]
        for found, extents in ((self.sized, sizes), (self.told, given)):
            found |= {line[0] for line in (solved(extent.node.expr) for extent in extents) if line}
        for extent in given:
            if isinstance(extent, torch.SymInt) and not extent.node.expr.free_symbols <= self.told:
                self.whole.setdefault(extent.node.expr, f"extent{len(self.whole)}")

    def of(self, value: Any) -> Any:
        """An int or a Dim. UnsupportedError for what is no extent."""
        if isinstance(value, int):
            return value
        if not isinstance(value, torch.SymInt):
            raise UnsupportedError(f"an extent was wanted, got {value!r}  [torch_extent]")
        known = value.node.maybe_as_int()
        return known if known is not None else self._of_expression(self._form(value.node), value.node.shape_env)

    def _form(self, node: Any) -> sympy.Expr:
        """One for all extents that are known to be equal."""
        expression = node.expr
        if expression.is_Symbol or expression in self.whole:
            return expression
        if expression not in self.forms:
            if self.taken is None:
                self.taken = taken_for(node.shape_env)
            self.forms[expression] = simplest(expression, self.taken)
        return self.forms[expression]

    def is_number(self, value: Any) -> bool:
        """Whether something negative may be in it that only the call tells: programs have it as a number, not as an extent."""
        if (
            not isinstance(value, torch.SymInt)
            or value.node.maybe_as_int() is not None
            or value.node.expr in self.whole
        ):
            return False
        bounds = value.node.shape_env.var_to_range
        return any(s in bounds and not bounds[s].lower >= 0 for s in value.node.expr.free_symbols - self.sized)

    def shape(self, fake: Any) -> tuple[Any, ...]:
        """The shape of a fake tensor."""
        return tuple(self.of(extent) for extent in fake.shape)

    def _of_expression(self, expression: sympy.Expr, environment: Any) -> Any:
        part = lambda e: self._of_expression(e, environment)
        if expression in self.whole:
            return self._named(self.whole[expression], 1, MOST)
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol:
            return self._symbol(expression, environment)
        if expression.is_Add:
            return sum((part(e) for e in expression.args[1:]), part(expression.args[0]))
        if expression.is_Mul and all(e.is_integer for e in expression.args):
            result: Any = 1
            for factor in expression.args:
                result = part(factor) * result
            return result
        if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and expression.exp > 0:
            base = result = part(expression.base)
            for _ in range(int(expression.exp) - 1):
                result = result * base
            return result
        if isinstance(expression, FloorDiv) or type(expression).__name__ == "CleanDiv":
            return part(expression.args[0]) // part(expression.args[1])
        if isinstance(expression, (Mod, PythonMod)):
            return part(expression.args[0]) % part(expression.args[1])
        if isinstance(expression, (Max, Min)):
            combine = _core.dim_max if isinstance(expression, Max) else _core.dim_min
            result = part(expression.args[0])
            for e in expression.args[1:]:
                result = combine(result, part(e))
            return result
        raise UnsupportedError(f"an extent of +, -, *, //, %, min and max was wanted, got {expression}  [torch_extent]")

    def _symbol(self, symbol: sympy.Symbol, environment: Any) -> Any:
        bounds = environment.var_to_range.get(symbol) if environment is not None else None
        if bounds is None or symbol not in self.told:
            raise UnsupportedError(
                f"an extent that the arguments of a call tell was wanted, got {symbol.name}  [torch_extent]"
            )
        high = int(bounds.upper) if bounds.upper.is_Integer else MOST
        if symbol in self.sized:
            low = max(int(bounds.lower), 1) if bounds.lower.is_Integer else 1
        elif bounds.lower >= 0:
            low = int(bounds.lower)
        else:
            raise UnsupportedError(f"an extent was wanted, {symbol.name} may be negative  [torch_extent]")
        return self._named(symbol.name, low, min(high, MOST))

    def _named(self, name: str, low: int, high: int) -> Any:
        self.used.add(name)
        if name not in self.symbols:
            self.symbols[name] = _core.Dim(name, low, max(low, min(64, high)), high)
        return self.symbols[name]
