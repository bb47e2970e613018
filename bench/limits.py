"""What the machine allows: the time that a workload's bytes and operations take at least, measured by limits.cpp."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("limits.cpp")
KINDS = {"f32": 0, "f64": 1, "bf16": 2, "int8": 3}
WINDOW, ROUNDS = 0.015, 8


@functools.cache
def library() -> ctypes.CDLL | None:
    """The kernels of limits.cpp, compiled for this CPU; None where there is no compiler."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if not compiler:
        return None
    mark = hashlib.sha256(SOURCE.read_bytes() + os.uname().nodename.encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"weftwork-bench-{os.getuid()}-{mark}.so"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        flags = ["-std=c++20", "-O3", "-march=native", "-Wno-psabi", "-shared", "-fPIC", "-pthread"]
        if subprocess.run([compiler, *flags, SOURCE, "-o", partial]).returncode:
            return None
        partial.replace(path)
    kernels = ctypes.CDLL(str(path))
    kernels.fma_rate.restype = kernels.stream_seconds.restype = ctypes.c_double
    kernels.fma_rate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_double]
    kernels.stream_seconds.argtypes = [ctypes.c_int64] * 2 + [ctypes.c_int] * 2 + [ctypes.c_double]
    return kernels


@functools.cache
def peak(kind: str, threads: int) -> float:
    """Operations a second of fused multiply-adds in registers; that of f32 where the CPU has no such instruction."""
    kernels = library()
    if kernels is None:
        return 0
    best = max(kernels.fma_rate(KINDS[kind], threads, WINDOW / 3) for _ in range(4 * ROUNDS))
    return best or peak("f32", threads)


@functools.cache
def stream(read: int, write: int, threads: int) -> float:
    """Seconds to read and write so many bytes that were read and written just before."""
    kernels = library()
    if kernels is None:
        return 0
    past_cache = [0, 1] if write > 1 << 20 else [0]
    return min(kernels.stream_seconds(read, write, past, threads, WINDOW) for past in past_cache for _ in range(ROUNDS))


def measure(flops: float, kind: str, read: int, write: int, threads: int) -> dict[str, Any]:
    """The limit of a workload in seconds, and what sets it; empty where it cannot be measured."""
    if library() is None:
        return {}
    memory = stream(read, write, threads)
    compute = flops / peak(kind, threads) if flops else 0.0
    return {"limit": max(memory, compute), "by": "memory" if memory >= compute else kind}
