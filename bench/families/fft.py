"""Fourier transforms of lines of many lengths, and the logarithm of a spectrogram."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from bench.workload import LOG, f32, f64, family, normal

declare = family("fft")
torch: Any = None
scipy: Any = None
ONNX = {"onnxruntime": "its exporter has no complex numbers"}


def complex_normal(*shape: int) -> np.ndarray:
    return normal(*shape, dtype=f64) + 1j * normal(*shape, dtype=f64)


# Short and long powers of two, many at once and alone, and primes.
SHAPES = [(4096, 64), (256, 1024), (64, 4096), (16, 1 << 16), (1, 1 << 20), (1, 1 << 22), (64, 1009), (1, 100003)]
for lines, length in SHAPES:
    declare(
        f"fft {lines} x {length} f64",
        lambda x: np.fft.fft(x),
        lambda lines=lines, length=length: (complex_normal(lines, length),),
        scipy=lambda x: scipy.fft.fft(x),
        torch=lambda x: torch.fft.fft(x),
        flops=4 * lines * length * math.log2(length),
        peak="f64",
        skip=ONNX,
    )
    declare(
        f"rfft {lines} x {length} f32",
        lambda x: np.fft.rfft(x),
        lambda lines=lines, length=length: (normal(lines, length),),
        scipy=lambda x: scipy.fft.rfft(x),
        torch=lambda x: torch.fft.rfft(x),
        flops=2 * lines * length * math.log2(length),
        skip=ONNX,
    )

SAMPLES, WINDOW, HOP = 1 << 20, 1024, 256
FRAMES = (SAMPLES - WINDOW) // HOP + 1
WEIGHTS = np.hanning(WINDOW)


def spectrogram(x: Any, window: Any) -> Any:
    frames = np.lib.stride_tricks.sliding_window_view(x, WINDOW)[::HOP]
    return np.log(np.abs(np.fft.rfft(frames * window)) + 1e-6)


def by_scipy(x: Any, window: Any) -> Any:
    frames = np.lib.stride_tricks.sliding_window_view(x, WINDOW)[::HOP]
    return np.log(np.abs(scipy.fft.rfft(frames * window)) + 1e-6)


def by_index(x: Any, window: Any) -> Any:
    places = np.arange(FRAMES)[:, None] * HOP + np.arange(WINDOW)
    return np.log(np.abs(np.fft.rfft(x[places] * window)) + 1e-6)


for suffix, dtype in {"f32": f32, "f64": f64}.items():
    for name, function in {"spectrogram": spectrogram, "spectrogram by indices": by_index}.items():
        declare(
            f"{name} {suffix}",
            function,
            lambda dtype=dtype: (normal(SAMPLES, dtype=dtype), WEIGHTS.astype(dtype)),
            jax=by_index,
            scipy=by_scipy,
            torch=lambda x, window: torch.log(torch.abs(torch.fft.rfft(x.unfold(0, WINDOW, HOP) * window)) + 1e-6),
            flops=FRAMES * (2 * WINDOW * math.log2(WINDOW) + WINDOW // 2 * LOG),
            peak=suffix,
            tolerance=1e-3 if dtype == f32 else 1e-9,  # a logarithm near its pole
            skip=ONNX,
        )
