"""One form for torch's extents that are equal: multiples of a number, quotients without common factors, what guards hold to be equal."""

from __future__ import annotations

from typing import Any

import sympy
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

__all__ = ["simplest", "taken_for"]


def simplest(expression: sympy.Expr) -> sympy.Expr:
    """An expression of the same value at all sizes, from the inside out."""
    if not expression.args:
        return expression
    args = [simplest(e) if isinstance(e, sympy.Expr) else e for e in expression.args]
    if args != list(expression.args):
        expression = expression.func(*args)
    if isinstance(expression, (Mod, PythonMod)):
        return remainder(expression)
    if isinstance(expression, FloorDiv):
        return quotient(*expression.args)
    return multiple(expression) if isinstance(expression, sympy.Add) else expression


def remainder(expression: sympy.Expr) -> sympy.Expr:
    """``-(n % 8) % 8`` is ``-n % 8``, and that what n lacks to the next multiple of 8."""
    whole, divisor = sympy.expand(expression.args[0]), expression.args[1]
    inner = [e for e in whole.atoms(Mod, PythonMod) if e.args[1] == divisor and whole.coeff(e).is_Integer]
    whole = sympy.expand(whole.xreplace({e: e.args[0] for e in inner}))
    if not divisor.is_positive or not whole.could_extract_minus_sign():
        return PythonMod(whole, divisor) if inner else expression
    return whole + divisor * FloorDiv(divisor - 1 - whole, divisor)


def quotient(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """Without factors that both have: where these are zero there is no quotient."""
    common = sympy.gcd(a, b)
    return FloorDiv(a, b) if common == 1 else FloorDiv(sympy.cancel(a / common), sympy.cancel(b / common))


def multiple(expression: sympy.Expr) -> sympy.Expr:
    """Of ``n - n % k`` the multiple of k that it is."""
    for term in expression.args:
        rest = -term
        if isinstance(rest, (Mod, PythonMod)) and sympy.expand(expression - term - rest.args[0]) == 0:
            return rest.args[1] * FloorDiv(*rest.args)
    return expression


def taken_for(environment: Any) -> dict[sympy.Expr, sympy.Expr]:
    """What the guards of a graph hold to be a symbol or a number, by its simplest form."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    for guard in getattr(environment, "guards", ()):
        if not isinstance(guard.expr, sympy.Eq):
            continue
        sides = [simplest(side) for side in guard.expr.args]
        for side, other in (sides, sides[::-1]):
            if (side.is_Symbol or side.is_Integer) and not (other.is_Symbol or other.is_Integer):
                found.setdefault(other, side)
    return found
