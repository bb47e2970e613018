"""numpy.fft: jit and simulate give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
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
        for x in (RNG.normal(size=(2, n)) + 1j * RNG.normal(size=(2, n)), (RNG.normal(size=n) + 1j).astype(np.complex64)):
            close(wf.jit(lambda x: np.fft.fft(x))(x), np.fft.fft(x), 200)
            close(wf.jit(lambda x: np.fft.irfft(x, 2 * x.shape[-1] - 1))(x), np.fft.irfft(x, 2 * n - 1), 200)


def test_other_dimensions_may_be_symbolic() -> None:
    compiled = wf.jit(lambda x: np.fft.rfft(x), dynamic={"x": {0: wf.Dim("n", 1, 16, 100)}})
    for size in (2, 5):
        x = RNG.normal(size=(size, 6))
        close(compiled(x), np.fft.rfft(x))
    assert compiled.plan_count == 1


ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda x: np.fft.fft(x, 0), (F,), wf.errors.ArgumentValueError, "data points"), (lambda x: np.fft.rfft(x), (Z,), wf.errors.ArgumentTypeError, "real"), (lambda x: np.fft.fft(x, norm="bad"), (F,), wf.errors.ArgumentValueError, "bad"),
    (lambda x: np.fft.fft(x, axis=2), (F,), wf.errors.OutOfBoundsError, "out of bounds"), (lambda x: np.fft.fftn(x, s=(1,), axes=(0, 1)), (F,), wf.errors.ArgumentValueError, "different lengths"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)])
def test_errors(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wf.jit(function)(*args)
