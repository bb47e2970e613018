"""Compile time grows with the size of a program, not with its square: CPU time for 4 n steps and for n."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(0)


def some(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape) * 0.1


# Name: (steps, parameters, what comes first, a step by its number, what is returned, arguments).
PROGRAMS: dict[str, tuple[int, str, str, Any, str, Any]] = {
    "the same steps": (
        400,
        "x",
        "",
        lambda i: f"x = np.sin(x) * 1.01 + ({'x' if i % 2 else 'x * x * 0.1'})",
        "x",
        lambda: [some(64)],
    ),
    "constants of their own": (
        200,
        "x",
        "",
        lambda i: f"x = np.sin(x) * {1 + i * 1e-5} + x * 0.1",
        "x",
        lambda: [some(64)],
    ),
    "cheap steps": (800, "x", "", lambda i: f"x = x * {1 - i * 1e-6} + {i * 1e-3}", "x", lambda: [some(64)]),
    "sums of rows": (
        100,
        "x",
        "",
        lambda i: f"x = x - x.sum(axis=1, keepdims=True) * {0.01 + i * 1e-6}",
        "x",
        lambda: [some(16, 16)],
    ),
    "means": (100, "x", "", lambda i: f"x = x - x.mean() * {0.01 + i * 1e-6}", "x", lambda: [some(64)]),
    "stencils": (
        60,
        "x",
        "",
        lambda i: f"x = np.concatenate([x[:1], (x[2:] + x[:-2]) * {0.5 + i * 1e-6}, x[-1:]])",
        "x",
        lambda: [some(64)],
    ),
    "writes": (
        200,
        "x",
        "x = x.copy()",
        lambda i: f"x[{i % 8}:{i % 8 + 8}] = x[{i * 3 % 8}:{i * 3 % 8 + 8}] * {0.9 + i * 1e-6} + 1",
        "x",
        lambda: [some(64)],
    ),
    "results": (100, "x", "r = []", lambda i: f"r.append(np.sin(x * {i + 1}))", "tuple(r)", lambda: [some(64)]),
    "parts": (200, "x", "r = []", lambda i: f"r.append(x * {i + 1})", "np.stack(r)", lambda: [some(64)]),
    "far back": (
        200,
        "x",
        "r = [x]",
        lambda i: f"r.append(np.sin(r[-1]) * {1 + i * 1e-5} + r[len(r) // 2])",
        "r[-1]",
        lambda: [some(64)],
    ),
    "products": (
        60,
        "x, w",
        "",
        lambda i: f"x = np.tanh(x @ w * {0.1 + i * 1e-5})",
        "x",
        lambda: [some(16, 16), some(16, 16)],
    ),
    "routines": (60, "x", "", lambda i: f"x = np.sort(x * {-0.9 + i * 1e-5})", "x", lambda: [some(64)]),
}


def function_of(name: str, steps: int) -> Any:
    _, parameters, first, step, result, _ = PROGRAMS[name]
    lines = [f"def f({parameters}):", *([first] if first else []), *(step(i) for i in range(steps)), f"return {result}"]
    space: dict[str, Any] = {"np": np}
    exec(compile("\n    ".join(lines), "<program>", "exec"), space)
    return space["f"]


def seconds(name: str, steps: int) -> tuple[float, Any]:
    """CPU time of all threads, which other processes do not change much."""
    arguments = PROGRAMS[name][5]()
    graph = wf.trace(function_of(name, steps), *arguments)
    start = time.process_time()
    program = wf.compile(graph)
    return time.process_time() - start, (program, arguments)


def as_tuple(result: Any) -> tuple:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compile_time_is_linear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE", "off")
    steps = PROGRAMS[name][0]
    ratios = []
    for _ in range(4):
        few, _ = seconds(name, steps)
        many, (program, arguments) = seconds(name, 4 * steps)
        ratios.append(many / few)
        if ratios[-1] < 5:
            break
    assert min(ratios) < 5, ratios
    with np.errstate(all="ignore"):
        wanted = function_of(name, 4 * steps)(*arguments)
    for got, value in zip(*map(as_tuple, (program(*arguments), wanted)), strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-6, atol=1e-12)
