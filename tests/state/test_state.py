"""The harness itself is sound: nothing differs by itself, and each wrapper that is wrong on purpose is caught."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.state.generate import program
from tests.state.harness import outcome
from tests.state.wrappers import BROKEN, WRAPPERS

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_is_the_same_twice_without_jit(path):
    found = outcome(path.read_text(), WRAPPERS["plain"])
    assert found.failure is None, found.failure
    assert found.calls >= 2


def test_drawn_programs_are_the_same_twice_without_jit():
    for i in range(100):
        found = outcome(program(f"test.{i}")[0], WRAPPERS["plain"])
        assert found.failure is None, found.failure


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrapper_that_is_wrong_is_caught(name):
    found = [outcome(program(f"test.{i}")[0], WRAPPERS[name]).failure for i in range(80)]
    assert sum(f is not None for f in found) >= 5
