"""JAX's primitive harnesses: read, run, printed and read back; XLA's values decide.

A sample of every group is in the fast set, a twentieth of all in the slow one; `./dev test harness` runs them all."""

from __future__ import annotations

import collections
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf

pytest.importorskip("jax")

# What takes seconds in XLA or here, and says no more than the others.
SLOW_GROUPS = {"approx_top_k", "random_split"}


PARTS = 20 if os.environ.get("WEFT_HARNESS") == "all" else 1


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("harness", Path(__file__).with_name("harness.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


harness = _load()


def sample() -> list[Any]:
    """Some of every group, evenly over the group, larger groups a few more."""
    groups = collections.defaultdict(list)
    for each in harness.harnesses():
        if each.group_name not in SLOW_GROUPS and "200" not in each.fullname:
            groups[each.group_name].append(each)
    chosen = []
    for members in groups.values():
        count = 1 + (len(members) > 150)
        chosen += [members[(2 * i + 1) * len(members) // (2 * count)] for i in range(count)]
    return chosen


def round_trip(text: str) -> str:
    """What we print, having held it against jaxlib's parser and our own; its text without locations."""
    from test_stablehlo import forms_of_jaxlib

    graph = wf.stablehlo.parse(text)
    printed = graph.stablehlo(locations=False)
    for other in (graph.stablehlo(), *forms_of_jaxlib(graph.stablehlo())):
        again = wf.stablehlo.parse(other)
        assert again.core.equal(graph.core)
        assert again.stablehlo(locations=False) == printed
    return printed


@pytest.mark.parametrize("case", sample(), ids=lambda case: case.fullname[:80])
def test_sample_agrees_with_xla(case: Any) -> None:
    problem = harness.run_one(case, ("interpret", "compile"))
    if problem == "xla":
        pytest.skip("XLA does not run it")
    assert problem is None
    text, _, _ = harness.prepared(case)
    assert "func.func public @main" in round_trip(text)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_agree_with_xla(part: int) -> None:
    problems = {}
    for case in harness.harnesses()[part::20]:
        problem = harness.run_one(case, ("interpret", "compile"))
        if problem not in (None, "xla"):
            problems[case.fullname] = problem
    assert set(problems) <= set(harness.DIFFERENT), problems


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_texts_are_read_back(part: int) -> None:
    import jax

    seen = set()
    for case in harness.harnesses()[part::20]:
        try:
            with jax.enable_x64(True):
                text = jax.jit(case.dyn_fun).lower(*case.dyn_args_maker(np.random.RandomState(0))).as_text()
        except Exception:
            continue
        if text not in seen:
            seen.add(text)
            round_trip(text)
