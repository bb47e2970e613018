"""Operations that torch has whole, taken apart into smaller ones: distances, products of three."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["taken_apart"]

aten = torch.ops.aten


def distances(x: torch.Tensor, y: torch.Tensor, p: float, mode: Any = None) -> torch.Tensor:
    """Between each row of one and each of the other."""
    apart = (x.unsqueeze(-2) - y.unsqueeze(-3)).abs()
    if p == 0:
        return (apart != 0).to(x.dtype).sum(-1)
    if p == math.inf:
        return apart.amax(-1) if x.shape[-1] else apart.sum(-1)
    return apart.sum(-1) if p == 1 else apart.square().sum(-1).sqrt() if p == 2 else apart.pow(p).sum(-1).pow(1 / p)


def shares(apart: torch.Tensor, whole: torch.Tensor, p: float) -> torch.Tensor:
    """The gradient of a distance by each difference; none where the distance is zero."""
    if p == 0:
        return torch.zeros_like(apart)
    if p == 1:
        return apart.sgn()
    if p == math.inf:
        return apart.sgn() * (apart.abs() == whole)
    lost = whole == 0
    divisor = torch.where(lost, 1.0, whole)
    if p == 2:
        return torch.where(lost, 0.0, apart / divisor)
    size = apart.abs()
    share = apart.sgn() * torch.where(size == 0, 0.0, size.pow(p - 1)) / divisor.pow(p - 1)
    return torch.where(lost, 0.0, share)


def distances_backward(
    gradient: torch.Tensor, x: torch.Tensor, y: torch.Tensor, p: float, whole: torch.Tensor
) -> torch.Tensor:
    apart = x.unsqueeze(-2) - y.unsqueeze(-3)
    return (gradient.unsqueeze(-1) * shares(apart, whole.unsqueeze(-1), p)).sum(-2)


def trilinear(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    expand1: Any,
    expand2: Any,
    expand3: Any,
    sumdim: Any,
    unroll_dim: int = 1,
) -> torch.Tensor:
    for axes, at in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for axis in axes:
            a, b, c = (x.unsqueeze(axis) if i == at else x for i, x in enumerate((a, b, c)))
    product = a * b * c
    return product.sum(sumdim) if sumdim else product


def taken_apart() -> dict[Any, Callable[..., Any]]:
    """Functions of torch's operations by what they stand for."""
    return {
        aten._cdist_forward.default: distances,
        aten._cdist_backward.default: distances_backward,
        aten._trilinear.default: trilinear,
    }
