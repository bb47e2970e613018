"""BERT base over 128 tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import EXP, bf16, f32, family, integers, normal

declare = family("bert")
F: Any = None
LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, TOKENS = 12, 768, 12, 3072, 30522, 128
DEPTH = WIDTH // HEADS
SHAPES = {
    "query": (WIDTH, WIDTH),
    "key": (WIDTH, WIDTH),
    "value": (WIDTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "up": (HIDDEN, WIDTH),
    "down": (WIDTH, HIDDEN),
}


def weights(dtype: np.dtype) -> dict[str, np.ndarray]:
    """Weights as checkpoints have them: outputs before inputs."""
    made = {"token": normal(VOCABULARY, WIDTH, dtype=dtype), "position": normal(TOKENS, WIDTH, dtype=dtype)}

    def norm(name: str) -> None:
        made[f"{name}_scale"] = (1 + normal(WIDTH, scale=0.1)).astype(dtype)
        made[f"{name}_shift"] = normal(WIDTH, dtype=dtype, scale=0.1)

    norm("embedding")
    for layer in range(LAYERS):
        for name, shape in SHAPES.items():
            made[f"{layer}_{name}_weight"] = normal(*shape, dtype=dtype, scale=shape[1] ** -0.5)
            made[f"{layer}_{name}_bias"] = normal(shape[0], dtype=dtype, scale=0.1)
        norm(f"{layer}_middle")
        norm(f"{layer}_end")
    return made


def linear(w: Any, name: str, x: Any) -> Any:
    return (x @ w[f"{name}_weight"].T).astype(x.dtype) + w[f"{name}_bias"]


def layer_norm(w: Any, name: str, x: Any) -> Any:
    wide = x.astype(np.float32)
    c = wide - wide.mean(axis=-1, keepdims=True)
    return (c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-12)).astype(x.dtype) * w[f"{name}_scale"] + w[
        f"{name}_shift"
    ]


def gelu(x: Any) -> Any:
    y = x.astype(np.float32)
    return (0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))).astype(x.dtype)


def bert(w: Any, tokens: Any) -> Any:
    """The last hidden states."""
    x = layer_norm(w, "embedding", np.take(w["token"], tokens, axis=0) + w["position"])
    for layer in range(LAYERS):
        q, k, v = (
            linear(w, f"{layer}_{name}", x).reshape(TOKENS, HEADS, DEPTH).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = (q @ k.swapaxes(-1, -2)).astype(np.float32) * np.float32(DEPTH**-0.5)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p = (e / e.sum(axis=-1, keepdims=True)).astype(x.dtype)
        mixed = (p @ v).astype(x.dtype).transpose(1, 0, 2).reshape(TOKENS, WIDTH)
        x = layer_norm(w, f"{layer}_middle", x + linear(w, f"{layer}_out", mixed))
        x = layer_norm(w, f"{layer}_end", x + linear(w, f"{layer}_down", gelu(linear(w, f"{layer}_up", x))))
    return x


def torch_bert(w: Any, tokens: Any) -> Any:
    def dense(name: str, x: Any) -> Any:
        return F.linear(x, w[f"{name}_weight"], w[f"{name}_bias"])

    def norm(name: str, x: Any) -> Any:
        return F.layer_norm(x, (WIDTH,), w[f"{name}_scale"], w[f"{name}_shift"], 1e-12)

    x = norm("embedding", F.embedding(tokens, w["token"]) + w["position"])
    for layer in range(LAYERS):
        q, k, v = (
            dense(f"{layer}_{n}", x).view(TOKENS, HEADS, DEPTH).transpose(0, 1)[None] for n in ("query", "key", "value")
        )
        mixed = F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).reshape(TOKENS, WIDTH)
        x = norm(f"{layer}_middle", x + dense(f"{layer}_out", mixed))
        hidden = F.gelu(dense(f"{layer}_up", x), approximate="tanh")
        x = norm(f"{layer}_end", x + dense(f"{layer}_down", hidden))
    return x


LAYER_WEIGHTS = sum(a * b for a, b in SHAPES.values()) * LAYERS
for suffix, dtype in {"f32": f32, "bf16": bf16}.items():
    declare(
        f"bert base 128 {suffix}",
        bert,
        lambda: (integers(0, VOCABULARY, TOKENS),),
        weights=lambda dtype=dtype: weights(dtype),
        torch=torch_bert,
        flops=2.0 * LAYER_WEIGHTS * TOKENS + LAYERS * TOKENS * TOKENS * (4.0 * WIDTH + HEADS * EXP),
        peak=suffix,
        moved=((LAYER_WEIGHTS + 2 * TOKENS * WIDTH) * dtype.itemsize, TOKENS * WIDTH * dtype.itemsize),
        tolerance=1e-4 if dtype == f32 else 6e-2,
        skip={"numpy": "bfloat16 products take NumPy minutes"} if dtype == bf16 else {},
    )
