"""What layers compute, as functions of tensors, of traced arrays and of NumPy's: activations, normalisations, attention."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentValueError
from ..lazy.functions import is_extent
from ..numpy.functions import erf
from ..numpy.windows import SHORT

__all__ = [
    "batch_norm", "celu", "dropout", "elu", "gelu", "glu", "group_norm", "hardsigmoid", "hardswish", "hardtanh", "layer_norm", "leaky_relu",
    "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "selu", "sigmoid", "silu",
    "softmax", "softplus", "softsign", "tanh",
]  # fmt: skip


def wide(x: Any) -> Any:
    """Short floats as float32, in which sums of them are made."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of x that computes short floats in float32 and gives their dtype again."""

    @functools.wraps(function)
    def as_given(x: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(x, "dtype", None) not in SHORT:
            return function(x, *args, **kwargs)
        return function(wide(x), *args, **kwargs).astype(x.dtype)

    return as_given


def from_zero(index: Any, count: int) -> Any:
    """Places of ``count``, those below 0 as others that lie outside: they do not count from the end."""
    if index.dtype.kind != "i":
        return index
    index = index.astype(np.int64)
    return np.where(index < 0, index - count, index)


# -- activations ---------------------------------------------------------------------------------------------------


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return np.maximum(x, 0)


@of_floats
def relu6(x: Any) -> Any:
    """x between 0 and 6."""
    return np.clip(x, 0, 6)


@of_floats
def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """x, or a part of it where it is negative."""
    return np.where(x >= 0, x, x * negative_slope)


@of_floats
def elu(x: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, else alpha (exp(x) - 1); Clevert et al., 2015."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@of_floats
def celu(x: Any, alpha: float = 1.0) -> Any:
    """max(x, 0) + min(alpha (exp(x / alpha) - 1), 0); Barron, 2017."""
    return np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0) / alpha)


@of_floats
def selu(x: Any) -> Any:
    """A scaled elu that keeps mean and variance; Klambauer et al., 2017."""
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


@of_floats
def gelu(x: Any, approximate: str = "none") -> Any:
    """x times the normal distribution function; Hendrycks and Gimpel, 2016. ``approximate="tanh"`` is their other form."""
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    if approximate != "none":
        raise ArgumentValueError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}  [approximate]")
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


@of_floats
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


@of_floats
def silu(x: Any) -> Any:
    """x sigmoid(x), also called swish."""
    return x / (1 + np.exp(-x))


@of_floats
def softplus(x: Any, beta: float = 1.0) -> Any:
    """log(1 + exp(beta x)) / beta, without overflow."""
    return np.logaddexp(x * beta, np.zeros_like(x)) / beta


@of_floats
def mish(x: Any) -> Any:
    """x tanh(softplus(x)); Misra, 2019."""
    return x * np.tanh(softplus(x))


@of_floats
def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)), without overflow."""
    return -softplus(-x)


@of_floats
def hardtanh(x: Any, low: float = -1.0, high: float = 1.0) -> Any:
    """x between low and high."""
    return np.clip(x, low, high)


@of_floats
def hardsigmoid(x: Any) -> Any:
    """x / 6 + 1/2, between 0 and 1."""
    return np.clip(x + 3, 0, 6) / 6


@of_floats
def hardswish(x: Any) -> Any:
    """x hardsigmoid(x); Howard et al., 2019."""
    return x * hardsigmoid(x)


@of_floats
def softsign(x: Any) -> Any:
    """x / (1 + |x|)."""
    return x / (1 + np.abs(x))


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


@of_floats
def glu(x: Any, axis: int = -1) -> Any:
    """The first half times the sigmoid of the second; Dauphin et al., 2016."""
    if x.shape[axis] % 2:
        raise ArgumentValueError(f"glu: axis {axis} of shape {x.shape} has no halves  [glu_extent]")
    first, second = np.split(x, 2, axis)
    return first * sigmoid(second)


def softmax(x: Any, axis: int = -1) -> Any:
    """exp(x) over its sum along the axis, without overflow; short floats in float32."""
    if is_extent(x.size, 0):
        return x
    a = wide(x)
    power = np.exp(a - np.max(a, axis=axis, keepdims=True))
    return (power / np.sum(power, axis=axis, keepdims=True)).astype(x.dtype)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of softmax, without overflow."""
    if is_extent(x.size, 0):
        return x
    a = wide(x)
    a = a - np.max(a, axis=axis, keepdims=True)
    return (a - np.log(np.sum(np.exp(a), axis=axis, keepdims=True))).astype(x.dtype)


# -- layers without state ------------------------------------------------------------------------------------------


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias, of ``weight`` (out, in)."""
    result = x @ weight.T
    result = result if bias is None else result + bias
    return result.astype(np.result_type(x.dtype, weight.dtype))


def scaled(x: Any, weight: Any, bias: Any, dtype: Any) -> Any:
    x = x if weight is None else x * wide(weight)
    x = x if bias is None else x + wide(bias)
    return x.astype(dtype)


def last_axes(name: str, x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The last axes, which must have these extents."""
    axes = tuple(range(-len(shape), 0))
    if tuple(x.shape[len(x.shape) - len(axes) :]) != shape:
        raise ArgumentValueError(f"{name}: the last dimensions must be {shape}, got shape {x.shape}  [norm_shape]")
    return axes


