"""Linear systems: factors of matrices, what they solve, inverses. Numbers are reckoned in double precision, as in numpy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ... import _core
from ...numpy import factors, own
from ...numpy.control import while_loop
from ...numpy.decompositions import double
from ...numpy.dispatch import broadcast_to
from ...numpy.tracer import wrap
from ..table import Want, cast, rule
from .creation import filled, identity, iota

FLOATS = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def are_matrices(*operands: Any, **kwargs: Any) -> bool:
    """Whether they are matrices of floats whose sizes are known."""
    found = [x for x in operands if isinstance(x, torch.Tensor) and x.dtype in FLOATS]
    return bool(found) and all(isinstance(e, int) for x in found for e in x.shape[-2:])


def pivoted(*operands: Any, pivot: bool = True, **kwargs: Any) -> bool:
    return pivot and are_matrices(*operands)


def conjugated(x: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(x, -1, -2)) if x.dtype.kind == "c" else np.swapaxes(x, -1, -2)


def together(a: Any, b: Any) -> tuple[Any, Any]:
    """Both as so many matrices as they are together."""
    batch = _core.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (wrap(broadcast_to(x.tensor, (*batch, *x.shape[-2:]))) for x in (a, b))
    return a, b


def triangular(a: Any, b: Any, lower: bool, unit: bool = False) -> Any:
    """x of a x = b, by that triangle of a."""
    return wrap(factors.triangular(a.tensor, b.tensor, lower=lower, unit=unit))


def first_bad(bad: Any) -> Any:
    """LAPACK's info: the first place where that holds, from 1; 0 for none."""
    if not bad.shape[-1]:
        return own.zeros(bad.shape[:-1], np.int32)
    place = cast(np.argmax(bad, axis=-1), np.int32) + cast(1, np.int32)
    return np.where(np.any(bad, axis=-1), place, cast(0, np.int32))


def diagonal(x: Any) -> Any:
    return np.diagonal(x, axis1=-2, axis2=-1)


# -- lu ------------------------------------------------------------------------------------------------------------


@rule("linalg_lu_factor_ex", "_lu_with_info", accepts=pivoted)
def lu_factor(want: Any, a: Any, *rest: Any, **kwargs: Any) -> Any:
    packed, pivots = map(wrap, _core.packed_lu(double(a).tensor))
    return cast(packed, want[0].dtype), pivots, first_bad(diagonal(packed) == 0)


def row_order(pivots: Any, rows: int) -> Any:
    """Where each row comes from after LAPACK's swaps, int64."""
    *batch, count = pivots.shape
    order = np.broadcast_to(iota((rows,)), (*batch, rows))
    places = iota((rows,))
    partners = cast(pivots, np.int64) - 1

    def swapped(state: Any) -> Any:
        step, order = state
        other = np.take(partners, step, axis=-1)[..., None]
        here, there = np.take(order, step, axis=-1)[..., None], np.take_along_axis(order, other, axis=-1)
        return step + 1, np.where(places == step, there, np.where(places == other, here, order))

    return while_loop(lambda state: state[0] < count, swapped, (cast(0, np.int64), order))[1]


def permuted_rows(x: Any, order: Any) -> Any:
    return np.take_along_axis(x, np.broadcast_to(order[..., None], x.shape), axis=-2)


def lower_part(packed: Any, k: int) -> Any:
    """L of factors in one matrix, with ones on its diagonal."""
    return np.tril(packed[..., :k], -1) + identity((packed.shape[-2], k), packed.dtype)


def permutation(order: Any, dtype: Any) -> Any:
    """P of a = P l u: column j has its one where row j comes from."""
    return cast(iota((order.shape[-1], 1), 0) == order[..., None, :], dtype)


@rule("linalg_lu", accepts=pivoted)
def lu(want: Any, a: Any, *, pivot: bool = True) -> Any:
    packed, pivots = map(wrap, _core.packed_lu(double(a).tensor))
    m, n = a.shape[-2:]
    k, kind = min(m, n), want[0].dtype
    return (
        permutation(row_order(pivots, m), kind),
        cast(lower_part(packed, k), kind),
        cast(np.triu(packed[..., :k, :]), kind),
    )


