"""Threads of small stacks run every program: what takes much memory is elsewhere."""

import os
import subprocess
import sys

import pytest

# What sanitizers put between variables.
ROOM = 8 if os.environ.get("LD_PRELOAD") else 1

# Compiles in the first thread, and runs in another.
PROGRAM = """
import sys, threading
import ml_dtypes, numpy as np
import weftwork as wf

rng = np.random.default_rng(0)
dtypes = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int32, np.int64, np.bool_, np.complex64]
works = []
for dtype in dtypes:
    for shapes in [((300, 700), (700, 400)), ((1, 700), (700, 400)), ((2, 61, 33), (2, 33, 70))]:
        a, b = ((rng.integers(-3, 4, shape) / 2).astype(dtype) for shape in shapes)
        wide = np.float32 if np.dtype(dtype).itemsize == 2 else dtype
        works.append((wf.compile(np.matmul, a, b), (a, b), np.matmul(a.astype(wide), b.astype(wide))))
x = rng.standard_normal((40, 8192))
softmax = lambda x: np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)
both = lambda x: softmax(x) + softmax(np.tanh(x))
square = x[:, :40] @ x[:, :40].T
for function, argument in [(both, x), (np.linalg.inv, square), (np.fft.fft, x), (np.linalg.eigvalsh, square), (lambda x: np.sort(x, axis=1), x)]:
    works.append((wf.compile(function, argument), (argument,), function(argument)))

def run():
    for executable, arguments, wanted in works:
        np.testing.assert_allclose(executable(*arguments), wanted, rtol=5e-3, atol=1e-5)
    print("all are right")

threading.stack_size(int(sys.argv[1]) << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""

# The same for what is compiled there.
COMPILES = """
import sys, threading
import numpy as np
import weftwork as wf

def run():
    x = np.ones((300, 400), np.float32)
    np.testing.assert_allclose(wf.jit(lambda x: np.tanh(x) @ x.T)(x), np.tanh(x) @ x.T, rtol=1e-5)
    print("all are right")

threading.stack_size(int(sys.argv[1]) << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(("program", "kibibytes"), [(PROGRAM, 128), (COMPILES, 128)])
def test_small_stacks(program, kibibytes, threads, monkeypatch):
    monkeypatch.setenv("WEFT_THREADS", threads)
    done = subprocess.run([sys.executable, "-c", program, str(kibibytes * ROOM)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "all are right\n"), done.stderr[-2000:]
