"""Matrix products: square, batched, small and skinny, with bias and activation, with quantised weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import TANH, bf16, f32, f64, family, integers, normal

declare = family("matmul")
F: Any = None
torch: Any = None
jax: Any = None


def product(x: Any, y: Any) -> Any:
    return x @ y


def narrow_product(x: Any, y: Any) -> Any:
    return (x @ y).astype(x.dtype)  # NumPy gives float32 for bfloat16


def declare_product(
    name: str, x: tuple[int, ...], y: tuple[int, ...], dtype: np.dtype = f32, peak: str = "f32"
) -> None:
    declare(
        name,
        narrow_product if dtype == bf16 else product,
        lambda: (normal(*x, dtype=dtype), normal(*y, dtype=dtype)),
        torch=product,
        flops=2 * float(np.prod(x)) * y[-1],
        peak=peak,
    )


declare_product("matmul 1024 f32", (1024, 1024), (1024, 1024))
declare_product("matmul 1024 f64", (1024, 1024), (1024, 1024), f64, "f64")

declare_product("matmul 1024 bf16", (1024, 1024), (1024, 1024), bf16, "bf16")
declare_product("matmul 2048 f32", (2048, 2048), (2048, 2048))
declare_product("matmul 128x384x1536 f32", (128, 384), (384, 1536))
declare_product("matmul 32 f32", (32, 32), (32, 32))
declare_product("matmul 64 f32", (64, 64), (64, 64))
declare_product("matmul batched 16x256 f32", (16, 256, 256), (16, 256, 256))
declare_product("matmul batched 64x64x32x64 f32", (64, 64, 32), (64, 32, 64))
declare_product("matmul batched 16x256 bf16", (16, 256, 256), (16, 256, 256), bf16, "bf16")

declare(
    "matmul 1024 int8",
    lambda x, y: np.matmul(x, y, dtype=np.int32),
    lambda: (integers(-128, 128, 1024, 1024, dtype=np.int8), integers(-128, 128, 1024, 1024, dtype=np.int8)),
    torch=lambda x, y: torch._int_mm(x, y),
    jax=lambda x, y: jax.lax.dot(x, y, preferred_element_type="int32"),
    flops=2 * 1024.0**3,
    peak="int8",
)


def linear_gelu(w: Any, x: Any) -> Any:
    y = ((x @ w["weight"]).astype(x.dtype) + w["bias"]).astype(np.float32)
    return (0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))).astype(x.dtype)


for suffix, dtype in {"f32": f32, "bf16": bf16}.items():
    declare(
        f"linear bias gelu 512x1024x4096 {suffix}",
        linear_gelu,
        lambda dtype=dtype: (normal(512, 1024, dtype=dtype),),
        weights=lambda dtype=dtype: {
            "weight": normal(1024, 4096, dtype=dtype, scale=1 / 32),
            "bias": normal(4096, dtype=dtype),
        },
        torch=lambda w, x: F.gelu(x @ w["weight"] + w["bias"], approximate="tanh"),
        flops=512 * 4096 * (2 * 1024 + 8 + TANH),
        peak=suffix,
    )


def weighted(w: Any, x: Any) -> Any:
    return (x @ w["weight"]).astype(x.dtype)


def int8_weights(w: Any, x: Any) -> Any:
    return (x @ w["weight"].astype(np.float32)) * w["scale"]


def int4_weights(w: Any, x: Any) -> Any:
    """Two weights in a byte: the low halves are the first rows, the high halves the others."""
    halves = np.concatenate([w["weight"] & 15, w["weight"] >> 4])
    return (x @ (halves.astype(np.float32) - 8)) * w["scale"]


def torch_int4_weights(w: Any, x: Any) -> Any:
    halves = torch.cat([w["weight"] & 15, w["weight"] >> 4])
    return (x @ (halves.to(torch.float32) - 8)) * w["scale"]


N = 4096
WEIGHTS = {
    "f32": lambda n: {"weight": normal(N, n)},
    "bf16": lambda n: {"weight": normal(N, n, dtype=bf16)},
    "int8 weights": lambda n: {"weight": integers(-127, 128, N, n, dtype=np.int8), "scale": normal(n, scale=0.01)},
    "int4 weights": lambda n: {"weight": integers(0, 256, N // 2, n, dtype=np.uint8), "scale": normal(n, scale=0.1)},
}
TWINS = {
    "f32": (weighted, lambda w, x: x @ w["weight"]),
    "bf16": (weighted, lambda w, x: x @ w["weight"]),
    "int8 weights": (int8_weights, lambda w, x: (x @ w["weight"].to(torch.float32)) * w["scale"]),
    "int4 weights": (int4_weights, torch_int4_weights),
}
# All weights of 4096 x 4096, and a row by 64 MB of narrow ones: those of 4096 x 4096 stay in a cache, as a model's do not.
for rows, n, suffix in [(rows, N, suffix) for rows in (1, 8) for suffix in WEIGHTS] + [
    (1, 4 * N, "int8 weights"),
    (1, 8 * N, "int4 weights"),
]:
    declare(
        f"skinny {rows}x4096x{n} {suffix}",
        TWINS[suffix][0],
        lambda rows=rows, dtype=bf16 if suffix == "bf16" else f32: (normal(rows, N, dtype=dtype),),
        weights=lambda n=n, suffix=suffix: WEIGHTS[suffix](n),
        traced_weights="weights" in suffix,  # or they would be widened once, and read wide
        torch=TWINS[suffix][1],
        flops=2.0 * rows * N * n,
        peak="bf16" if suffix == "bf16" else "f32",
    )
