"""Determinants and systems, taken apart into factors, and what solves with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["of_linear_algebra"]

aten = torch.ops.aten


def is_transposed(a: torch.Tensor) -> bool:
    """Whether torch factors the transpose for a determinant, which its gradients know."""
    return a.is_contiguous() and not a.is_complex()


def factors(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return aten.linalg_lu_factor_ex(a.mT if is_transposed(a) else a)


def sign_of(pivots: torch.Tensor) -> torch.Tensor:
    """The sign that swaps of rows give a determinant."""
    places = torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    return 1 - 2 * ((pivots != places).sum(-1) % 2)


def det(a: torch.Tensor) -> Any:
    lu, pivots, _ = factors(a)
    return sign_of(pivots) * lu.diagonal(0, -2, -1).prod(-1), lu, pivots


def slogdet(a: torch.Tensor) -> Any:
    lu, pivots, _ = factors(a)
    diagonal = lu.diagonal(0, -2, -1)
    return sign_of(pivots) * diagonal.sgn().prod(-1), diagonal.abs().log().sum(-1), lu, pivots


def solve(a: torch.Tensor, b: torch.Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    lu, pivots, info = aten.linalg_lu_factor_ex(a)
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    columns = b.unsqueeze(-1) if is_vector else b
    result = aten.linalg_lu_solve(lu, pivots, columns, left=left)
    if check_errors:
        aten._linalg_check_errors(info, "torch.linalg.solve_ex", is_matrix=a.ndim == 2)
    return result.squeeze(-1) if is_vector else result, lu, pivots, info


def pinv(a: torch.Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> torch.Tensor:
    if not a.numel():
        return a.new_zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]))
    if hermitian:
        values, u = aten._linalg_eigh(a)
        sizes, vh = values.abs(), u.mH
    else:
        u, values, vh = aten._linalg_svd(a)
        sizes = values
    if rtol is None:
        rtol = torch.finfo(a.dtype).eps * max(a.shape[-2:]) if atol is None else 0.0
    per_matrix = lambda limit: limit.unsqueeze(-1) if isinstance(limit, torch.Tensor) else limit
    limit = per_matrix(rtol) * sizes.amax(-1, True)
    limit = limit if atol is None else torch.maximum(per_matrix(atol), limit)
    inverse = torch.where(sizes > limit, values.reciprocal(), 0.0)
    return vh.mH @ (inverse.unsqueeze(-1) * u.mH)


def of_linear_algebra() -> dict[Any, Callable[..., Any]]:
    """What is taken apart here."""
    return {
        aten._linalg_det.default: det,
        aten._linalg_slogdet.default: slogdet,
        aten._linalg_solve_ex.default: solve,
        aten.linalg_pinv.atol_rtol_tensor: pinv,
    }
