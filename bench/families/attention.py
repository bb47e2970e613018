"""Attention as it is written in NumPy: causal over a prompt, and one query over the keys so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import EXP, bf16, f32, family, normal

declare = family("attention")
F: Any = None
HEADS, DEPTH, PROMPT, KEYS = 16, 64, 1024, 2048


def softmax(scores: Any, dtype: Any) -> Any:
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(dtype)


def causal(q: Any, k: Any, v: Any) -> Any:
    scores = (q @ k.swapaxes(-1, -2)).astype(np.float32) * np.float32(DEPTH**-0.5)
    count = q.shape[-2]
    scores = np.where(np.tril(np.ones((count, count), bool)), scores, np.float32(-np.inf))
    return (softmax(scores, v.dtype) @ v).astype(v.dtype)


def decode(q: Any, k: Any, v: Any) -> Any:
    scores = (q @ k.swapaxes(-1, -2)).astype(np.float32) * np.float32(DEPTH**-0.5)
    return (softmax(scores, v.dtype) @ v).astype(v.dtype)


for suffix, dtype in {"f32": f32, "bf16": bf16}.items():
    declare(
        f"attention causal 16x1024x64 {suffix}",
        causal,
        lambda dtype=dtype: tuple(normal(HEADS, PROMPT, DEPTH, dtype=dtype) for _ in range(3)),
        torch=lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0],
        flops=HEADS * PROMPT * PROMPT / 2 * 4 * DEPTH,
        peak=suffix,
        skip={"numpy": "bfloat16 products take NumPy seconds"} if dtype == bf16 else {},
    )
    declare(
        f"attention decode 16x2048x64 {suffix}",
        decode,
        lambda dtype=dtype: tuple(normal(HEADS, count, DEPTH, dtype=dtype) for count in (1, KEYS, KEYS)),
        torch=lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
        flops=HEADS * KEYS * (4 * DEPTH + EXP),
    )
