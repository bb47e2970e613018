"""What is measured: a workload is a plain NumPy function, its arguments, and how peers write the same."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

bf16, f16, f32, f64 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
DTYPES = {"f32": f32, "f16": f16, "bf16": bf16}
# Operations at the peak rate that one element of such a function costs at least; an FMA is two.
EXP, LOG, TANH, DIVIDE = 20, 24, 28, 8
# Largest difference from NumPy in float64, as a part of the largest magnitude in the result.
TOLERANCE = {f64: 1e-11, f32: 2e-5, f16: 4e-3, bf16: 3e-2}
FAMILIES = ["call", "elementwise", "matmul", "attention", "stencil", "science", "fft", "llama", "bert", "resnet"]


@dataclass(frozen=True)
class Workload:
    """One thing to measure; docs/bench.md lists what each field means to a reader of the results."""

    family: str
    name: str
    numpy: Callable[..., Any]  # called with the weights, where there are any, and the arguments
    args: Callable[[], tuple]  # makes the arguments, the same in each process
    weights: Callable[[], dict[str, np.ndarray]] | None = None  # constants of the program for whoever has such
    traced_weights: bool = False  # arguments for ours: NumPy itself would compute with constants, once, while tracing
    torch: Callable[..., Any] | None = None  # the same over torch tensors; None: no column for torch, ONNX Runtime
    jax: Callable[..., Any] | None = None  # None: the NumPy function with jax.numpy for its module's `np`
    scipy: Callable[..., Any] | None = None  # the same by SciPy's functions; None: no column
    ours: Callable[..., Any] | None = None  # None: the NumPy function
    flops: float = 0  # operations that a call takes at least
    peak: str = "f32"  # the rate that limits them: f64, f32, bf16 or int8
    moved: tuple[int, int] | None = None  # bytes read and written; None: those of arguments, weights and results
    written: tuple[int, ...] = ()  # arguments that a call writes; the JAX twin returns them after its results
    tolerance: float | None = None  # None: by the narrowest floating dtype among arguments and results
    numpy_in_and_out: bool = False  # every peer takes NumPy arrays and gives NumPy arrays
    skip: dict[str, str] = field(default_factory=dict)  # peers left out, with the reason


WORKLOADS: dict[str, Workload] = {}
MODULES: list[ModuleType] = []
_random = np.random.default_rng(0)


def family(name: str) -> Callable[..., None]:
    """A function that declares workloads of this family: ``declare(name, numpy, args, **fields)``."""
    return partial(_declare, name)


def _declare(family: str, name: str, numpy: Callable[..., Any], args: Callable[[], tuple], **fields: Any) -> None:
    assert name not in WORKLOADS, name
    WORKLOADS[name] = Workload(family, name, numpy, args, **fields)


def load(extra: Sequence[str] = ()) -> dict[str, Workload]:
    """All workloads, in order of declaration; those of the files ``extra`` too."""
    MODULES.extend(importlib.import_module(f"bench.families.{name}") for name in FAMILIES)
    for path in extra:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
        sys.modules[module.__name__] = module
        spec.loader.exec_module(module)  # type: ignore[union-attr]
        MODULES.append(module)
    return WORKLOADS


def provide(**modules: Any) -> None:
    """Sets names in all modules that declare workloads: `np` to jax.numpy, `torch` to torch in their processes."""
    for module in MODULES:
        for name, value in modules.items():
            setattr(module, name, value)


def make(work: Workload) -> tuple[dict[str, np.ndarray] | None, tuple]:
    """Weights and arguments, the same at each call and in each process."""
    global _random
    _random = np.random.default_rng(zlib.crc32(work.name.encode()))
    return work.weights() if work.weights else None, work.args()


def normal(*shape: int, dtype: np.dtype = f32, scale: float = 1) -> np.ndarray:
    """Normally distributed values, for use in ``args`` and ``weights``."""
    values = _random.standard_normal(shape, np.float64 if dtype == f64 else np.float32)
    values *= scale
    return values.astype(dtype, copy=False)


def uniform(low: float, high: float, *shape: int, dtype: np.dtype = f32) -> np.ndarray:
    """Evenly distributed values, for use in ``args`` and ``weights``."""
    return _random.uniform(low, high, shape).astype(dtype)


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function over values in float32, rounded once: what torch's own functions do with narrow floats."""

    def widened(*arrays: Any) -> Any:
        return function(*(x.astype(f32) for x in arrays)).astype(arrays[0].dtype)

    return widened


def integers(low: int, high: int, *shape: int, dtype: Any = np.int64) -> np.ndarray:
    """Integers from low to high - 1, for use in ``args`` and ``weights``."""
    return _random.integers(low, high, shape).astype(dtype)


def is_float(dtype: np.dtype) -> bool:
    return dtype in TOLERANCE


def leaves(value: Any) -> list[Any]:
    """Arrays of nested tuples, lists and dicts, in order; None is none."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def in_float64(value: Any) -> Any:
    """Floats in float64, complex numbers of such."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind == "c":
        return value.astype(np.complex128)
    return value.astype(f64) if is_float(value.dtype) else value


def reference(work: Workload) -> list[np.ndarray]:
    """What the NumPy function gives and writes for the same values in float64."""
    weights, args = make(work)
    args = tuple(in_float64(a) for a in args)
    bound = () if weights is None else ({name: in_float64(a) for name, a in weights.items()},)
    result = work.numpy(*bound, *args)
    return [np.asarray(leaf) for leaf in [*leaves(result), *(args[i] for i in work.written)]]


def tolerance(work: Workload, arrays: Sequence[Any]) -> float:
    """How far results may be from the reference."""
    if work.tolerance is not None:
        return work.tolerance
    kept = [parts(a).dtype for a in arrays if isinstance(a, np.ndarray)]
    return max((TOLERANCE[dtype] for dtype in kept if is_float(dtype)), default=0)


def parts(array: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs of floats; others as they are."""
    return np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array


def difference(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float:
    """The largest difference as a part of the largest magnitude; infinite where shapes, NaN or integers differ."""
    if [a.shape for a in found] != [a.shape for a in wanted]:
        return float("inf")
    worst = 0.0
    for a, b in zip(map(parts, found), map(parts, wanted)):
        if not is_float(a.dtype):
            worst = worst if np.array_equal(a, b) else float("inf")
            continue
        a, b = a.astype(f64), b.astype(f64)
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
            return float("inf")
        if a[finite].size:
            scale = np.abs(b[finite]).max() or 1.0
            worst = max(worst, float(np.abs(a[finite] - b[finite]).max() / scale))
    return worst
