"""Stencils as in NPBench: heat equation, Jacobi iteration, horizontal diffusion; and Jacobi iteration of what no cache holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import f32, f64, family, uniform

declare = family("stencil")
torch: Any = None
jax: Any = None
HEAT_STEPS, HEAT = 50, 40
JACOBI = {"jacobi2d 80x350 f64": (80, 350, f64), "jacobi2d 10x4096 f32": (10, 4096, f32)}  # steps, rows and columns
I, J, K = 128, 128, 160


def heat_step(a: Any) -> Any:
    middle = 2.0 * a[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (a[2:, 1:-1, 1:-1] - middle + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - middle + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - middle + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )


def heat(a: Any, b: Any) -> None:
    for _ in range(HEAT_STEPS):
        b[1:-1, 1:-1, 1:-1] = heat_step(a)
        a[1:-1, 1:-1, 1:-1] = heat_step(b)


def jax_heat(a: Any, b: Any) -> Any:
    inside = (slice(1, -1),) * 3

    def body(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[inside].set(heat_step(a))
        return a.at[inside].set(heat_step(b)), b

    return jax.lax.fori_loop(0, HEAT_STEPS, body, (a, b))


def jacobi_step(a: Any) -> Any:
    return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def jacobi(steps: int) -> Any:
    def jacobi(a: Any, b: Any) -> None:
        for _ in range(steps):
            b[1:-1, 1:-1] = jacobi_step(a)
            a[1:-1, 1:-1] = jacobi_step(b)

    return jacobi


def jax_jacobi(steps: int) -> Any:
    inside = (slice(1, -1),) * 2

    def body(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[inside].set(jacobi_step(a))
        return a.at[inside].set(jacobi_step(b)), b

    return lambda a, b: jax.lax.fori_loop(0, steps, body, (a, b))


def diffusion(field: Any, weight: Any, where: Any = None) -> Any:
    where = where or np.where
    inner = 4.0 * field[1:-1, 1:-1]
    lap = inner - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flux = where(flux * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, flux)
    along = lap[1:-1, 1:] - lap[1:-1, :-1]
    along = where(along * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, along)
    return field[2:-2, 2:-2] - weight * (flux[1:] - flux[:-1] + along[:, 1:] - along[:, :-1])


declare(
    "heat3d 50x40 f64",
    heat,
    lambda: (uniform(0, 1, HEAT, HEAT, HEAT, dtype=f64), uniform(0, 1, HEAT, HEAT, HEAT, dtype=f64)),
    torch=heat,
    jax=jax_heat,
    written=(0, 1),
    flops=HEAT_STEPS * 2 * (HEAT - 2) ** 3 * 15,
    peak="f64",
    skip={"onnxruntime": "exported as one program of all steps"},
)
for name, (steps, n, dtype) in JACOBI.items():
    declare(
        name,
        jacobi(steps),
        lambda n=n, dtype=dtype: (uniform(0, 1, n, n, dtype=dtype), uniform(0, 1, n, n, dtype=dtype)),
        torch=jacobi(steps),
        jax=jax_jacobi(steps),
        written=(0, 1),
        flops=steps * 2 * (n - 2) ** 2 * 5,
        peak=name[-3:],
        skip={"onnxruntime": "exported as one program of all steps"},
    )
declare(
    "hdiff 128x128x160 f64",
    diffusion,
    lambda: (uniform(0, 1, I + 4, J + 4, K, dtype=f64), uniform(0, 1, I, J, K, dtype=f64)),
    torch=lambda field, weight: diffusion(field, weight, torch.where),
    flops=I * J * K * 22,
    peak="f64",
)