def layer_norm(x: Any, shape: int | Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The last dimensions, of that shape, with mean 0 and variance 1, times weight plus bias; Ba et al., 2016."""
    axes = last_axes("layer_norm", x, extents(shape))
    a = wide(x)
    centered = a - np.mean(a, axis=axes, keepdims=True)
    variance = np.mean(centered * centered, axis=axes, keepdims=True)
    return scaled(centered / np.sqrt(variance + eps), weight, bias, x.dtype)


def rms_norm(x: Any, weight: Any = None, eps: float = 1e-6, shape: int | Sequence[int] | None = None) -> Any:
    """The last dimension, or those of that shape, over the root of the mean square, times weight; Zhang and Sennrich, 2019."""
    axes = (-1,) if shape is None else last_axes("rms_norm", x, extents(shape))
    a = wide(x)
    return scaled(a / np.sqrt(np.mean(a * a, axis=axes, keepdims=True) + eps), weight, None, x.dtype)


def group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Groups of channels of (batch, channels, ...) with mean 0 and variance 1, channels times weight plus bias; Wu and He, 2018."""
    if groups < 1 or x.shape[1] % groups:
        raise ArgumentValueError(f"group_norm: {groups} groups of {x.shape[1]} channels  [norm_groups]")
    a = wide(x).reshape(x.shape[0], groups, -1)
    centered = a - np.mean(a, axis=2, keepdims=True)
    variance = np.mean(centered * centered, axis=2, keepdims=True)
    normal = (centered / np.sqrt(variance + eps)).reshape(x.shape)
    return scaled(normal, by_channel(weight, x), by_channel(bias, x), x.dtype)


def batch_norm(x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Channels of (batch, channels, ...) minus mean, over the root of variance, times weight plus bias; Ioffe and Szegedy, 2015."""
    scale = 1 / np.sqrt(wide(variance) + eps)
    normal = (wide(x) - by_channel(wide(mean), x)) * by_channel(scale, x)
    return scaled(normal, by_channel(weight, x), by_channel(bias, x), x.dtype)


def by_channel(value: Any, x: Any) -> Any:
    """A vector of the channels of (batch, channels, ...) in the shape that broadcasts."""
    return None if value is None else value.reshape((-1, *(1,) * (x.ndim - 2)))


@of_floats
def dropout(x: Any, rate: float, key: Any) -> Any:
    """Elements that are 0 with the probability ``rate``, and others over 1 - rate; ``key`` is one of ``wf.random``."""
    from ..random import bernoulli

    if not 0 <= rate <= 1:
        raise ArgumentValueError(f"dropout: rate is a probability, got {rate}  [dropout_rate]")
    if rate == 1:
        return x * 0
    kept = bernoulli(key, 1 - rate, x.shape)
    return np.where(kept, x / (1 - rate), np.zeros_like(x))


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, mask: Any = None, *, is_causal: bool = False, scale: float | None = None
) -> Any:
    """softmax(query key' scale + mask) value; Vaswani et al., 2017.

    ``query`` is (..., heads, n, d), ``key`` and ``value`` (..., key heads, m, d) with a number of heads that divides the query's.
    ``mask`` broadcasts to (..., heads, n, m): booleans are what is looked at, floats are added. ``is_causal``: query i looks at
    keys up to i + m - n. ``scale`` is 1 / sqrt(d) where it is not given. A query that looks at nothing gives NaN.
    """
    if query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        groups = query.shape[-3] // max(key.shape[-3], 1)
        if groups * key.shape[-3] != query.shape[-3]:
            raise ArgumentValueError(
                f"attention: {query.shape[-3]} heads of queries and {key.shape[-3]} of keys  [attention_heads]"
            )
        if is_extent(query.shape[-2], 1) and (mask is None or mask.ndim < 3 or mask.shape[-3] == 1):
            # The queries of a group stand below each other: keys and values are read once for all of them.
            lead, (n, d) = query.shape[:-3], query.shape[-2:]
            rows = query.reshape(*lead, key.shape[-3], groups * n, d)
            result = scaled_dot_product_attention(rows, key, value, mask, is_causal=False, scale=scale)
            return result.reshape(*query.shape[:-1], value.shape[-1])
        key, value = np.repeat(key, groups, axis=-3), np.repeat(value, groups, axis=-3)
    scores = wide(query @ np.swapaxes(key, -1, -2)) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        n, m = scores.shape[-2:]
        scores = np.where(np.arange(m) <= np.arange(n)[:, None] + (m - n), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return (softmax(scores).astype(value.dtype) @ value).astype(value.dtype)


def extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
