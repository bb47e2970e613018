"""Attention with a cache of keys and values, and rotary positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentValueError
from ..lazy import asarray
from .dense import Linear
from .functions import scaled_dot_product_attention
from .module import Module

__all__ = ["Attention", "KVCache", "RotaryEmbedding"]


class KVCache(NamedTuple):
    """Keys and values (batch, key heads, longest, head features) of what came before, and how many there are (an int64)."""

    keys: Any
    values: Any
    length: Any

    def appended(self, keys: Any, values: Any) -> KVCache:
        """With more keys and values (batch, key heads, n, head features) after those that there are."""
        n = keys.shape[2]
        places = self.length + np.arange(n)
        made = [old.copy() for old in (self.keys, self.values)]
        for old, new in zip(made, (keys, values), strict=True):
            old[:, :, places] = new.astype(old.dtype)
        return KVCache(made[0], made[1], self.length + n)


class RotaryEmbedding(Module):
    """Turns pairs of features by angles that grow with the position; Su et al., 2021.

    Pairs are features i and i + features / 2, or 2i and 2i + 1 where ``interleaved``.
    """

    def __init__(self, features: int, base: float = 10000.0, interleaved: bool = False) -> None:
        if features < 2 or features % 2:
            raise ArgumentValueError(f"RotaryEmbedding: features come in pairs, got {features}  [rotary_features]")
        self.features, self.base, self.interleaved = features, base, interleaved

    def forward(self, x: Any, positions: Any) -> Any:
        """``x`` is (..., n, features), ``positions`` (n,) or (..., n)."""
        speeds = (1 / self.base ** (np.arange(0, self.features, 2) / self.features)).astype(np.float32)
        angles = positions.astype(np.float32)[..., None] * speeds
        cos, sin = np.cos(angles), np.sin(angles)
        first, second = (x[..., ::2], x[..., 1::2]) if self.interleaved else np.split(x, 2, axis=-1)
        turned = first * cos - second * sin, second * cos + first * sin
        result = np.stack(turned, -1).reshape(x.shape) if self.interleaved else np.concatenate(turned, -1)
        return result.astype(x.dtype)


class Attention(Module):
    """Attention of several heads over (batch, n, features): q_proj, k_proj, v_proj and o_proj are linear layers.

    ``key_heads`` are fewer heads of keys and values, each for several of queries (Ainslie et al., 2023). ``rotary`` is the base of
    rotary positions, or None. With a cache the result is a pair: what is computed, and the cache with the new keys.
    """

    def __init__(
        self,
        features: int,
        heads: int,
        key_heads: int | None = None,
        head_features: int | None = None,
        bias: bool = True,
        rotary: float | None = None,
        dtype: Any = np.float32,
        *,
        key: Any = None,
    ) -> None:
        key_heads = heads if key_heads is None else key_heads
        if heads < 1 or key_heads < 1 or heads % key_heads or (head_features is None and features % heads):
            raise ArgumentValueError(
                f"Attention: {features} features, {heads} heads of queries, {key_heads} of keys  [attention_heads]"
            )
        self.heads, self.key_heads = heads, key_heads
        self.head_features = features // heads if head_features is None else head_features
        wide, narrow = heads * self.head_features, key_heads * self.head_features
        keys = [None] * 4 if key is None else [4 * int(key) + i for i in range(4)]
        self.q_proj = Linear(features, wide, bias, dtype, key=keys[0])
        self.k_proj = Linear(features, narrow, bias, dtype, key=keys[1])
        self.v_proj = Linear(features, narrow, bias, dtype, key=keys[2])
        self.o_proj = Linear(wide, features, bias, dtype, key=keys[3])
        self.rotary = None if rotary is None else RotaryEmbedding(self.head_features, rotary)

    def make_cache(self, batch: int, longest: int) -> KVCache:
        """An empty cache for so many positions."""
        zeros = np.zeros((batch, self.key_heads, longest, self.head_features), self.k_proj.weight.dtype)
        return KVCache(asarray(zeros), asarray(zeros), asarray(np.int64(0)))

    def forward(self, x: Any, mask: Any = None, *, is_causal: bool = False, cache: KVCache | None = None) -> Any:
        batch, n = x.shape[0], x.shape[1]
        q, k, v = (
            layer(x).reshape(batch, n, -1, self.head_features).transpose(0, 2, 1, 3)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        places = np.arange(n) if cache is None else cache.length + np.arange(n)
        if self.rotary is not None:
            q, k = self.rotary(q, places), self.rotary(k, places)
        if cache is not None:
            cache = cache.appended(k, v)
            k, v = cache.keys, cache.values
            seen = np.arange(k.shape[2]) <= places[:, None] if is_causal else np.arange(k.shape[2]) < cache.length
            mask = seen if mask is None else seen & mask if mask.dtype == bool else np.where(seen, mask, -np.inf)
        result = scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal and cache is None)
        result = self.o_proj(result.transpose(0, 2, 1, 3).reshape(batch, n, -1))
        return result if cache is None else (result, cache)
