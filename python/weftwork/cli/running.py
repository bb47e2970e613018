"""weft run, simulate, bench: programs on arrays."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

import numpy as np

from .. import _core
from ..errors import FileError
from ..graph import Io
from ..knobs import knobs
from .arrays import Inputs, can_hold, read, suffix_of, write
from .program import Program, extent_pairs, names_of, nearest
from .terminal import UsageError, bold, columns, count_of, milliseconds, progress, shape_text

#: How far results may be apart, relative to the largest element that is expected, by the bytes of a float.
TOLERANCE = {1: 0.25, 2: 2e-2, 4: 1e-4, 8: 1e-10}


def real_bytes(dtype: np.dtype) -> int:
    """Bytes of a float, or of a part of a complex number; 0 for integers and bool."""
    if dtype.kind in "fc":
        return dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return dtype.itemsize if "float" in dtype.name else 0


def statistics(array: np.ndarray) -> str:
    """What an array is like, in a few words."""
    if array.size == 0:
        return "no elements"
    if array.ndim == 0:
        return f"{array[()]:.6g}" if array.dtype.kind in "fc" else str(array[()])
    first = ", ".join(f"{value:.4g}" if real_bytes(array.dtype) else str(value) for value in array.ravel()[:3].tolist())
    first = f"[{first}{', …' if array.size > 3 else ''}]"
    if array.dtype.kind in "cb":
        return f"{np.count_nonzero(array):,} of {array.size:,} are not zero  {first}"
    wide = array.astype(np.float64)
    good = wide[np.isfinite(wide)]
    odd = array.size - good.size
    words = f"min {good.min():.4g}  mean {good.mean():.4g}  max {good.max():.4g}  {first}" if good.size else first
    return words + (f"  {count_of(odd, 'element')} not finite" if odd else "")


def compare(name: str, got: np.ndarray, wanted: np.ndarray, rtol: float | None, atol: float) -> tuple[bool, str]:
    """Whether two arrays agree, and a sentence about it."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False, f"{name} is {shape_text(got.dtype, got.shape)}, wanted {shape_text(wanted.dtype, wanted.shape)}"
    rtol = TOLERANCE.get(real_bytes(got.dtype), 0.0) if rtol is None else rtol
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), wanted.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        # Equal infinities, and NaN in the same places, agree.
        same = np.asarray((got == wanted) | ((a != a) & (b != b)))
        distance = np.where(same, 0, np.abs(a - b))
    limit = atol + rtol * float(np.max(np.abs(b), where=np.isfinite(b), initial=0.0))
    # Large integers that differ may be one as floats.
    wrong = ~(same | ((distance <= limit) & (limit > 0)))
    if not wrong.any():
        largest = float(np.max(distance, initial=0.0))
        return True, f"{name} agrees: " + (
            "all elements are equal"
            if largest == 0
            else f"the largest difference is {largest:.3g}, {limit:.3g} is allowed"
        )
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        False,
        f"{name} differs in {wrong.sum():,} of {got.size:,} elements, first at {list(at)}: {got[at]!s}, wanted {wanted[at]!s}",
    )


def split_outputs(given: list[str], names: list[str]) -> list[tuple[str, list[int]]]:
    """["y.npy", "s=all.npz"] → the file and the numbers of its outputs, for each."""
    result: list[tuple[str, list[int]]] = []
    position = 0
    for each in given:
        name, equals, path = each.partition("=")
        if equals and name in names:
            result.append((path, [names.index(name)]))
        elif equals and "/" not in name:
            raise UsageError(f"the program has no output '{name}'{nearest(name, names)}")
        elif suffix_of(each) != ".npy":
            result.append((each, list(range(len(names)))))
        elif position < len(names):
            result.append((each, [position]))
            position += 1
        else:
            raise UsageError(
                f"--out {each}: the program has no more than {count_of(len(names), 'output')}, {', '.join(names)}"
            )
    return result


def describe(inputs: Inputs, outputs: list[Io], results: list[np.ndarray], stream: Any) -> None:
    """What went in and came out."""
    given = {
        **{n: f"{v}" for n, v in inputs.extents.items()},
        **{n: f"{v} (assumed, --extent {n}=N sets it)" for n, v in inputs.assumed.items()},
    }
    rows = [
        (bold(n, stream), shape_text(a.dtype, a.shape), s)
        for n, a, s in zip(inputs.names, inputs.arrays, inputs.sources, strict=True)
    ]
    for name, io, result in zip(names_of(outputs), outputs, results, strict=True):
        lands = f"  (lands in {inputs.names[io.alias]})" if io.alias is not None else ""
        rows.append((bold(name, stream), shape_text(result.dtype, result.shape), statistics(result) + lands))
    print(*columns(rows), *[f"  {name} = {text}" for name, text in given.items()], sep="\n", file=stream)


def cast_for(path: str, array: np.ndarray, cast: bool) -> np.ndarray:
    """An array as a file can hold it: with --cast what it has no name for becomes float32, int32 or complex64."""
    if not cast or can_hold(path, array.dtype):
        return array
    return array.astype(
        np.complex64 if array.dtype.kind == "c" else np.float32 if real_bytes(array.dtype) else np.int32
    )


