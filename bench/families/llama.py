"""A Llama-style decoder of 123 million weights: a prompt of 128 tokens, and one token over 512 cached ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import bf16, f32, family, integers, normal

declare = family("llama")
F: Any = None
torch: Any = None
jax: Any = None
LAYERS, WIDTH, HEADS, GROUPS, HIDDEN, VOCABULARY = 8, 1024, 16, 4, 2816, 32000
DEPTH, PROMPT, CONTEXT = WIDTH // HEADS, 128, 512
SHAPES = {
    "query": (WIDTH, WIDTH),
    "key": (GROUPS * DEPTH, WIDTH),
    "value": (GROUPS * DEPTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "gate": (HIDDEN, WIDTH),
    "up": (HIDDEN, WIDTH),
    "down": (WIDTH, HIDDEN),
}


def weights(dtype: np.dtype) -> dict[str, np.ndarray]:
    """Weights as checkpoints have them: outputs before inputs."""
    made = {"embedding": normal(VOCABULARY, WIDTH, dtype=dtype), "norm": 1 + normal(WIDTH, dtype=dtype, scale=0.1)}
    for layer in range(LAYERS):
        for name, shape in SHAPES.items():
            made[f"{name}{layer}"] = normal(*shape, dtype=dtype, scale=shape[1] ** -0.5)
        for name in ("norm_a", "norm_b"):
            made[f"{name}{layer}"] = (1 + normal(WIDTH, scale=0.1)).astype(dtype)
    return made


def put(cache: Any, index: Any, value: Any) -> Any:
    """Writes in place, as NumPy does; jax.numpy cannot."""
    if jax is not None:
        return cache.at[index].set(value)
    cache[index] = value
    return cache


def linear(x: Any, weight: Any) -> Any:
    return (x @ weight.T).astype(x.dtype)


def rms_norm(x: Any, scale: Any) -> Any:
    wide = x.astype(np.float32)
    return (wide / np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rotate(x: Any, position: Any) -> Any:
    """Rotary embedding of [tokens, heads, depth]."""
    rates = 10000.0 ** (-np.arange(0, DEPTH, 2, dtype=np.float32) / DEPTH)
    angles = position[:, None, None].astype(np.float32) * rates.astype(np.float32)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., : DEPTH // 2].astype(np.float32), x[..., DEPTH // 2 :].astype(np.float32)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1).astype(x.dtype)


def attend(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Grouped attention: q [tokens, heads, depth], k and v [keys, groups, depth]."""
    count = q.shape[0]
    q = q.reshape(count, GROUPS, HEADS // GROUPS, DEPTH).transpose(1, 2, 0, 3)
    scores = (q @ k.transpose(1, 2, 0)[:, None]).astype(np.float32) * np.float32(DEPTH**-0.5)
    scores = np.where(mask, scores, np.float32(-1e30))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = (e / e.sum(axis=-1, keepdims=True)).astype(v.dtype)
    mixed = (p @ v.transpose(1, 0, 2)[:, None]).astype(v.dtype)
    return mixed.transpose(2, 0, 1, 3).reshape(count, WIDTH)


def run(w: Any, tokens: Any, position: Any, cache: Any, places: Any, keys: int) -> tuple[Any, Any]:
    """Logits of the last token, and the cache [layers, 2, context, groups, depth] with these tokens in it."""
    x = np.take(w["embedding"], tokens, axis=0)
    mask = np.arange(keys)[None, :] <= position[:, None]
    for layer in range(LAYERS):
        y = rms_norm(x, w[f"norm_a{layer}"])
        q, k, v = (linear(y, w[f"{name}{layer}"]).reshape(len(tokens), -1, DEPTH) for name in ("query", "key", "value"))
        cache = put(cache, (layer, 0, places), rotate(k, position))
        cache = put(cache, (layer, 1, places), v)
        mixed = attend(rotate(q, position), cache[layer, 0, :keys], cache[layer, 1, :keys], mask)
        x = x + linear(mixed, w[f"out{layer}"])
        y = rms_norm(x, w[f"norm_b{layer}"])
        gate = linear(y, w[f"gate{layer}"])
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(y, w[f"up{layer}"]), w[f"down{layer}"])
    return linear(rms_norm(x[-1:], w["norm"]), w["embedding"]), cache


def prefill(w: Any, tokens: Any, cache: Any) -> Any:
    return run(w, tokens, np.arange(PROMPT), cache, slice(0, PROMPT), PROMPT)[0]


def decode(w: Any, tokens: Any, position: Any, cache: Any) -> Any:
    return run(w, tokens, position, cache, position, CONTEXT)[0]


