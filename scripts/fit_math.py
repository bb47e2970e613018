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
    xs = [(low + high) / 2 - mp.mpf(high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 3) / 700) for i in range(700)]
    wanted = [(x, f(x), scale(x)) for x in xs]
    worst = lambda c: max(abs(w * (mp.polyval(c[::-1], x) - y)) for x, y, w in wanted)
    current, _ = remez(f, scale, low, high, list(range(degree + 1)))
    for k in range(degree + 1):
        current[k] = mp.mpf(float(dtype(float(current[k]))))
        if k == degree or (dtype is np.float64 and k > 3):
            continue
        rest = lambda x, known=tuple(current[: k + 1]): f(x) - mp.polyval(known[::-1], x)
        again = current[: k + 1] + remez(rest, scale, low, high, list(range(k + 1, degree + 1)))[0]
        current = min(current, again, key=worst)
    return [float(c) for c in current], float(mp.log(worst(current), 2))


ODD = lambda g: lambda z: (g(mp.sqrt(z)) / mp.sqrt(z) - 1) / z  # P with g(x) = x + x**3 P(x**2)
ODD_SCALE = lambda g: lambda z: z * mp.sqrt(z) / g(mp.sqrt(z))
ONE = lambda x: mp.mpf(1)
LN2_2, TURN = 0.34665, 0.6235  # ln(2) / 2; (pi / 4) ** 2

ERF = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1


def inverse_erf(w: mp.mpf) -> mp.mpf:
    """erf_inv(x) / x by w = -log(1 - x**2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(x) / x


def scaled_erfc(t: mp.mpf) -> mp.mpf:
    """(x + 3) exp(x**2) erfc(x) by t = (x - 3) / (x + 3)."""
    x = 3 * (1 + t) / (1 - t)
    return (x + 3) * mp.exp(x * x) * mp.erfc(x)


def erfc_slope(t: mp.mpf) -> mp.mpf:
    """What t is multiplied by in scaled_erfc, beside its value at 0."""
    return (scaled_erfc(t) - scaled_erfc(mp.mpf(0))) / t


#: name: f, scale of its error, interval, degrees in f64 and f32
FITS: dict[str, tuple[Function, Function, float, float, int, int]] = {
    "exp": (lambda r: (mp.expm1(r) - r) / r**2, lambda r: abs(r**2 / mp.expm1(r)), -LN2_2, LN2_2, 10, 5),
    "exp_table_f32": (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2, -LN2_2 / 16, LN2_2 / 16, 1, 1),
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
    "erf": (ERF, lambda z: 1 / (1 + ERF(z)), 0, 1, 12, 6),
    "log_erfc_f64": (lambda u: mp.log(mp.erfc(u + 2)) + (u + 2) ** 2, lambda u: mp.erfc(u + 2), -1, 4, 18, 8),
    "log_erfc_f32": (lambda u: mp.log(mp.erfc(u + 2)) + (u + 2) ** 2, lambda u: mp.erfc(u + 2), -1, 2, 6, 6),
    "erfc_f64": (erfc_slope, lambda t: abs(t) / scaled_erfc(t), -0.6001, 0.8022, 19, 8),
    "erfc_f32": (erfc_slope, lambda t: abs(t) / scaled_erfc(t), -0.6001, 0.545, 8, 8),
    "erf_inv_central": (lambda u: inverse_erf(u + 2.5), lambda u: 1 / inverse_erf(u + 2.5), -2.5, 2.5, 8, 10),
    "erf_inv_tail_f64": (lambda u: inverse_erf((u + 4) ** 2), lambda u: 1 / inverse_erf((u + 4) ** 2), -1.765, 2.05, 8, 8),
    "erf_inv_tail_f32": (lambda u: inverse_erf((u + 3) ** 2), lambda u: 1 / inverse_erf((u + 3) ** 2), -0.765, 1.05, 10, 10),
    "exp_short": (mp.exp, lambda r: mp.exp(-r), -LN2_2, LN2_2, 6, 6),
}  # fmt: skip


def main(names: list[str]) -> None:
    for name, (f, scale, low, high, wide, single) in FITS.items():
        if names and name not in names:
            continue
        for dtype, degree in ((np.float64, wide), (np.float32, single)):
            coefficients, error = fit(f, scale, low, high, degree, dtype)
            digits = 17 if dtype is np.float64 else 9
            print(
                f"{name} {dtype.__name__}: 2^{error:.1f}\n  {{"
                + ", ".join(f"{c:.{digits}g}" for c in reversed(coefficients))
                + "}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
