"""Operations that torch has whole, taken apart into smaller ones: distances, products of three, normed weights."""

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


def ldexp(x: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """With powers of two in the dtypes of eager, where the base is a number, or for other floats a tensor without dimensions."""
    base = x.new_full((), 2.0) if x.is_floating_point() and x.dtype != torch.float32 else 2.0
    return x * torch.pow(base, exponent)


def weight_norm_backward(
    gradient: torch.Tensor, v: torch.Tensor, g: torch.Tensor, norms: torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of a direction and its length, of which a weight was made; each along all dimensions but one."""
    axes = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    norms = norms.to(g.dtype)
    along = (gradient * v).sum(axes, keepdim=True) / norms
    return g / norms * (gradient - v * (along / norms)), along


def histogram(x: torch.Tensor, bins: int = 100, min: float = 0, max: float = 0) -> torch.Tensor:
    """How many elements are in each of the bins between two bounds, which torch finds by itself where they are equal."""
    if min == max:
        return NotImplemented
    flat = x.flatten()
    exist = (flat >= min) & (flat <= max)
    place = ((flat - min) * bins / (max - min)).to(torch.int64).clamp(max=bins - 1)
    return x.new_zeros(bins).index_add(0, torch.where(exist, place, 0), exist.to(x.dtype))


def quantized(x: torch.Tensor, scale: Any, zero: Any, low: int, high: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What is left of each element as an integer of so many steps, and whether that is within bounds."""
    step = scale if isinstance(scale, torch.Tensor) else torch.full((), scale, dtype=torch.float32, device=x.device)
    place = torch.round(x * step.reciprocal()) + zero
    return ((place.clamp(low, high) - zero) * step).to(x.dtype), (place >= low) & (place <= high)


def quantized_by_channel(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, axis: int, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor]:
    shape = [-1 if d == axis % x.ndim else 1 for d in range(x.ndim)]
    return quantized(x, scale.reshape(shape), zero.reshape(shape), low, high)


def taken_apart() -> dict[Any, Callable[..., Any]]:
    """Functions of torch's operations by what they stand for."""
    return {
        aten._cdist_forward.default: distances,
        aten._cdist_backward.default: distances_backward,
        aten._trilinear.default: trilinear,
        aten.fake_quantize_per_channel_affine_cachemask.default: quantized_by_channel,
        aten.fake_quantize_per_tensor_affine_cachemask.default: quantized,
        aten.histc.default: histogram,
        aten._weight_norm_interface_backward.default: weight_norm_backward,
        aten.ldexp.Tensor: ldexp,
    }
