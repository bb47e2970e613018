"""Workloads as the loops that one would write for Numba, by their names; without it they are plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

prange: Any = range
f32 = np.float32
BLOCK = 64  # columns, or systems, that one thread takes through all rows, or steps
CHUNKS = 16  # of points whose sums are kept apart


def gelu(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            out[i, j] = f32(0.5) * v * (f32(1) + np.tanh(f32(0.7978845608) * (v + f32(0.044715) * v * v * v)))
    return out


def softmax(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = f32(0)
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j] - top)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


def layer_norm(x, scale, shift):
    out = np.empty_like(x)
    n = f32(x.shape[1])
    for i in prange(x.shape[0]):
        total, squares = f32(0), f32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        mean = total / n
        for j in range(x.shape[1]):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        factor = f32(1) / np.sqrt(squares / n + f32(1e-5))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * factor * scale[j] + shift[j]
    return out


def logsumexp(x):
    out = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = f32(0)
        for j in range(x.shape[1]):
            total += np.exp(x[i, j] - top)
        out[i] = np.log(total) + top
    return out


def chain(x, row, column):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        c = column[i, 0]
        for j in range(x.shape[1]):
            v, r = x[i, j], row[j]
            y = (v + r) * c
            y = max(y - f32(0.5) * r, f32(-2)) * (r - c)
            y = (y + v) * v - c * r
            out[i, j] = min(abs(y), f32(8)) + f32(0.25) * v
    return out


def gated(x, y):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / (f32(1) + np.exp(-x[i, j])) * y[i, j]
    return out


def clip_where(x, y):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            out[i, j] = min(max(v, f32(-1)), f32(1)) if v > y[i, j] else y[i, j] * f32(2)
    return out


def sum_rows(x):
    out = np.zeros(x.shape[1], x.dtype)
    for block in prange(x.shape[1] // BLOCK):
        for i in range(x.shape[0]):
            for j in range(block * BLOCK, (block + 1) * BLOCK):
                out[j] += x[i, j]
    return out


def sum_columns(x):
    out = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        total = f32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total
    return out


def sum_all(x):
    everything = f32(0)
    for i in prange(x.shape[0]):
        total = f32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        everything += total
    return everything


def cumsum_rows(x):
    out = np.empty_like(x)
    for block in prange(x.shape[1] // BLOCK):
        for j in range(block * BLOCK, (block + 1) * BLOCK):
            out[0, j] = x[0, j]
        for i in range(1, x.shape[0]):
            for j in range(block * BLOCK, (block + 1) * BLOCK):
                out[i, j] = out[i - 1, j] + x[i, j]
    return out


def cumsum_columns(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        total = f32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
            out[i, j] = total
    return out


def heat(a, b):
    n = a.shape[0]
    for step in range(100):
        read, written = (a, b) if step % 2 == 0 else (b, a)
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    middle = read[i, j, k]
                    around = read[i + 1, j, k] + read[i - 1, j, k] + read[i, j + 1, k] + read[i, j - 1, k]
                    around += read[i, j, k + 1] + read[i, j, k - 1]
                    written[i, j, k] = 0.125 * (around - 6.0 * middle) + middle


def jacobi(steps: int) -> Callable[..., None]:
    def jacobi(a, b):
        fifth = a.dtype.type(0.2)
        for step in range(2 * steps):
            read, written = (a, b) if step % 2 == 0 else (b, a)
            for i in prange(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    around = read[i, j - 1] + read[i, j + 1] + read[i + 1, j] + read[i - 1, j]
                    written[i, j] = fifth * (read[i, j] + around)

    return jacobi


def diffusion(field, weight):
    rows, columns, depth = weight.shape
    lap = np.empty((rows + 2, columns + 2, depth))
    for i in prange(rows + 2):
        for j in range(columns + 2):
            for k in range(depth):
                around = field[i + 2, j + 1, k] + field[i, j + 1, k] + field[i + 1, j + 2, k] + field[i + 1, j, k]
                lap[i, j, k] = 4.0 * field[i + 1, j + 1, k] - around
    out = np.empty_like(weight)
    for i in prange(rows):
        for j in range(columns):
            for k in range(depth):
                here, at = lap[i + 1, j + 1, k], field[i + 2, j + 2, k]
                up, down = here - lap[i, j + 1, k], lap[i + 2, j + 1, k] - here
                left, right = here - lap[i + 1, j, k], lap[i + 1, j + 2, k] - here
                up = 0.0 if up * (at - field[i + 1, j + 2, k]) > 0 else up
                down = 0.0 if down * (field[i + 3, j + 2, k] - at) > 0 else down
                left = 0.0 if left * (at - field[i + 2, j + 1, k]) > 0 else left
                right = 0.0 if right * (field[i + 2, j + 3, k] - at) > 0 else right
                out[i, j, k] = at - weight[i, j, k] * (down - up + right - left)
    return out


def black_scholes(price, strike, years):
    call, put = np.empty_like(price), np.empty_like(price)
    real = price.dtype.type
    one, half, rate, volatility = real(1), real(0.5), real(0.02), real(0.3)
    for i in prange(price.shape[0]):
        spread = volatility * np.sqrt(years[i])
        d1 = (np.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / spread
        d2 = d1 - spread
        t1, t2 = one / (one + real(0.2316419) * abs(d1)), one / (one + real(0.2316419) * abs(d2))
        series1 = real(-1.821255978) + t1 * real(1.330274429)
        series1 = t1 * (real(0.319381530) + t1 * (real(-0.356563782) + t1 * (real(1.781477937) + t1 * series1)))
        series2 = real(-1.821255978) + t2 * real(1.330274429)
        series2 = t2 * (real(0.319381530) + t2 * (real(-0.356563782) + t2 * (real(1.781477937) + t2 * series2)))
        tail1 = real(0.3989422804) * np.exp(-half * d1 * d1) * series1
        tail2 = real(0.3989422804) * np.exp(-half * d2 * d2) * series2
        discounted = strike[i] * np.exp(-rate * years[i])
        call[i] = price[i] * (one - tail1 if d1 > 0 else tail1) - discounted * (one - tail2 if d2 > 0 else tail2)
        put[i] = call[i] - price[i] + discounted
    return call, put


def k_means(x, centers):
    (points, depth), count = x.shape, centers.shape[0]
    across = centers.T.copy()
    squares = (centers * centers).sum(axis=1)
    sums, counts = np.zeros((CHUNKS, count, depth), x.dtype), np.zeros((CHUNKS, count), x.dtype)
    for chunk in prange(CHUNKS):
        distance = np.empty(count, x.dtype)
        for p in range(points * chunk // CHUNKS, points * (chunk + 1) // CHUNKS):
            distance[:] = squares
            for d in range(depth):
                twice = f32(2) * x[p, d]
                for c in range(count):
                    distance[c] -= twice * across[d, c]
            nearest = np.argmin(distance)
            counts[chunk, nearest] += f32(1)
            for d in range(depth):
                sums[chunk, nearest, d] += x[p, d]
    total = np.maximum(counts.sum(axis=0), f32(1))
    return sums.sum(axis=0) / total.reshape(count, 1)


def accelerations(position, mass):
    n = position.shape[0]
    out = np.empty_like(position)
    x, y, z = position[:, 0].copy(), position[:, 1].copy(), position[:, 2].copy()
    for i in prange(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            squared = dx * dx + dy * dy + dz * dz + 1e-2
            w = mass[j] / (squared * np.sqrt(squared))
            ax += dx * w
            ay += dy * w
            az += dz * w
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
    return out


def accelerations_by_axis(x, y, z, mass):
    n = x.shape[0]
    out = np.empty((n, 3))
    for i in prange(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            squared = dx * dx + dy * dy + dz * dz + 1e-2
            w = mass[j] / (squared * np.sqrt(squared))
            ax += dx * w
            ay += dy * w
            az += dz * w
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az
    return out


def distances(a, b):
    out = np.empty((a.shape[0], b.shape[0]), a.dtype)
    across = b.T.copy()
    for i in prange(a.shape[0]):
        out[i] = f32(0)
        for k in range(a.shape[1]):
            for j in range(b.shape[0]):
                out[i, j] += (a[i, k] - across[k, j]) * (a[i, k] - across[k, j])
        for j in range(b.shape[0]):
            out[i, j] = np.sqrt(out[i, j])
    return out


def distances_in_space(a, b):
    out = np.empty((a.shape[0], b.shape[0]), a.dtype)
    x, y, z = b[:, 0].copy(), b[:, 1].copy(), b[:, 2].copy()
    for i in prange(a.shape[0]):
        for j in range(b.shape[0]):
            dx, dy, dz = a[i, 0] - x[j], a[i, 1] - y[j], a[i, 2] - z[j]
            out[i, j] = np.sqrt(dx * dx + dy * dy + dz * dz)
    return out


def lorenz(x, y, z):
    x, y, z = x.copy(), y.copy(), z.copy()
    for block in prange(x.shape[0] // BLOCK):
        for _ in range(100):
            for i in range(block * BLOCK, (block + 1) * BLOCK):
                a, b, c = x[i], y[i], z[i]
                x[i] = a + 0.005 * (10 * (b - a))
                y[i] = b + 0.005 * (a * (28 - c) - b)
                z[i] = c + 0.005 * (a * b - 8 / 3 * c)
    return x, y, z


LOOPS: dict[str, Callable[..., Any]] = {
    "gelu f32": gelu,
    "softmax f32": softmax,
    "layer norm f32": layer_norm,
    "logsumexp f32": logsumexp,
    "chain of 12 f32": chain,
    "gated sigmoid f32": gated,
    "clip and where f32": clip_where,
    "sum axis 0 f32": sum_rows,
    "sum axis 1 f32": sum_columns,
    "sum all f32": sum_all,
    "cumsum axis 0 f32": cumsum_rows,
    "cumsum axis 1 f32": cumsum_columns,
    "heat3d 50x40 f64": heat,
    "jacobi2d 80x350 f64": jacobi(80),
    "jacobi2d 10x4096 f32": jacobi(10),
    "hdiff 128x128x160 f64": diffusion,
    "black-scholes 1M f32": black_scholes,
    "black-scholes 1M f64": black_scholes,
    "k-means step 16384x64x64 f32": k_means,
    "n-body 1024 f64": accelerations,
    "n-body by axis 2048 f64": accelerations_by_axis,
    "pairwise distance 1024x1024x32 f32": distances,
    "pairwise distance 2048x2048x3 f32": distances_in_space,
    "lorenz 100x256K f64": lorenz,
}
