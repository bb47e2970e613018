"""Loops that write arrays in place and bind their names to others: which array a turn writes, and who sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


def written_then_bound(a: Any, b: Any) -> Any:
    for _ in range(12):
        a += b
        a = a * 0.5
    return a


def of_a_copy(a: Any, b: Any) -> Any:
    a = a.copy()
    for _ in range(12):
        a += b
        a = a * 0.5
    return a


def kept_by_another_name(a: Any, b: Any) -> Any:
    c = a
    for _ in range(12):
        a += b
        a = a * 0.5
    return a, c


def written_by_another_name(a: Any, b: Any) -> Any:
    b = a
    for _ in range(12):
        b += 1
        a = a * 0.5
    return a, b


def through_views(a: Any, b: Any) -> Any:
    for _ in range(12):
        a = a[::-1]
        a[1:] += a[:-1]
    return a


def a_view_from_before(a: Any, b: Any) -> Any:
    a = a.copy()
    v = a[1:]
    for _ in range(12):
        a += 1
        a = a * 0.5
        v += 1
    return a, v


def exchanged(a: Any, b: Any) -> Any:
    for _ in range(12):
        b[1:-1] = a[2:] + a[:-2]
        a, b = b, a
    a += 1
    return a, b


def exchanged_copies(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for _ in range(12):
        b[1:-1] = a[2:] + a[:-2]
        a, b = b, a
    return a, b


def one_array_of_two_names(a: Any, b: Any) -> Any:
    for _ in range(12):
        b += 1
        a = a * 0.5 + b
        b = a
    return a, b


def a_view_of_the_other(a: Any, b: Any) -> Any:
    for _ in range(12):
        b[1:] += 1
        a = a * 0.5
        b = a[::-1]
    return a, b


def a_name_for_each_turn(a: Any, b: Any) -> Any:
    for _ in range(12):
        c = a
        c += 1
        a = a * b
    return a, c


def in_turn(a: Any, b: Any) -> Any:
    c = a + 1
    for _ in range(12):
        a = c
        a += b
        c = c * 0.5
    return a, c


def nested(a: Any, b: Any) -> Any:
    for _ in range(12):
        a = a * 0.5
        c = a
        for _ in range(10):
            c += 1
            a = a + c
    return a, c


def a_view_after_a_loop(a: Any, b: Any) -> Any:
    for i in range(9):
        b[1:-1] = a[:-2] - a[2:]
        for _ in range(9 + i):
            b = b[::-1]
    return b


def an_older_array(a: Any, b: Any) -> Any:
    c = a * 2
    for i in range(9):
        c[1:-1] = c[:-2] + c[2:]
        for _ in range(9 + i):
            c = b
    return c


def shared_when_it_begins(a: Any, b: Any) -> Any:
    for i in range(10):
        a = a * 0.5
        b = a
        for _ in range(9 + i):
            b[1:2] = a[:1] + a[2:3]
            b, a = a, np.minimum(a, b)
    return a, b


def views_that_a_loop_inside_gives(a: Any, b: Any) -> Any:
    a, b, c = a.copy(), b.copy(), a + b
    for i in range(12):
        a = a[::-1]
        b[::2] = c[::2]
        for _ in range(i + 1):
            b = c[::-1]
            a = np.roll(a, 2, 0)
            b = a[::-1]
    return a, b


def a_number_that_begins_evenly(a: Any, b: Any) -> Any:
    k = 1
    for _ in range(13):
        k = k + 2
        for _ in range(10):
            k = k + k % 3
    return a * k, k


FUNCTIONS = [written_then_bound, of_a_copy, kept_by_another_name, written_by_another_name, through_views, a_view_from_before, exchanged, exchanged_copies,
             one_array_of_two_names, a_view_of_the_other, a_name_for_each_turn, in_turn, nested, a_view_after_a_loop, an_older_array, shared_when_it_begins, views_that_a_loop_inside_gives, a_number_that_begins_evenly]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("run", [wf.jit, wf.simulate])
def test_names_bound_anew(function: Callable[..., Any], run: Any) -> None:
    ours = list(np.random.default_rng(8).random((2, 9)))
    wanted = [v.copy() for v in ours]
    results, found = function(*wanted), run(function)(*ours)
    results, found = (v if isinstance(v, tuple) else (v,) for v in (results, found))
    for a, b in zip([*found, *ours], [*results, *wanted], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("function", [of_a_copy, exchanged_copies])
def test_arrays_that_nothing_else_refers_to_are_carried(function: Callable[..., Any]) -> None:
    a, b = np.random.default_rng(8).random((2, 9))
    assert "for(" in str(wf.trace(function, a, b))


def test_a_loop_that_has_to_be_one_tells_of_the_view() -> None:
    def function(a: Any, b: Any) -> Any:
        for _ in wf.range(12):
            b += 1
            a = a * 0.5 + b
            b = a
        return a, b

    a, b = np.random.default_rng(8).random((2, 9))
    with pytest.raises(wf.errors.UnsupportedError, match="cannot be kept as one"):
        wf.jit(function)(a, b)
