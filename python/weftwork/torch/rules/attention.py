"""Attention, which stays whole until here so that its kernel is found, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...nn.functions import scaled_dot_product_attention, wide
from ..table import cast, rule
from .creation import iota
from .pointwise import real_only
from .shapes import reshaped


def without_dropout(query: Any, key: Any, value: Any, dropout: float = 0.0, *rest: Any, **kwargs: Any) -> bool:
    return dropout == 0.0 and real_only(query) and query.ndim == 4


def masked(scores: Any, mask: Any, is_causal: bool) -> Any:
    if is_causal:
        shape = scores.shape[-2:]
        scores = np.where(iota(shape, 1) <= iota(shape, 0), scores, cast(-math.inf, scores.dtype))
    if mask is None:
        return scores
    if mask.dtype == bool:
        return np.where(mask, scores, cast(-math.inf, scores.dtype))
    return scores + cast(mask, scores.dtype)


def each_head(query: Any, shared: Any) -> Any:
    """Keys or values that several heads of queries share, for each of these heads."""
    heads, groups = query.shape[-3], shared.shape[-3]
    return shared if isinstance(heads, int) and heads == groups else np.repeat(shared, heads // groups, axis=-3)


def of_groups(query: Any, shared: Any, gradient: Any) -> Any:
    """The gradient of what heads share, from that of each head."""
    heads, groups = query.shape[-3], shared.shape[-3]
    if isinstance(heads, int) and heads == groups:
        return gradient
    apart = reshaped(gradient, (*gradient.shape[:-3], groups, heads // groups, *gradient.shape[-2:]))
    return np.sum(wide(apart), axis=-3)


def scores_of(query: Any, key: Any, mask: Any, is_causal: bool, scale: float | None) -> Any:
    key = each_head(query, key)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return masked(wide(query @ np.swapaxes(key, -1, -2)) * scale, mask, is_causal)


@rule("_scaled_dot_product_flash_attention_for_cpu", accepts=without_dropout)
def attention(
    want: Any,
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> Any:
    """The result, and the logarithm of the sums, which nobody computes who does not ask for it."""
    scores = scores_of(query, key, attn_mask, is_causal, scale)
    greatest = np.max(scores, axis=-1, keepdims=True)
    sums = np.log(np.sum(np.exp(scores - greatest), axis=-1, keepdims=True)) + greatest
    attn_mask, is_causal = aligned(query, key, attn_mask, is_causal)
    result = scaled_dot_product_attention(query, key, value, attn_mask, is_causal=is_causal, scale=scale)
    return cast(result, want[0].dtype), cast(sums[..., 0], want[1].dtype)


def without_any_dropout(
    query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, *rest: Any, **kwargs: Any
) -> bool:
    return dropout == 0.0 and real_only(query) and query.ndim > 2


@rule("scaled_dot_product_attention", accepts=without_any_dropout)
def whole_attention(
    want: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Programs of torch.export have it in this form."""
    mask, is_causal = aligned(query, key, mask, is_causal)
    return cast(scaled_dot_product_attention(query, key, value, mask, is_causal=is_causal, scale=scale), want.dtype)


def aligned(query: Any, key: Any, mask: Any, is_causal: bool) -> tuple[Any, bool]:
    """Mask and causality; in torch rows and columns count from the same corner."""
    n, m = query.shape[-2], key.shape[-2]
    if is_causal and (not isinstance(n, int) or n != m):
        return iota((n, m), 1) <= iota((n, m), 0), False
    return mask, is_causal


@rule(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    accepts=lambda g, q, k, v, out, sums, dropout, *rest, **kwargs: dropout == 0.0 and real_only(q),
)
def attention_backward(
    want: Any,
    gradient: Any,
    query: Any,
    key: Any,
    value: Any,
    out: Any,
    sums: Any,
    dropout: float,
    is_causal: bool,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> Any:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = scores_of(query, key, attn_mask, is_causal, scale)
    shares = np.exp(scores - cast(sums, scores.dtype)[..., None])
    back = wide(gradient @ np.swapaxes(each_head(query, value), -1, -2))
    mean = np.sum(wide(gradient) * wide(out), axis=-1, keepdims=True)
    change = cast(shares * (back - mean) * factor, query.dtype)
    for_query = change @ each_head(query, key)
    for_key = of_groups(query, key, np.swapaxes(change, -1, -2) @ query)
    for_value = of_groups(query, value, np.swapaxes(cast(shares, value.dtype), -1, -2) @ gradient)
    return tuple(cast(x, w.dtype) for x, w in zip((for_query, for_key, for_value), want, strict=True))
