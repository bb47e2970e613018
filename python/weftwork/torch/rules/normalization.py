"""Normalisations: the result, and what the gradient needs of the statistics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...nn.functions import by_channel
from ..dtypes import widened
from ..table import cast, rule
from .creation import filled
from .pointwise import op
from .shapes import reshaped


def centered(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Normal values, mean, and one over the standard deviation; the statistics keep their axes."""
    mean = np.mean(x, axis=axes, keepdims=True)
    rest = x - mean
    rstd = op("rsqrt")(np.mean(rest * rest, axis=axes, keepdims=True) + eps)
    return rest * rstd, mean, rstd


def affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * cast(weight, x.dtype)
    return x if bias is None else x + cast(bias, x.dtype)


@rule("native_layer_norm")
def layer_norm(want: Any, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    normal, mean, rstd = centered(cast(x, widened(x.dtype)), axes, eps)
    return cast(affine(normal, weight, bias), want[0].dtype), cast(mean, want[1].dtype), cast(rstd, want[2].dtype)


@rule("_fused_rms_norm")
def rms_norm(want: Any, x: Any, shape: Any, weight: Any, eps: float | None) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    wide = cast(x, widened(x.dtype))
    least = eps if eps is not None else float(np.finfo(widened(x.dtype)).eps)
    rstd = op("rsqrt")(np.mean(wide * wide, axis=axes, keepdims=True) + least)
    return cast(affine(wide * rstd, weight, None), want[0].dtype), cast(rstd, want[1].dtype)


@rule("native_group_norm")
def group_norm(
    want: Any, x: Any, weight: Any, bias: Any, n: Any, channels: Any, size: Any, groups: int, eps: float
) -> Any:
    wide = reshaped(cast(x, widened(x.dtype)), (n, groups, channels // groups * size))
    normal, mean, rstd = centered(wide, (2,), eps)
    normal = reshaped(normal, x.shape)
    result = affine(normal, by_channel(weight, x), by_channel(bias, x))
    return (
        cast(result, want[0].dtype),
        cast(reshaped(mean, (n, groups)), want[1].dtype),
        cast(reshaped(rstd, (n, groups)), want[2].dtype),
    )


def with_statistics(x: Any, weight: Any, bias: Any, mean: Any, rstd: Any) -> Any:
    normal = (cast(x, widened(x.dtype)) - by_channel(mean, x)) * by_channel(rstd, x)
    return affine(normal, by_channel(weight, x), by_channel(bias, x))


@rule("_native_batch_norm_legit_no_training")
def batch_norm_inference(
    want: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> Any:
    wide = widened(x.dtype)
    rstd = 1 / np.sqrt(cast(variance, wide) + eps)
    result = with_statistics(x, weight, bias, cast(mean, wide), rstd)
    return cast(result, want[0].dtype), filled(want[1], 0), filled(want[2], 0)


def batch_statistics(x: Any, eps: float) -> tuple[Any, Any, Any, Any]:
    """Mean, one over the standard deviation, variance and number of elements of each channel."""
    axes = (0, *range(2, x.ndim))
    mean = np.mean(x, axis=axes)
    rest = x - by_channel(mean, x)
    variance = np.mean(rest * rest, axis=axes)
    return mean, op("rsqrt")(variance + eps), variance, math.prod(x.shape[axis] for axis in axes)


def moved(want: Any, running: Any, value: Any, momentum: float) -> Any:
    return cast(value * momentum + cast(running, value.dtype) * (1 - momentum), want.dtype)


@rule("_native_batch_norm_legit_functional")
def batch_norm_training(
    want: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: float, eps: float
) -> Any:
    if not training:
        result = batch_norm_inference(want, x, weight, bias, mean, variance, momentum, eps)
        return (*result, cast(mean, want[3].dtype), cast(variance, want[4].dtype))
    wide = cast(x, widened(x.dtype))
    now, rstd, spread, count = batch_statistics(wide, eps)
    result = with_statistics(x, weight, bias, now, rstd)
    unbiased = spread * (cast(count, spread.dtype) / cast(count - 1, spread.dtype))
    return (
        cast(result, want[0].dtype),
        cast(now, want[1].dtype),
        cast(rstd, want[2].dtype),
        moved(want[3], mean, now, momentum),
        moved(want[4], variance, unbiased, momentum),
    )


@rule("_native_batch_norm_legit.no_stats")
def batch_norm_without(want: Any, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    now, rstd, _, _ = batch_statistics(cast(x, widened(x.dtype)), eps)
    result = with_statistics(x, weight, bias, now, rstd)
    return cast(result, want[0].dtype), cast(now, want[1].dtype), cast(rstd, want[2].dtype)
