"""The programs of examples/science: unmodified under wf.jit, equal to NumPy, one loop each, compiled in under a second."""

from __future__ import annotations

import copy
import importlib
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from test_numpy import close

import weftwork as wf

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
PROGRAMS = ["heat", "factor", "nbody", "mandelbrot", "alignment", "convnet"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_equals_numpy(name: str) -> None:
    module = importlib.import_module(f"science.{name}")
    args = module.arguments()
    wanted_args, jit_args = copy.deepcopy(args), copy.deepcopy(args)
    wanted = module.program(*wanted_args)
    close_enough = {"factor": 1e-9, "nbody": 1e-9, "heat": 1e-11, "convnet": 1e-4}.get(name)
    result = wf.jit(module.program)(*jit_args)
    pairs = [(result, wanted), *zip(jit_args, wanted_args, strict=True)] if not isinstance(wanted, tuple) else [
        *zip(result, wanted, strict=True), *zip(jit_args, wanted_args, strict=True)]  # fmt: skip
    for got, expected in pairs:
        if close_enough is None:
            close(got, expected)
        else:
            np.testing.assert_allclose(got, expected, rtol=close_enough, atol=close_enough)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_small_and_compiles_quickly(name: str) -> None:
    module = importlib.import_module(f"science.{name}")
    args = module.arguments()
    begin = time.perf_counter()
    exe = wf.compile(module.program, *args)
    took = time.perf_counter() - begin
    assert exe is not None
    # Several times what it takes on a quiet machine.
    assert took < 5
    names = wf.trace(module.program, *args).core.op_names
    assert "for" in names
    assert len(names) < 220


@pytest.mark.parametrize(
    ("name", "small", "large"),
    [
        ("heat", {"steps": 50}, {"steps": 5000}),
        ("factor", {"n": 24}, {"n": 48}),
        ("nbody", {"steps": 20}, {"steps": 2000}),
        ("mandelbrot", {"turns": 20}, {"turns": 2000}),
        ("alignment", {"n": 20}, {"n": 200}),
    ],
)
def test_graph_does_not_grow_with_the_trip_count(name: str, small: dict, large: dict) -> None:
    module = importlib.import_module(f"science.{name}")
    sizes = [len(wf.trace(module.program, *module.arguments(**size)).core.op_names) for size in (small, large)]
    assert sizes[0] == sizes[1]
