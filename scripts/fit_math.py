"""Prints minimax coefficients for the vector math (weft/codegen/llvm/math_*.cpp): python scripts/fit_math.py [NAME].

Remez's exchange in 50 digits. Coefficients are rounded to the format from the lowest power up, the others fitted again
after each, so that the rounding of the first ones costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import mpmath as mp
import numpy as np

mp.mp.dps = 50
Function = Callable[[mp.mpf], mp.mpf]


def remez(f: Function, scale: Function, low: float, high: float, powers: list[int]) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients of x**p for p in powers that make the largest |scale(x) * (p(x) - f(x))| on [low, high] least."""
    n = len(powers)
    middle, half = mp.mpf(high + low) / 2, mp.mpf(high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (i + mp.mpf(1) / 3) / (24 * n)) for i in range(24 * n)]
    wanted, weight = [f(x) for x in grid], [scale(x) for x in grid]
    chosen = [round((24 * n - 1) * i / n) for i in range(n + 1)]
    best, least = [mp.mpf(0)] * n, mp.inf
    for _ in range(30):
        rows = [[grid[i] ** p for p in powers] + [(-1) ** k / weight[i]] for k, i in enumerate(chosen)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[i] for i in chosen]))
        coefficients, level = [solution[k] for k in range(n)], abs(solution[n])
        errors = [w * (sum(c * x**p for c, p in zip(coefficients, powers, strict=True)) - y)
                  for x, y, w in zip(grid, wanted, weight, strict=True)]  # fmt: skip
        extremes: list[int] = []
        for i, error in enumerate(errors):
            if extremes and (errors[extremes[-1]] > 0) == (error > 0):
                extremes[-1] = max(extremes[-1], i, key=lambda j: abs(errors[j]))
            else:
                extremes.append(i)
        while len(extremes) > n + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        worst = max(abs(error) for error in errors)
        if worst < least:
            best, least = coefficients, worst
        if len(extremes) < n + 1 or worst < level * mp.mpf("1.001"):
            break
        chosen = extremes
    return best, least


def fit(f: Function, scale: Function, low: float, high: float, degree: int, dtype: type) -> tuple[list[float], float]:
    """Coefficients in the format, lowest power first, and the logarithm (base 2) of the largest scaled error."""
    fixed: list[mp.mpf] = []
    for k in range(degree + 1):
        rest = lambda x, known=tuple(fixed): f(x) - sum(c * x**p for p, c in enumerate(known))
        free, _ = remez(rest, scale, low, high, list(range(k, degree + 1)))
        stop = dtype is np.float64 and k == 4
        fixed += [mp.mpf(float(dtype(float(c)))) for c in (free if stop else free[:1])]
        if stop:
            break
    xs = [mp.mpf(low) + mp.mpf(high - low) * (i + mp.mpf(1) / 3) / 997 for i in range(997)]
    worst = max(abs(scale(x) * (sum(c * x**p for p, c in enumerate(fixed)) - f(x))) for x in xs)
    return [float(c) for c in fixed], float(mp.log(worst, 2))


ODD = lambda g: lambda z: (g(mp.sqrt(z)) / mp.sqrt(z) - 1) / z  # P with g(x) = x + x**3 P(x**2)
ODD_SCALE = lambda g: lambda z: z * mp.sqrt(z) / g(mp.sqrt(z))
ONE = lambda x: mp.mpf(1)
LN2_2, TURN = 0.34665, 0.6235  # ln(2) / 2; (pi / 4) ** 2

#: name: f, scale of its error, interval, degrees in f64 and f32
FITS: dict[str, tuple[Function, Function, float, float, int, int]] = {
    "exp": (lambda r: (mp.expm1(r) - r) / r**2, lambda r: abs(r**2 / mp.expm1(r)), -LN2_2, LN2_2, 10, 5),
    "exp2": (lambda r: mp.expm1(r * mp.log(2)) / r, lambda r: abs(r) / mp.power(2, r), -0.5001, 0.5001, 10, 5),
    "log": (lambda z: (mp.log((1 + mp.sqrt(z)) / (1 - mp.sqrt(z))) / mp.sqrt(z) - 2) / z, lambda z: z / 2, 0, 0.02944, 6, 2),
    "sin": (ODD(mp.sin), ODD_SCALE(mp.sin), 0, TURN, 5, 2),
    "cos": (lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2, 0, TURN, 5, 2),
    "atan": (ODD(mp.atan), ODD_SCALE(mp.atan), 0, 0.17158, 10, 4),
    "asin": (ODD(mp.asin), ODD_SCALE(mp.asin), 0, 0.25, 12, 4),
    "sinh": (ODD(mp.sinh), ODD_SCALE(mp.sinh), 0, 1, 7, 3),
    "cbrt": (lambda f: (1 + f) ** (mp.mpf(-1) / 3), lambda f: (1 + f) ** (mp.mpf(1) / 3), -0.2930, 0.4143, 4, 4),
    "log_short": (lambda z: (mp.log((1 + mp.sqrt(z)) / (1 - mp.sqrt(z))) / mp.sqrt(z) - 2) / z, lambda z: z / 2, 0, 0.02944, 3, 3),
    "log_rest": (lambda z: ((mp.log((1 + mp.sqrt(z)) / (1 - mp.sqrt(z))) / mp.sqrt(z) - 2) / z - mp.mpf(2) / 3) / z, lambda z: z * z / 2, 0, 0.02944, 7, 2),
    "exp_short": (mp.exp, lambda r: mp.exp(-r), -LN2_2, LN2_2, 6, 6),
}  # fmt: skip


def main(names: list[str]) -> None:
    for name, (f, scale, low, high, wide, single) in FITS.items():
        if names and name not in names:
            continue
        for dtype, degree in ((np.float64, wide), (np.float32, single)):
            coefficients, error = fit(f, scale, low, high, degree, dtype)
            digits = 17 if dtype is np.float64 else 9
            print(f"{name} {dtype.__name__}: 2^{error:.1f}\n  {{" + ", ".join(f"{c:.{digits}g}" for c in reversed(coefficients)) + "}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
