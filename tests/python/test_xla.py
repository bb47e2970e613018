"""Sorts, scans, factorisations and transforms of traced functions mean to XLA what they mean to NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_fft
import test_linalg
import test_scans
import test_sorting
from agreement import close
from test_windows import IMAGE, KERNEL

import weftwork as wf

jax = pytest.importorskip("jax")
pytest.importorskip("jaxlib.mlir.ir")

from test_stablehlo import is_traceable, parsed_by_jaxlib, run_by_xla  # noqa: E402

GROUPS = {
    "sorts": test_sorting.SORTS[:45],
    "quantiles": test_sorting.QUANTILES,
    "scans": test_scans.SCANS,
    "accumulated": test_scans.ACCUMULATED,
    "systems": test_linalg.SYSTEMS,
    "orthogonal": test_linalg.ORTHOGONAL,
    "fft": test_fft.SNIPPETS,
}
#: Each fourth of them that has arrays for arguments.
SAMPLES = [
    pytest.param(function, args, id=f"{name}{i}")
    for name, group in GROUPS.items()
    for i, (function, args) in enumerate(group)
    if i % 4 == 0 and is_traceable(args) and all(a.size for a in args)
]


@pytest.fixture(scope="module", autouse=True)
def lapack() -> None:
    """JAX makes LAPACK's functions known to XLA when it first uses one."""
    jax.numpy.linalg.eigvals(jax.numpy.ones((1, 1)))


@pytest.mark.parametrize(("function", "args"), SAMPLES)
def test_xla_gives_numpys_values(function: Callable[..., Any], args: tuple) -> None:
    with np.errstate(all="ignore"):
        wanted = function(*args)
    graph = wf.trace(function, *args)
    parsed_by_jaxlib(graph.stablehlo())
    assert wf.stablehlo.parse(graph.stablehlo()).stablehlo(locations=False) == graph.stablehlo(locations=False)
    flat = list(wanted) if isinstance(wanted, tuple) else [wanted]
    results = run_by_xla(graph, list(args))
    assert len(results) == len(flat)
    for actual, expected in zip(results, flat, strict=True):
        close(actual, expected, 2000)


OURS: list[tuple[Callable[..., Any], tuple]] = [
    (lambda a: wf.linalg.eigvals(a), (test_linalg.A,)), (lambda a: wf.linalg.eigvals(a), (test_linalg.C,)), (lambda a: abs(wf.linalg.eig(a)[1]), (test_linalg.T,)),
    (lambda x: wf.topk(x, 3), (test_sorting.F,)), (lambda x: wf.unique(x, 9, 0, True, True, True), (test_sorting.I,)), (lambda x, w: wf.conv2d(x, w, padding=1, stride=2), (IMAGE, KERNEL)),
    (lambda x: wf.max_pool2d(x, 3, 2, 1), (IMAGE,)), (lambda x: wf.avg_pool2d(x, 3, 2, 1, False), (IMAGE,)),
    *[(lambda k, d=d: wf.random.uniform(k, (3, 5), d), (np.array(7, np.uint64),)) for d in (np.float32, np.float64)], (lambda k: wf.random.split(k, 5), (np.array(7, np.uint64),)),
    (lambda k: wf.random.randint(k, (50,), -3, 99), (np.array(7, np.uint64),)), (lambda k: wf.random.normal(k, (50,)), (np.array(7, np.uint64),)), (lambda k: wf.random.permutation(k, 30), (np.array(7, np.uint64),)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), [pytest.param(*s, id=str(i)) for i, s in enumerate(OURS)])
def test_xla_gives_our_values(function: Callable[..., Any], args: tuple) -> None:
    ours = wf.jit(function)(*args)
    results = run_by_xla(wf.trace(function, *args), list(args))
    for actual, expected in zip(results, ours if isinstance(ours, tuple) else (ours,), strict=True):
        close(actual, expected, 2000)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, "bfloat16"])
@pytest.mark.parametrize("other", [np.int8, np.uint16, np.float32, np.float64])
def test_simulated_products_are_xlas(dtype: Any, other: Any) -> None:
    """Also where terms cancel, which leaves few bits of any other order or rounding."""
    rng, dtype = np.random.default_rng(3), np.dtype(jax.numpy.dtype(dtype))
    parts = rng.normal(0, 3, (2, 8, 3))
    a = (parts[0] + 1j * parts[1] if dtype.kind == "c" else parts[0]).astype(dtype)
    b = rng.normal(0, 3, (3, 50)).astype(other)
    graph = wf.trace(lambda a, b: a @ b, a, b)
    (wanted,), got = run_by_xla(graph, [a, b]), wf.simulate(lambda a, b: a @ b)(a, b)
    assert got.dtype == wanted.dtype
    close(got, wanted, 3)