def check_outputs(arguments: argparse.Namespace, program: Program) -> None:
    """What is wrong with --out is said before the program runs, which may take long."""
    names = names_of(program.outputs)
    for path, numbers in split_outputs(arguments.out, names):
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise FileError(f"'{path}' cannot be written, there is no folder '{folder}'  [array_file]")
        for i in numbers:
            dtype = program.outputs[i].dtype
            if not (arguments.cast or can_hold(path, dtype)):
                other = " .safetensors can," * can_hold("x.safetensors", dtype)
                raise UsageError(
                    f"'{path}': output '{names[i]}' is {dtype}, which {suffix_of(path)} cannot hold:{other} --cast converts it"
                )


def write_outputs(given: list[str], names: list[str], results: list[np.ndarray], cast: bool) -> None:
    for path, numbers in split_outputs(given, names):
        write(path, {names[i]: cast_for(path, results[i], cast) for i in numbers})


def expected(source: str, program: Program, inputs: Inputs) -> list[np.ndarray]:
    """What --compare names: results of the interpreter, or arrays of a file."""
    names = names_of(program.outputs)
    if source == "interpret":
        with progress("interpreting"):
            return listed(program.graph.interpret(*inputs.fresh(program.outputs)))
    arrays = read(source)
    if all(key in ("", f"arr_{i}") for i, key in enumerate(arrays)):
        arrays = dict(zip(names, arrays.values()))
    missing = [name for name in names if name not in arrays]
    if missing:
        raise UsageError(f"'{source}' has no array '{missing[0]}' to compare with")
    return [arrays[name] for name in names]


def listed(results: Any) -> list[np.ndarray]:
    return [np.asarray(result) for result in results] if isinstance(results, tuple) else [np.asarray(results)]


def prepare(arguments: argparse.Namespace) -> tuple[Program, Inputs]:
    if [arguments.program, *(each.rpartition("=")[2] for each in arguments.inputs)].count("-") > 1:
        raise UsageError("standard input can be read once")
    if arguments.seed < 0:
        raise UsageError(f"--seed takes an integer from 0, got {arguments.seed}")
    program = Program(arguments.program, arguments.function)
    inputs = Inputs(program.inputs, arguments.inputs, extent_pairs(arguments.extent), arguments.seed, arguments.cast)
    inputs.check()
    return program, inputs


def run(arguments: argparse.Namespace) -> int:
    program, inputs = prepare(arguments)
    check_outputs(arguments, program)
    start = time.perf_counter()
    executable = program.executable(arguments.target)
    ready = time.perf_counter()
    with progress(f"running {program.name}"):
        results = listed(executable(*inputs.fresh(program.outputs)))
    done = time.perf_counter()
    stream = sys.stderr if "-" in arguments.out else sys.stdout
    if not arguments.quiet:
        verb = f"{'loaded' if program.is_package else 'compiled'} for {executable.target}"
        print(
            f"{bold(program.name, stream)}: {verb} in {milliseconds(ready - start)}, ran in {milliseconds(done - ready)}",
            file=stream,
        )
        describe(inputs, program.outputs, results, stream)
    write_outputs(arguments.out, names_of(program.outputs), results, arguments.cast)
    return compare_all(arguments, program, inputs, results, stream) if arguments.compare else 0


def compare_all(
    arguments: argparse.Namespace, program: Program, inputs: Inputs, results: list[np.ndarray], stream: Any
) -> int:
    wanted = expected(arguments.compare, program, inputs)
    status = 0
    for name, got, want in zip(names_of(program.outputs), results, wanted, strict=True):
        agrees, sentence = compare(name, got, want, arguments.rtol, arguments.atol)
        status |= not agrees
        print(f"  {sentence}", file=stream)
    return int(status)


def simulate(arguments: argparse.Namespace) -> int:
    program, inputs = prepare(arguments)
    check_outputs(arguments, program)
    start = time.perf_counter()
    with progress(f"interpreting {program.name}"):
        if arguments.kernels:
            results = [array.copy() for array in program.graph.core.interpret_kernels(inputs.fresh(program.outputs))]
        else:
            results = listed(program.graph.interpret(*inputs.fresh(program.outputs)))
    stream = sys.stderr if "-" in arguments.out else sys.stdout
    if not arguments.quiet:
        print(f"{bold(program.name, stream)}: interpreted in {milliseconds(time.perf_counter() - start)}", file=stream)
        describe(inputs, program.outputs, results, stream)
    write_outputs(arguments.out, names_of(program.outputs), results, arguments.cast)
    return 0


def bench(arguments: argparse.Namespace) -> int:
    if arguments.iterations < 1:
        raise UsageError("--iterations must be at least 1")
    program, inputs = prepare(arguments)
    executable = program.executable(arguments.target)
    arrays = inputs.fresh(program.outputs)
    scope = knobs() if arguments.threads is None else knobs(threads=arguments.threads)
    with scope, progress(f"running {program.name}"):
        seconds = executable.benchmark(*arrays, warmup=arguments.warmup, iters=arguments.iterations)
        threads = _core.num_threads()
    times = {"p50" if name == "median" else name: value for name, value in seconds.items()}
    if arguments.json:
        shapes = {n: shape_text(a.dtype, a.shape) for n, a in zip(inputs.names, inputs.arrays, strict=True)}
        row = {
            "program": os.path.basename(program.path),
            "inputs": shapes,
            "threads": threads,
            "warmup": arguments.warmup,
            "iterations": arguments.iterations,
        }
        print(json.dumps({**row, "seconds": times}, indent=2))
        return 0
    print(
        f"{bold(program.name)}: {count_of(arguments.iterations, 'run')} after {arguments.warmup} to warm up, {count_of(threads, 'thread')}"
    )
    print(*columns([[milliseconds(value) for value in times.values()]], head=list(times)), sep="\n")
    return 0
