"""numpy.fft: jit and simulate give what NumPy gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from agreement import agrees, close

import weftwork as wf

RNG = np.random.default_rng(8)
F = RNG.normal(size=(4, 6)).astype(np.float32)
D = RNG.normal(size=(5, 7))
I = RNG.integers(-9, 10, (4, 6))
B = RNG.integers(0, 2, (4, 6)).astype(bool)
H = RNG.normal(size=(4, 6)).astype(np.float16)
Z = RNG.normal(size=(3, 5)) + 1j * RNG.normal(size=(3, 5))
C = Z.astype(np.complex64)
T3 = RNG.normal(size=(2, 3, 4)).astype(np.float32)
LONG = RNG.normal(size=(2, 97 * 3))
NORMS = (None, "backward", "ortho", "forward")

Snippet = tuple[Callable[..., Any], tuple]

SNIPPETS: list[Snippet] = [
    *[(lambda x, f=f: f(x), (a,)) for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft) for a in (F, D, I, B, Z, C, LONG)], (lambda x: np.fft.fft(x), (H,)), (lambda x: np.fft.rfft(x), (H,)),
    *[(lambda x, f=f: f(x), (a,)) for f in (np.fft.rfft, np.fft.ihfft) for a in (F, D, I, B, LONG)],
    *[(lambda x, f=f, n=n, k=k: f(x, n, axis=k), (a,)) for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft) for n in (1, 3, 8, 11) for k in (0, -1) for a in (F, Z)],
    *[(lambda x, f=f, n=n: f(x, n, axis=0), (D,)) for f in (np.fft.rfft, np.fft.ihfft) for n in (1, 4, 9)],
    *[(lambda x, f=f, m=m: f(x, norm=m), (a,)) for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft, np.fft.fft2, np.fft.ifftn, np.fft.irfftn) for m in NORMS for a in (F, Z)],
    *[(lambda x, f=f, m=m: f(x, norm=m), (F,)) for f in (np.fft.rfft, np.fft.ihfft, np.fft.rfft2) for m in NORMS],
    *[(lambda x, f=f: f(x), (a,)) for f in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.irfft2, np.fft.irfftn) for a in (F, D, Z, C, T3)],
    *[(lambda x, f=f: f(x), (a,)) for f in (np.fft.rfft2, np.fft.rfftn) for a in (F, D, T3, I)],
    *[(lambda x, f=f: f(x, s=(3, 8), axes=(0, 2)), (T3,)) for f in (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn, np.fft.fft2, np.fft.rfft2)], (lambda x: np.fft.fftn(x, s=(-1, 3), axes=(1, 2)), (T3,)), (lambda x: np.fft.fftn(x, axes=(1, 1)), (T3,)),
    (lambda x: np.fft.irfft(np.fft.rfft(x), 6), (F,)), (lambda x: np.fft.ifft(np.fft.fft(x) * np.fft.fftfreq(7, 0.1)), (D,)), (lambda x, d: x * np.fft.rfftfreq(10, d), (F, 0.5)), (lambda x: np.fft.fftshift(np.fft.fft2(x)), (D,)), (lambda x: np.fft.ifftshift(np.fft.fft(x), axes=1), (F,)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), [pytest.param(*s, id=str(i)) for i, s in enumerate(SNIPPETS)])
def test_as_numpy(function: Callable[..., Any], args: tuple) -> None:
    agrees(function, args)


def test_every_length() -> None:
    """Products of small factors, primes, and what has both."""
    for n in [*range(1, 40), 121, 243, 341, 500, 899, 1001, 1024, 1069, 9699]:
        for x in (
            RNG.normal(size=(2, n)) + 1j * RNG.normal(size=(2, n)),
            (RNG.normal(size=n) + 1j).astype(np.complex64),
        ):
            close(wf.jit(lambda x: np.fft.fft(x))(x), np.fft.fft(x), 200)
            close(wf.jit(lambda x: np.fft.irfft(x, 2 * x.shape[-1] - 1))(x), np.fft.irfft(x, 2 * n - 1), 200)


def test_other_dimensions_may_be_symbolic() -> None:
    compiled = wf.jit(lambda x: np.fft.rfft(x), dynamic={"x": {0: wf.Dim("n", 1, 16, 100)}})
    for size in (2, 5):
        x = RNG.normal(size=(size, 6))
        close(compiled(x), np.fft.rfft(x))
    assert compiled.plan_count == 1


LENGTHS = (
    1,
    2,
    5,
    8,
    17,
    31,
    32,
    37,
    60,
    64,
    81,
    97,
    127,
    128,
    243,
    256,
    499,
    1000,
    1024,
    2187,
    4096,
    6561,
    10007,
    16384,
    40000,
)


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_errors_are_those_of_numpy(rows: int) -> None:
    """Against transforms in long double: single precision rounds at each step, in double NumPy does too."""
    for n in LENGTHS if rows == 1 else LENGTHS[:18]:
        exact = RNG.normal(size=(rows, n)) + 1j * RNG.normal(size=(rows, n))
        for dtype, most in ((np.complex64, 4), (np.complex128, 2)):
            z = exact.astype(dtype)
            half = z[:, : n // 2 + 1].copy()
            for f, x in (
                (np.fft.fft, z),
                (np.fft.ifft, z),
                (np.fft.rfft, z.real.copy()),
                (lambda x, n=n: np.fft.irfft(x, n), half),
            ):
                wanted = f(x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble))
                scale = np.sqrt((abs(wanted) ** 2).mean()) * np.finfo(dtype).eps
                off = lambda y, wanted=wanted, scale=scale: float(np.sqrt((abs(y - wanted) ** 2).mean()) / scale)
                found = wf.jit(f, strict=True)(x)
                assert found.dtype == f(x).dtype
                assert off(found) < max(1.5 * off(f(x)), most), (n, dtype, f)


def test_threads_change_no_bit() -> None:
    for x in (
        RNG.normal(size=(50, 1000)),
        RNG.normal(size=1 << 18),
        RNG.normal(size=100003).astype(np.float32),
        RNG.normal(size=(3, 200, 243)),
    ):
        for f in (np.fft.rfft, np.fft.fft, np.fft.fftn):
            compiled = wf.jit(f, strict=True)
            many = compiled(x)
            with wf.knobs(threads=1):
                assert np.array_equal(compiled(x), many)


def test_calls_from_many_threads() -> None:
    inputs = [RNG.normal(size=(9, n)) for n in (64, 81, 97, 1000, 1024, 4096)]
    compiled = wf.jit(lambda x: np.fft.irfft(np.fft.rfft(x), x.shape[-1]), strict=True)
    alone = [compiled(x) for x in inputs]
    with ThreadPoolExecutor(6) as pool:
        for found, wanted in zip(pool.map(compiled, inputs * 20), alone * 20, strict=True):
            assert np.array_equal(found, wanted)


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer of GCC leaves its allocator locked in a child if a thread is in there",
)
def test_forks_while_threads_transform() -> None:
    """A child has the plans of its parent, whatever the parent's threads were at."""
    script = """
import os, threading, numpy as np, weftwork as wf
f = wf.jit(np.fft.fft, strict=True)
x = np.random.default_rng(0).normal(size=(40, 1000))
wanted, stop = f(x), False
def work():
    while not stop:
        for n in (64, 100, 97, 1000): f(x[:, :n].copy())
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
for _ in range(8):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(f(x), wanted) and f(x[:, :81].copy()).shape == (40, 81) else 1)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for t in threads: t.join()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=120)


def test_last_axes_are_one_operation() -> None:
    for f, x in (
        (np.fft.fft2, T3),
        (np.fft.rfftn, T3),
        (np.fft.irfft2, T3),
        (lambda x: np.fft.ifftn(x, s=(5, 2), axes=(1, 2)), T3),
    ):
        ops = wf.trace(f, x).core.op_names
        assert ops.count("fft") == 1
        assert "transpose" not in ops


def test_a_spectrogram() -> None:
    def frames(x: Any, window: Any) -> Any:
        return np.log(abs(np.fft.rfft(np.lib.stride_tricks.sliding_window_view(x, 256)[::64] * window)) + 1e-3)

    def indexed(x: Any, window: Any) -> Any:
        return np.log(abs(np.fft.rfft(x[np.arange(0, 4000 - 255, 64)[:, None] + np.arange(256)] * window)) + 1e-3)

    for f in (frames, indexed):
        x, window = RNG.normal(size=4000), np.hanning(256)
        assert np.allclose(wf.jit(f, strict=True)(x, window), f(x, window), rtol=0, atol=1e-10)


ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda x: np.fft.fft(x, 0), (F,), wf.errors.ArgumentValueError, "data points"), (lambda x: np.fft.rfft(x), (Z,), wf.errors.ArgumentTypeError, "real"), (lambda x: np.fft.fft(x, norm="bad"), (F,), wf.errors.ArgumentValueError, "bad"),
    (lambda x: np.fft.fft(x, axis=2), (F,), wf.errors.OutOfBoundsError, "out of bounds"), (lambda x: np.fft.fftn(x, s=(1,), axes=(0, 1)), (F,), wf.errors.ArgumentValueError, "different lengths"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)]
)
def test_errors(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wf.jit(function)(*args)
