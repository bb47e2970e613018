"""JAX's own primitive harnesses through our parser, interpreter and machine code, against XLA on the CPU.

Run as a program: prints how many agree, and the reason for each that does not.
"""

from __future__ import annotations

import argparse
import collections
import os
import sys
import traceback
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np

import weftwork as wf

# Harnesses whose values may differ from XLA's, and why.
DIFFERENT = dict.fromkeys(
    (
        "approx_top_k_large_True_max_True_op_bfloat16_2048_",
        "approx_top_k_large_True_max_True_op_bfloat16_16_256_",
        "approx_top_k_large_True_max_True_op_float16_16_256_",
        "approx_top_k_large_True_max_False_op_bfloat16_16_256_",
    ),
    "the values are the same; among equal ones XLA gives any position, we the first",
)


def harnesses() -> list[Any]:
    from jax._src.internal_test_util import test_harnesses

    usable = []
    for harness in test_harnesses.all_harnesses:
        if any(limit.filter(device="cpu", dtype=harness.dtype) for limit in harness.jax_unimplemented):
            continue
        usable.append(harness)
    # JAX makes some of them from sets.
    return sorted(usable, key=lambda harness: harness.fullname)


def tolerance(harness: Any, dtype: np.dtype) -> float:
    """Relative to the largest value: factorisations and convolutions of few digits differ more than arithmetic."""
    try:
        eps = float(jax.numpy.finfo(dtype).eps)
    except ValueError:
        return 0.0
    return eps * (
        256 if harness.group_name in ("svd", "eigh", "eig", "qr", "lu", "cholesky", "custom_linear_solve") else 32
    )


def same(got: np.ndarray, wanted: np.ndarray, rtol: float) -> bool:
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    if got.size == 0 or got.tobytes() == wanted.tobytes():
        return True
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    if got.dtype.kind in "biu":
        return bool(np.array_equal(got, wanted))
    a, b = got.astype(wide), wanted.astype(wide)
    finite = np.isfinite(b)
    if not np.array_equal(np.isfinite(a), finite) or not np.array_equal(np.isnan(a), np.isnan(b)):
        return False
    if not np.array_equal(a[~finite & ~np.isnan(b)], b[~finite & ~np.isnan(b)]):
        return False
    scale = float(np.max(np.abs(b[finite]), initial=0))
    return bool(np.all(np.abs(a[finite] - b[finite]) <= rtol * (np.abs(b[finite]) + scale)))


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def vectors_agree(harness: Any, args: list[np.ndarray], got: list[np.ndarray], rtol: float) -> bool:
    """Vectors have no determined sign or phase: what they are vectors of decides."""
    a = np.asarray(args[0])
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    if harness.group_name == "svd":
        s, u, vt = (x.astype(wide.dtype) for x in got)
        rank = s.shape[-1]
        product = (u[..., :, :rank] * s[..., None, :]) @ vt[..., :rank, :]
        frames = [u, adjoint(vt)]
        given = wide
    elif harness.group_name == "eigh":
        v, w = got[0].astype(wide.dtype), got[1].astype(wide.dtype)
        product, frames = (v * w[..., None, :]) @ adjoint(v), [v]
        triangle = np.tril(wide) if "lower_True" in harness.fullname else np.triu(wide)
        given = (
            triangle
            + adjoint(triangle)
            - np.eye(a.shape[-1]) * np.real(np.diagonal(wide, axis1=-2, axis2=-1))[..., None]
        )
    else:
        w, rest = got[0].astype(np.complex128), list(got[1:])
        ok = True
        for side in ("left", "right"):
            if f"compute{side}eigenvectors_True" not in harness.fullname:
                continue
            v = rest.pop(0).astype(np.complex128)
            matrix = wide if side == "right" else adjoint(wide)
            values = w if side == "right" else np.conj(w)
            ok &= same(matrix @ v, v * values[..., None, :], rtol * 4)
        return bool(ok)
    if not same(product, given, rtol):
        return False
    eyes = [adjoint(f) @ f for f in frames]
    return all(same(e, np.broadcast_to(np.eye(e.shape[-1], dtype=e.dtype), e.shape), rtol) for e in eyes)


