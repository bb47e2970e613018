"""Compile time grows with the size of a program, not with its square: CPU time for 4 n steps and for n."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(0)


def some(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape) * 0.1


@dataclass
class Program:
    """A function of many steps: how many are few, a step by its number, and what is around them."""

    steps: int
    step: Callable[[int], str]
    parameters: str = "x"
    first: str = ""
    result: str = "x"
    shapes: tuple[tuple[int, ...], ...] = ((64,),)


SQUARE = (16, 16)
PROGRAMS = {
    "the same steps": Program(400, lambda i: f"x = np.sin(x) * 1.01 + ({'x' if i % 2 else 'x * x * 0.1'})"),
    "constants of their own": Program(200, lambda i: f"x = np.sin(x) * {1 + i * 1e-5} + x * 0.1"),
    "cheap steps": Program(800, lambda i: f"x = x * {1 - i * 1e-6} + {i * 1e-3}"),
    "sums of rows": Program(
        100, lambda i: f"x = x - x.sum(axis=1, keepdims=True) * {0.01 + i * 1e-6}", shapes=(SQUARE,)
    ),
    "means": Program(100, lambda i: f"x = x - x.mean() * {0.01 + i * 1e-6}"),
    "stencils": Program(60, lambda i: f"x = np.concatenate([x[:1], (x[2:] + x[:-2]) * {0.5 + i * 1e-6}, x[-1:]])"),
    "writes": Program(
        200,
        lambda i: f"x[{i % 8}:{i % 8 + 8}] = x[{i * 3 % 8}:{i * 3 % 8 + 8}] * {0.9 + i * 1e-6} + 1",
        first="x = x.copy()",
    ),
    "results": Program(100, lambda i: f"r.append(np.sin(x * {i + 1}))", first="r = []", result="tuple(r)"),
    "parts": Program(200, lambda i: f"r.append(x * {i + 1})", first="r = []", result="np.stack(r)"),
    "far back": Program(
        200,
        lambda i: f"r.append(np.sin(r[-1]) * {1 + i * 1e-5} + r[len(r) // 2])",
        first="r = [x]",
        result="r[-1]",
    ),
    "products": Program(
        60, lambda i: f"x = np.tanh(x @ w * {0.1 + i * 1e-5})", parameters="x, w", shapes=(SQUARE, SQUARE)
    ),
    "routines": Program(60, lambda i: f"x = np.sort(x * {-0.9 + i * 1e-5})"),
}


def function_of(program: Program, steps: int) -> Any:
    body = [program.first] * bool(program.first) + [program.step(i) for i in range(steps)]
    lines = [f"def f({program.parameters}):", *body, f"return {program.result}"]
    space: dict[str, Any] = {"np": np}
    exec(compile("\n    ".join(lines), "<program>", "exec"), space)
    return space["f"]


def seconds(program: Program, steps: int) -> tuple[float, Any]:
    """CPU time of all threads, which other processes do not change much."""
    arguments = [some(*shape) for shape in program.shapes]
    graph = wf.trace(function_of(program, steps), *arguments)
    start = time.process_time()
    compiled = wf.compile(graph)
    return time.process_time() - start, (compiled, arguments)


def as_tuple(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compile_time_is_linear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE", "off")
    program = PROGRAMS[name]
    ratios = []
    for _ in range(4):
        few, _ = seconds(program, program.steps)
        many, (compiled, arguments) = seconds(program, 4 * program.steps)
        ratios.append(many / few)
        if ratios[-1] < 5:
            break
    assert min(ratios) < 5, ratios
    with np.errstate(all="ignore"):
        wanted = function_of(program, 4 * program.steps)(*arguments)
    for got, value in zip(*map(as_tuple, (compiled(*arguments), wanted)), strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-6, atol=1e-12)


def test_a_call_that_takes_another_way_is_recorded_in_linear_time() -> None:
    def seconds_of_another_way(steps: int) -> float:
        body = "\n    ".join(f"t = math.sin(t) + {i % 7}" for i in range(steps))
        space: dict[str, Any] = {"math": math}
        exec(compile(f"def f(x, t):\n    {body}\n    return x * t if t > 100 else x + t", "<program>", "exec"), space)
        jitted = wf.jit(space["f"], strict=False)
        x = np.ones(3)
        np.testing.assert_array_equal(jitted(x, 0.5), space["f"](x, 0.5))
        (plan,) = jitted.plans_for(x, 0.5)
        start = time.process_time()
        for each in plan.steps if isinstance(plan.steps, list) else [plan.steps]:
            each.varying((x, 0.75), {})
        return time.process_time() - start

    ratios = [seconds_of_another_way(4000) / seconds_of_another_way(1000) for _ in range(3)]
    assert sorted(ratios)[1] < 9, ratios
