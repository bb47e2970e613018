"""Numerical work: option prices, clustering, gravity, distances, correlation, many small systems in time."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import DIVIDE, EXP, LOG, f32, f64, family, normal, uniform

declare = family("science")
torch: Any = None
jax: Any = None


def normal_cdf(x: Any, exp: Any, absolute: Any, where: Any) -> Any:
    """The polynomial of Abramowitz and Stegun, 26.2.17."""
    t = 1 / (1 + 0.2316419 * absolute(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804 * exp(-0.5 * x * x) * series
    return where(x > 0, 1 - tail, tail)


def black_scholes(price: Any, strike: Any, years: Any, xp: Any = None) -> Any:
    xp = xp or np
    rate, volatility = 0.02, 0.3
    spread = volatility * xp.sqrt(years)
    d1 = (xp.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * xp.exp(-rate * years)
    up, down = normal_cdf(d1, xp.exp, xp.abs, xp.where), normal_cdf(d2, xp.exp, xp.abs, xp.where)
    call = price * up - discounted * down
    return call, call - price + discounted


OPTIONS = 1 << 20
for suffix, dtype in {"f32": f32, "f64": f64}.items():
    declare(
        f"black-scholes 1M {suffix}",
        black_scholes,
        lambda dtype=dtype: (
            uniform(50, 150, OPTIONS, dtype=dtype),
            uniform(50, 150, OPTIONS, dtype=dtype),
            uniform(0.1, 2, OPTIONS, dtype=dtype),
        ),
        torch=lambda price, strike, years: black_scholes(price, strike, years, torch),
        flops=OPTIONS * (3 * EXP + LOG + 5 * DIVIDE + 50),
        peak=suffix,
        tolerance=1e-5 if dtype == f32 else None,
    )

POINTS, CENTERS, DEPTH = 16384, 64, 64


def k_means(x: Any, centers: Any) -> Any:
    """One step of Lloyd's algorithm: the mean of the points nearest to each center."""
    distance = (centers * centers).sum(axis=1) - 2 * (x @ centers.T)
    nearest = distance.argmin(axis=1)
    member = (nearest[:, None] == np.arange(centers.shape[0])).astype(x.dtype)
    return member.T @ x / np.maximum(member.sum(axis=0), 1)[:, None]


def torch_k_means(x: Any, centers: Any) -> Any:
    nearest = ((centers * centers).sum(1) - 2 * (x @ centers.T)).argmin(1)
    sums = torch.zeros_like(centers).index_add_(0, nearest, x)
    counts = torch.zeros(centers.shape[0], dtype=x.dtype).index_add_(0, nearest, torch.ones_like(x[:, 0]))
    return sums / counts.clamp_min(1)[:, None]


declare(
    "k-means step 16384x64x64 f32",
    k_means,
    lambda: (normal(POINTS, DEPTH), normal(CENTERS, DEPTH)),
    torch=torch_k_means,
    flops=2.0 * POINTS * CENTERS * DEPTH + POINTS * DEPTH,
    # A point as near to two centers may go to either.
    tolerance=1e-3,
)


def accelerations(position: Any, mass: Any) -> Any:
    difference = position[None, :, :] - position[:, None, :]
    squared = (difference * difference).sum(axis=-1) + 1e-2
    return (difference * (mass * squared**-1.5)[:, :, None]).sum(axis=1)


BODIES = 1024
declare(
    "n-body 1024 f64",
    accelerations,
    lambda: (normal(BODIES, 3, dtype=f64), uniform(0.5, 1, BODIES, dtype=f64)),
    torch=accelerations,
    flops=BODIES * BODIES * (15 + 2 * DIVIDE),
    peak="f64",
)


def accelerations_by_axis(x: Any, y: Any, z: Any, mass: Any, xp: Any = None) -> Any:
    xp = xp or np
    dx, dy, dz = x[None, :] - x[:, None], y[None, :] - y[:, None], z[None, :] - z[:, None]
    squared = dx * dx + dy * dy + dz * dz + 1e-2
    weight = mass[None, :] / (squared * xp.sqrt(squared))
    return xp.stack([(dx * weight).sum(1), (dy * weight).sum(1), (dz * weight).sum(1)], 1)


declare(
    "n-body by axis 2048 f64",
    accelerations_by_axis,
    lambda: (*(normal(2048, dtype=f64) for _ in range(3)), uniform(0.5, 1, 2048, dtype=f64)),
    torch=lambda x, y, z, mass: accelerations_by_axis(x, y, z, mass, torch),
    flops=2048 * 2048 * (15 + 2 * DIVIDE),
    peak="f64",
)


def distances(x: Any, y: Any, xp: Any = None) -> Any:
    difference = x[:, None, :] - y[None, :, :]
    return (xp or np).sqrt((difference * difference).sum(axis=-1))


declare(
    "pairwise distance 1024x1024x32 f32",
    distances,
    lambda: (normal(1024, 32), normal(1024, 32)),
    torch=lambda x, y: torch.cdist(x, y),
    flops=1024 * 1024 * 32 * 3,
    tolerance=1e-4,  # torch's goes by way of a product
)
declare(
    "pairwise distance 2048x2048x3 f32",
    lambda a, b: np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=2)),
    lambda: (normal(2048, 3), normal(2048, 3)),
    torch=lambda a, b: torch.sqrt(torch.sum((a[:, None] - b[None]) ** 2, 2)),
    flops=2048 * 2048 * (9 + DIVIDE),
)
declare(
    "correlation 4096x512 f64",
    lambda x: np.corrcoef(x, rowvar=False),
    lambda: (normal(4096, 512, dtype=f64),),
    torch=lambda x: torch.corrcoef(x.T),
    flops=2.0 * 4096 * 512 * 512,
    peak="f64",
)

SYSTEMS, STEPS, STEP = 1 << 18, 100, 0.005


def lorenz_step(x: Any, y: Any, z: Any) -> Any:
    return x + STEP * (10 * (y - x)), y + STEP * (x * (28 - z) - y), z + STEP * (x * y - 8 / 3 * z)


def lorenz(x: Any, y: Any, z: Any) -> Any:
    for _ in range(STEPS):
        x, y, z = lorenz_step(x, y, z)
    return x, y, z


declare(
    "lorenz 100x256K f64",
    lorenz,
    lambda: tuple(normal(SYSTEMS, dtype=f64) for _ in range(3)),
    torch=lorenz,
    jax=lambda x, y, z: jax.lax.fori_loop(0, STEPS, lambda _, state: lorenz_step(*state), (x, y, z)),
    flops=SYSTEMS * STEPS * 14,
    peak="f64",
    tolerance=1e-9,  # chaotic
    skip={"onnxruntime": "exported as one program of all steps"},
)
