"""One form for torch's extents that are equal: multiples of a number, quotients without common factors, what guards hold to be equal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import sympy
from sympy.core.function import Application
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

__all__ = ["simplest", "taken_for"]


def simplest(expression: sympy.Expr, taken: Mapping[sympy.Expr, sympy.Expr] = MappingProxyType({})) -> sympy.Expr:
    """An expression of the same value at all sizes, from the inside out; ``taken`` is what else parts of it are known to be."""
    if not expression.args:
        return expression
    args = [simplest(e, taken) if isinstance(e, sympy.Expr) else e for e in expression.args]
    if args != list(expression.args):
        expression = expression.func(*args)
    if isinstance(expression, (Mod, PythonMod)):
        expression = remainder(expression)
    elif isinstance(expression, FloorDiv):
        expression = quotient(*expression.args)
    elif isinstance(expression, sympy.Add):
        expression = multiple(expression)
    return sympy.expand(expression).xreplace(taken) if taken else expression


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
    """What the guards of a graph hold to be a polynomial or a number, without parentheses, as that."""
    found: dict[sympy.Expr, sympy.Expr] = {}
    for guard in getattr(environment, "guards", ()):
        if not isinstance(guard.expr, sympy.Eq):
            continue
        sides = [sympy.expand(simplest(side)) for side in guard.expr.args]
        for side, other in (sides, sides[::-1]):
            is_form = other.atoms(Application) and not side.atoms(Application)  # a quotient, a remainder, a maximum
            if other.free_symbols and (side.is_Integer or is_form):
                found.setdefault(other, side)
                found = shares(other, side) | found
    return found


def shares(product: sympy.Expr, whole: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Of a product that is a number, each factor as the quotient that it is of the number and the others."""
    if not whole.is_Integer or whole == 0:
        return {}
    count, factors = sympy.factor_list(product)
    rest = sympy.Mul(*(f**n for f, n in factors))
    return {quotient(whole / count, sympy.cancel(rest / f)): f for f, _ in factors if rest != f and whole % count == 0}
