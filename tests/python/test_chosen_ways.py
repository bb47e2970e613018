"""Conditions outside of loops: one program where that gives what Python gives, pieces where Python has to have the value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from same_types import same

import weftwork as wf

pytestmark = pytest.mark.usefixtures("at_once")

X = np.array([3.0, 1.0, 2.0])


def scaled(x: Any) -> Any:
    if x.max() > 1:
        x = x / 255
    return x * 2


def returned(x: Any) -> Any:
    if x[0] > 0:
        return x @ x
    return x.sum() * 2


def checked(x: Any) -> Any:
    if x.min() < 0:
        raise ValueError("negative")
    return np.sqrt(x)


def of_either_type(x: Any) -> Any:
    t = 0
    if x[0] > 0:
        t = x[0]
    return t


def written(x: Any) -> Any:
    y = x.copy()
    if x[0] > 0:
        y[1] = 5
    elif x[1] > 0:
        y[0] = 3
    else:
        y = y * 2
    return y


def written_for_the_caller(x: Any) -> Any:
    if x.sum() > 0:
        x[0] = -1
    return x[1:]


def both_hold(x: Any) -> Any:
    return x + 1 if (x[0] > 0 and x[1] > 0) or not x[2] > 0 else x - 1


def clipped(x: Any) -> Any:
    return min(max(float(x[0]), -1.0), 1.0)


def rooted(x: Any) -> Any:
    return math.sqrt(x[0]) * x if x[0] > 0 else x * 0


def helped(x: Any) -> Any:
    return scaled(x) + returned(x)


COMPILED = [scaled, returned, of_either_type, written, written_for_the_caller, both_hold, helped]


def itself(x: Any) -> Any:
    norm = np.sqrt(x @ x)
    return x if norm == 0 else x / norm


def of_two_shapes(x: Any) -> Any:
    return x[1:] if x[0] > 0 else x


def counted(x: Any, seen: dict[str, int]) -> Any:
    if x[0] > 0:
        seen.update(n=seen["n"] + 1)
    return x * seen["n"]


def outcome(function: Callable[..., Any], x: np.ndarray) -> Any:
    try:
        return function(x), x
    except ValueError as error:
        return str(error), x


@pytest.mark.parametrize(
    "function", COMPILED + [checked, clipped, rooted, itself, of_two_shapes], ids=lambda f: f.__name__
)
def test_results_and_types_are_pythons(function: Callable[..., Any]) -> None:
    fast = wf.jit(function, strict=False)
    for x in (X, -X, X * 0, X, np.array([np.nan, 1.0, -1.0]), X.astype(np.float32), np.array([-1, 2, 3]), X[::-1]):
        same(outcome(fast, x.copy()), outcome(function, x.copy()))
    if function in COMPILED:
        # Of integers a way gives another dtype than the other.
        assert fast.ways["pieces"] <= (function in (scaled, helped)) and not fast.ways["plain"], fast.ways


def test_a_way_that_raises_runs_plainly() -> None:
    fast = wf.jit(checked, strict=False)
    for _ in range(2):
        same(fast(X), checked(X))
        with pytest.raises(ValueError, match="negative"):
            fast(-X)
    assert fast.ways == {"compiled": 2, "pieces": 0, "plain": 2}


def test_an_argument_that_a_way_returns_is_itself() -> None:
    fast = wf.jit(itself, strict=False)
    zero = X * 0
    assert fast(zero) is zero
    same(fast(X), itself(X))
    assert fast.ways == {"compiled": 2, "pieces": 0, "plain": 0}


def test_a_way_that_changes_more_than_arrays_has_pieces() -> None:
    fast = wf.jit(counted, strict=False)
    for x in (X, -X, X):
        mine, theirs = {"n": 1}, {"n": 1}
        same(fast(x, mine), counted(x, theirs))
        assert mine == theirs
    assert not fast.ways["compiled"]


def names(x: Any) -> Any:
    found = []
    for i in range(20):
        found.append((bool(x[i] > 1) is True, x[i] is None, not x[i] > 1))
    return found, "ab" * int(x[3]), bool(x[0] > 1) is bool(x[1] > 1), (not x[0] > 1) is not False


@pytest.mark.parametrize("strict", [True, False])
def test_which_truth_value_it_is(strict: bool) -> None:
    def last(x: Any) -> Any:
        is_large = False
        for i in range(20):
            is_large = (x[i] > 1.5) is True or bool(x[i] > 1) is True
        return is_large

    fast = wf.jit(last, strict=strict)
    for x in (np.arange(20.0), -np.arange(20.0)):
        assert bool(fast(x)) is last(x)


def test_texts_and_truth_values_that_are_computed() -> None:
    fast = wf.jit(names, strict=False)
    for x in (np.arange(20.0), 20 - np.arange(20.0), np.full(20, 2.0)):
        same(fast(x), names(x))
    with pytest.raises(wf.Error):
        wf.jit(names, strict=True)(np.arange(20.0))
