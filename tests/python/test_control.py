"""wf.while_loop, wf.cond and wf.scan: the same under NumPy, simulate and jit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_numpy import close

import weftwork as wf

RNG = np.random.default_rng(8)
V = RNG.normal(size=9)


def newton(x):
    step = lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1, np.abs(s[0] * s[0] - x).max())
    return wf.while_loop(lambda s: (s[2] > 1e-9) & (s[1] < 50), step, (np.ones_like(x), 0, np.float64(1.0)))[0]


def halving(x):
    return wf.while_loop(
        lambda s: s["v"].sum() > 1, lambda s: {"v": s["v"] * 0.5, "n": s["n"] + 1}, {"v": x * x, "n": np.int64(0)}
    )


def branch(x):
    return wf.cond(x.sum() > 0, lambda v: (v * 2, v.sum()), lambda v: (v - V, v.min()), x)


def branch_in_loop(x):
    for i in range(20):
        x = wf.cond(x[0] > 0, lambda v, _: v - 0.3, lambda v, turn: v + 0.7 * turn, x, i)
    return x


def running(x):
    return wf.scan(lambda c, v: (c * 0.5 + v, (c, v * c)), np.zeros(3), x)


def counted(x):
    return wf.scan(lambda c, _: (c * 1.5, c.sum()), x, length=7)


CASES: list[tuple[Any, tuple]] = [
    (newton, (np.abs(V) + 1,)), (halving, (V,)), (branch, (V,)), (branch, (-V,)), (branch_in_loop, (V,)),
    (running, (RNG.normal(size=(12, 3)),)), (counted, (V,)),
]  # fmt: skip


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_same_as_plain(number: int) -> None:
    function, args = CASES[number]
    wanted = leaves(function(*args))
    for run in (wf.jit, wf.simulate):
        for got, expected in zip(leaves(run(function)(*args)), wanted, strict=True):
            close(np.asarray(got), np.asarray(expected))


def test_only_one_branch_runs_and_types_must_agree() -> None:
    with pytest.raises(wf.Error, match="one function gives"):
        wf.jit(lambda x: wf.cond(x[0] > 0, lambda v: v, lambda v: v[1:], x))(V)
    with pytest.raises(wf.Error, match="where float64"):
        wf.jit(lambda x: wf.while_loop(lambda v: v.sum() < 9, lambda v: v[None], x))(V)


def test_writes_to_the_surroundings_are_refused() -> None:
    def f(x):
        def body(v):
            x[0] = 1
            return v

        return wf.cond(x[0] > 0, body, lambda v: v, x)

    with pytest.raises(wf.Error, match="writes to an array of its surroundings"):
        wf.jit(f)(V.copy())


def test_the_short_text_shows_what_is_within_loops_and_branches() -> None:
    def f(x: np.ndarray) -> np.ndarray:
        x = wf.while_loop(lambda x: np.sum(x) < 10, lambda x: x * 2 + 1, x)
        return wf.cond(x[0] > 3, lambda: np.sin(x), lambda: -x)

    lines = [line.split("  :")[0].rstrip() for line in wf.trace(f, np.ones(3)).text().splitlines()]
    starts = [line.strip().split("(")[0] for line in lines if line.endswith(":")]
    assert starts[0] == "f" and {"condition", "body", "then", "otherwise"} <= set(starts)
    indents = {line.strip().split("(")[0]: len(line) - len(line.lstrip()) for line in lines if "(" in line}
    assert indents["condition"] == 4 and any("sine(" in line and line.startswith("      ") for line in lines)