@rule("lu_unpack", accepts=are_matrices)
def lu_unpack(want: Any, packed: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    m, n = packed.shape[-2:]
    k = min(m, n)
    first = permutation(row_order(pivots, m), want[0].dtype) if unpack_pivots else filled(want[0], 0)
    parts = (
        (lower_part(packed, k), np.triu(packed[..., :k, :]))
        if unpack_data
        else (filled(want[1], 0), filled(want[2], 0))
    )
    return first, *parts


@rule("linalg_lu_solve", accepts=are_matrices)
def lu_solve(want: Want, packed: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    result = solved_by_lu(packed, pivots, b if left else conjugated(b), adjoint != left)
    return cast(result if left else conjugated(result), want.dtype)


def solved_by_lu(packed: Any, pivots: Any, b: Any, forward: bool) -> Any:
    """x of a x = b, or of the conjugate transpose of a, by the factors of a."""
    packed, b = together(double(packed), double(b))
    order = row_order(pivots, packed.shape[-1])
    order = np.broadcast_to(order, (*b.shape[:-2], order.shape[-1]))
    if forward:
        return triangular(packed, triangular(packed, permuted_rows(b, order), True, True), False)
    y = triangular(conjugated(packed), triangular(conjugated(packed), b, True), False, True)
    return permuted_rows(y, np.argsort(order, axis=-1))


@rule("linalg_inv_ex", accepts=are_matrices)
def inverse(want: Any, a: Any, *, check_errors: bool = False) -> Any:
    x = double(a)
    result, pivots = factors.eliminated(x.tensor, broadcast_to(identity(x.shape[-2:], x.dtype).tensor, x.shape))
    return cast(wrap(result), want[0].dtype), first_bad(pivots == 0)


# -- triangles -----------------------------------------------------------------------------------------------------


@rule("linalg_solve_triangular", accepts=are_matrices)
def solve_triangular(want: Want, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    a, b = (double(a), double(b)) if left else (np.swapaxes(double(a), -1, -2), np.swapaxes(double(b), -1, -2))
    result = triangular(*together(a, b), upper != left, unitriangular)
    return cast(result if left else np.swapaxes(result, -1, -2), want.dtype)


@rule("triangular_solve", accepts=are_matrices)
def triangular_solve(
    want: Any, b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    a, b = together(a, b)
    wide = np.swapaxes(double(a), -1, -2) if transpose else double(a)
    return cast(triangular(wide, double(b), upper == transpose, unitriangular), want[0].dtype), a


# -- cholesky ------------------------------------------------------------------------------------------------------


def factor(a: Any, upper: bool) -> Any:
    """The factor, NaN from where the matrix is not positive definite."""
    found = wrap(_core.apply("cholesky", [double(a).tensor], {} if upper else {"lower": True}))
    return np.triu(found) if upper else np.tril(found)


@rule("linalg_cholesky_ex", accepts=are_matrices)
def cholesky_with_info(want: Any, a: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    found = factor(a, upper)
    return cast(found, want[0].dtype), first_bad(np.logical_not(np.real(diagonal(found)) > 0))


def solved_by_cholesky(b: Any, found: Any, upper: bool) -> Any:
    found, b = together(double(found), double(b))
    lower = conjugated(found) if upper else found
    return triangular(conjugated(lower), triangular(lower, b, True), False)


@rule("cholesky_solve", accepts=are_matrices)
def cholesky_solve(want: Want, b: Any, found: Any, upper: bool = False) -> Any:
    return cast(solved_by_cholesky(b, found, upper), want.dtype)


@rule("cholesky_inverse", accepts=are_matrices)
def cholesky_inverse(want: Want, found: Any, upper: bool = False) -> Any:
    ones = identity(found.shape[-2:], double(found).dtype)
    return cast(solved_by_cholesky(ones, found, upper), want.dtype)