def agree(harness: Any, args: list[np.ndarray], got: list[np.ndarray], wanted: list[np.ndarray]) -> bool:
    if len(got) != len(wanted):
        return False
    if harness.group_name in ("svd", "eigh", "eig") and all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(got, wanted)
    ):
        rtol = tolerance(harness, got[0].dtype)
        if harness.group_name == "eig":
            # Eigenvalues come in no determined order.
            key = lambda w: np.sort_complex(np.round(w.astype(np.complex128), 3))
            values = same(key(got[0]), key(wanted[0]), 1e-2)
        else:
            values = all(
                same(a, b, rtol) for a, b in zip(got, wanted) if a.dtype.kind == "f" and a.ndim == np.ndim(args[0]) - 1
            )
        return values and (len(got) == 1 or got[0].size == 0 or vectors_agree(harness, args, got, rtol))
    if harness.group_name == "approx_top_k":
        # XLA takes any of equal elements.
        got, wanted = got[:1], wanted[:1]
    if harness.group_name == "cholesky":
        # Only the triangle is the factor.
        got, wanted = [np.tril(a) for a in got], [np.tril(b) for b in wanted]
    if "num_arrays" in harness.fullname and "isstable_False" in harness.fullname:
        # Beside equal keys any order will do.
        keys = int(harness.fullname.rsplit("num_keys_", 1)[1])
        got, wanted = got[:keys], wanted[:keys]
    return all(same(a, b, tolerance(harness, b.dtype)) for a, b in zip(got, wanted))


def prepared(harness: Any) -> tuple[str, list[Any], list[np.ndarray]] | None:
    """StableHLO text, arguments and XLA's results; nothing where XLA itself does not run it."""
    with jax.enable_x64(True):
        return lowered(harness)


def lowered(harness: Any) -> tuple[str, list[Any], list[np.ndarray]] | None:
    args = harness.dyn_args_maker(np.random.RandomState(0))
    try:
        function = jax.jit(harness.dyn_fun)
        text = function.lower(*args).as_text()
        results = jax.tree_util.tree_leaves(function(*args))
    except Exception:
        return None
    if any(jax.numpy.issubdtype(r.dtype, jax.dtypes.extended) for r in results):
        results = [jax.random.key_data(r) if jax.numpy.issubdtype(r.dtype, jax.dtypes.extended) else r for r in results]
    leaves = [
        jax.random.key_data(a) if hasattr(a, "dtype") and jax.numpy.issubdtype(a.dtype, jax.dtypes.extended) else a
        for a in jax.tree_util.tree_leaves(args)
    ]
    return text, leaves, [np.asarray(r) for r in results]


def run_one(harness: Any, ways: tuple[str, ...]) -> str | None:
    """Nothing where all ways agree with XLA, else the first thing that went wrong."""
    case = prepared(harness)
    if case is None:
        return "xla"
    text, args, wanted = case
    try:
        graph = wf.stablehlo.parse(text)
    except Exception as error:
        return f"parse: {str(error).splitlines()[0]}"
    parameters = graph.core.input_infos
    inputs = [
        np.asarray(a).astype(p[1]) if np.ndim(a) == 0 else np.asarray(a) for a, p in zip(args, parameters, strict=False)
    ]
    if len(inputs) != len(parameters):
        return f"arguments: the text takes {len(parameters)}, the harness gives {len(inputs)}"
    for way in ways:
        try:
            if way == "interpret":
                got = graph.core.interpret(inputs)
            else:
                result = wf.compile(graph)(*inputs)
                got = list(result) if isinstance(result, tuple) else [result]
        except Exception as error:
            if os.environ.get("HARNESS_TRACE"):
                traceback.print_exc()
            return f"{way}: {type(error).__name__}: {str(error).splitlines()[0]}"
        if not agree(harness, inputs, [np.asarray(a) for a in got], wanted):
            return f"{way}: values differ"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", action="append", help="only harnesses of this group")
    parser.add_argument("--ways", default="interpret,compile")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th harness, from the i-th")
    parser.add_argument("--verbose", action="store_true", help="name each harness before it runs")
    parser.add_argument("--show", type=int, default=40, help="how many failures to list")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = [h for h in harnesses() if not options.group or h.group_name in options.group][part::parts]
    failures: list[tuple[str, str]] = []
    count = 0
    for harness in chosen:
        if options.verbose:
            print(harness.fullname, flush=True)
        problem = run_one(harness, tuple(options.ways.split(",")))
        if problem == "xla":
            continue
        count += 1
        if problem:
            failures.append((harness.fullname, problem))
    groups = collections.Counter((name.split("_shape")[0][:24], problem[:110]) for name, problem in failures)
    for (name, problem), number in groups.most_common(options.show):
        print(f"{number:5d}  {name}: {problem}")
    for name, problem in failures[: options.show]:
        print(f"  {name}: {problem[:160]}")
    print(f"{count - len(failures)} of {count} agree ({100 * (count - len(failures)) / max(count, 1):.2f} %)")
    return 0 if len(failures) <= 0.02 * count else 1


if __name__ == "__main__":
    sys.exit(main())