def jax_prefill(w: Any, tokens: Any, cache: Any) -> Any:
    return run(w, tokens, np.arange(PROMPT), cache, slice(0, PROMPT), PROMPT)


def jax_decode(w: Any, tokens: Any, position: Any, cache: Any) -> Any:
    return run(w, tokens, position, cache, position, CONTEXT)


def torch_rotate(x: Any, position: Any) -> Any:
    rates = 10000.0 ** (-torch.arange(0, DEPTH, 2, dtype=torch.float32) / DEPTH)
    angles = position[:, None, None] * rates
    cos, sin = torch.cos(angles), torch.sin(angles)
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def torch_rms_norm(x: Any, scale: Any) -> Any:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * scale


def torch_run(w: Any, tokens: Any, position: Any, cache: Any, places: Any, keys: int) -> Any:
    x = F.embedding(tokens, w["embedding"])
    mask = torch.arange(keys)[None, :] <= position[:, None]
    for layer in range(LAYERS):
        y = torch_rms_norm(x, w[f"norm_a{layer}"])
        q, k, v = (F.linear(y, w[f"{n}{layer}"]).view(tokens.shape[0], -1, DEPTH) for n in ("query", "key", "value"))
        cache[layer, 0, places] = torch_rotate(k, position)
        cache[layer, 1, places] = v
        k, v = (cache[layer, i, :keys].transpose(0, 1)[None] for i in (0, 1))
        q = torch_rotate(q, position).transpose(0, 1)[None]
        grouped = not torch.onnx.is_in_onnx_export()
        if not grouped:
            k, v = (part.repeat_interleave(HEADS // GROUPS, 1) for part in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=grouped)[0].transpose(0, 1).reshape(-1, WIDTH)
        x = x + F.linear(mixed, w[f"out{layer}"])
        y = torch_rms_norm(x, w[f"norm_b{layer}"])
        gated = F.silu(F.linear(y, w[f"gate{layer}"])) * F.linear(y, w[f"up{layer}"])
        x = x + F.linear(gated, w[f"down{layer}"])
    return F.linear(torch_rms_norm(x[-1:], w["norm"]), w["embedding"])


def torch_prefill(w: Any, tokens: Any, cache: Any) -> Any:
    return torch_run(w, tokens, torch.arange(PROMPT), cache, slice(0, PROMPT), PROMPT)


def torch_decode(w: Any, tokens: Any, position: Any, cache: Any) -> Any:
    return torch_run(w, tokens, position, cache, position, CONTEXT)


LAYER_WEIGHTS = sum(a * b for a, b in SHAPES.values()) * LAYERS
HEAD_WEIGHTS = VOCABULARY * WIDTH
for suffix, dtype in {"f32": f32, "bf16": bf16}.items():
    cache_shape = (LAYERS, 2, CONTEXT, GROUPS, DEPTH)
    skip = {"numpy": "bfloat16 products take NumPy minutes"} if dtype == bf16 else {}
    read = (LAYER_WEIGHTS + HEAD_WEIGHTS) * dtype.itemsize
    cached = LAYERS * 2 * CONTEXT * GROUPS * DEPTH * dtype.itemsize
    fields = {"weights": lambda dtype=dtype: weights(dtype), "tolerance": 1e-4 if dtype == f32 else 6e-2, "skip": skip}
    declare(
        f"llama prefill 128 {suffix}",
        prefill,
        lambda dtype=dtype, shape=cache_shape: (
            integers(0, VOCABULARY, PROMPT),
            normal(*shape, dtype=dtype),
        ),
        torch=torch_prefill,
        jax=jax_prefill,
        written=(1,),
        flops=2.0 * (LAYER_WEIGHTS * PROMPT + HEAD_WEIGHTS) + LAYERS * 2.0 * PROMPT * PROMPT * WIDTH,
        peak=suffix,
        moved=(read, cached // CONTEXT * PROMPT),
        **fields,
    )
    declare(
        f"llama decode at 512 {suffix}",
        decode,
        lambda dtype=dtype, shape=cache_shape: (
            integers(0, VOCABULARY, 1),
            integers(CONTEXT - 1, CONTEXT, 1),
            normal(*shape, dtype=dtype),
        ),
        torch=torch_decode,
        jax=jax_decode,
        written=(2,),
        flops=2.0 * (LAYER_WEIGHTS + HEAD_WEIGHTS),
        peak=suffix,
        moved=(read + cached, cached // CONTEXT),
        **fields,
    )
