"""Samples of images and volumes at the places of a grid, taken apart: the sum over the elements around each place, by weight."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

__all__ = ["of_grids"]

aten = torch.ops.aten
BILINEAR, NEAREST = 0, 1
ZEROS, BORDER = 0, 1
CUBIC = -0.75  # torch's


class Taps(NamedTuple):
    """Along one axis: the elements around each place, whether there are such, their weights, and the slopes of these by the grid."""

    at: list[torch.Tensor]
    exist: list[torch.Tensor]
    weights: list[Any]
    slopes: list[Any]


def padded(place: torch.Tensor, size: Any, padding: int, align: bool) -> tuple[torch.Tensor, Any]:
    """A place brought into the image, and the slope of that."""
    slope: Any = 1.0
    if padding == ZEROS:
        return place, slope
    if padding != BORDER:
        # Of one element there is none to reflect at: any span will do.
        low, span = (0.0, torch.sym_max(size - 1, 1)) if align else (-0.5, size)
        away = (place - low).abs()
        flips = torch.floor(away / span)
        rest, is_odd = torch.fmod(away, span), flips.remainder(2) == 1
        slope = torch.where(is_odd != (place < low), -1.0, 1.0)
        place = torch.where(is_odd, span - rest, rest) + low
    return place.clamp(0, size - 1), torch.where((place <= 0) | (place >= size - 1), 0.0, slope)


def cubic(t: torch.Tensor) -> tuple[list[Any], list[Any]]:
    """Weights of four elements, of which the second is t before the place, and their slopes."""
    inner = lambda s: ((CUBIC + 2) * s - (CUBIC + 3)) * s * s + 1
    outer = lambda s: ((CUBIC * s - 5 * CUBIC) * s + 8 * CUBIC) * s - 4 * CUBIC
    inner_slope = lambda s: (3 * (CUBIC + 2) * s - 2 * (CUBIC + 3)) * s
    outer_slope = lambda s: (3 * CUBIC * s - 10 * CUBIC) * s + 8 * CUBIC
    weights = [outer(t + 1), inner(t), inner(1 - t), outer(2 - t)]
    return weights, [outer_slope(t + 1), inner_slope(t), -inner_slope(1 - t), -outer_slope(2 - t)]


def taps_of(grid: torch.Tensor, size: Any, mode: int, padding: int, align: bool) -> Taps:
    half = (size - 1) / 2 if align else size / 2
    place = (grid + 1) * half if align else (grid + 1) * half - 0.5
    if mode in (BILINEAR, NEAREST):
        place, slope = padded(place, size, padding, align)
        half = half * slope
    if mode == NEAREST:
        at, weights, slopes = [place.round()], [torch.ones_like(place)], [torch.zeros_like(place)]
    else:
        first = torch.floor(place)
        t = place - first
        if mode == BILINEAR:
            at, weights, slopes = [first, first + 1], [1 - t, t], [-torch.ones_like(t), torch.ones_like(t)]
        else:
            weights, slopes = cubic(t)
            at = [padded(first + i, size, padding, align)[0] for i in range(-1, 3)]
    exist = [(p >= 0) & (p <= size - 1) for p in at]
    at = [torch.where(e, p, 0).to(torch.int64) for p, e in zip(at, exist, strict=True)]
    return Taps(at, exist, weights, [s * half for s in slopes])


def around(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool) -> Any:
    """For each element around the places where it is in the image's memory, and its taps as (axis, number) pairs."""
    sizes = x.shape[2:]
    axes = [taps_of(grid[..., -1 - i], size, mode, padding, align) for i, size in enumerate(sizes)]
    for numbers in itertools.product(*(range(len(taps.at)) for taps in axes)):
        chosen = list(zip(axes, numbers, strict=True))
        index, exist = torch.zeros_like(axes[0].at[0]), None
        for (taps, i), size in zip(chosen, sizes, strict=True):
            index = index * size + taps.at[i]
            exist = taps.exist[i] if exist is None else exist & taps.exist[i]
        yield index.flatten(1).unsqueeze(1), exist.flatten(1).unsqueeze(1), chosen  # type: ignore[union-attr]


def product(factors: Any) -> torch.Tensor:
    return math.prod(factors).flatten(1).unsqueeze(1)  # type: ignore[attr-defined]


def elements(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Those of all channels."""
    flat = x.flatten(2)
    return flat.gather(2, index.expand(-1, flat.shape[1], -1))


def wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()


def sample(x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool) -> torch.Tensor:
    big = wide(x)
    result: Any = 0
    for index, exist, chosen in around(x, wide(grid), mode, padding, align):
        # Weights of places that are no numbers count where there are elements only.
        part = elements(big, index) * product(taps.weights[i] for taps, i in chosen)
        result = result + torch.where(exist, part, 0)
    return result.reshape(*x.shape[:2], *grid.shape[1:-1]).to(x.dtype)


def sample_backward(
    gradient: torch.Tensor, x: torch.Tensor, grid: torch.Tensor, mode: int, padding: int, align: bool, mask: Any
) -> tuple[Any, Any]:
    """The gradients of the image and of the grid."""
    big, flow = wide(x), wide(gradient).flatten(2)
    to_image, by_axis = torch.zeros_like(big.flatten(2)), [torch.zeros_like(flow[:, :1]) for _ in x.shape[2:]]
    for index, exist, chosen in around(x, wide(grid), mode, padding, align):
        if mask[0]:
            part = torch.where(exist, flow * product(taps.weights[i] for taps, i in chosen), 0)
            to_image = to_image.scatter_add(2, index.expand_as(part), part)
        if mask[1] and mode != NEAREST:
            share = torch.where(exist, (flow * elements(big, index)).sum(1, keepdim=True), 0)
            for axis in range(len(by_axis)):
                slope = product(t.slopes[i] if k == axis else t.weights[i] for k, (t, i) in enumerate(chosen))
                by_axis[axis] = by_axis[axis] + (torch.where(exist, share * slope, 0) if x.ndim == 5 else share * slope)
    to_grid = torch.cat(by_axis[::-1], 1).mT.reshape(grid.shape)
    return to_image.reshape(x.shape).to(x.dtype) if mask[0] else None, to_grid.to(grid.dtype) if mask[1] else None


def of_grids() -> dict[Any, Callable[..., Any]]:
    """What torch has whole; of images it takes the samples apart by itself."""
    return {
        aten.grid_sampler_2d_backward.default: sample_backward,
        aten.grid_sampler_3d.default: sample,
        aten.grid_sampler_3d_backward.default: sample_backward,
    }
