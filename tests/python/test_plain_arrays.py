"""Arrays that NumPy makes of constants in a jitted function: whoever has them sees what is written, and they stay in one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


class Holder:
    pass


def in_containers(x: Any) -> Any:
    rows, pair, table = [np.array([1.0, 2.0, 3.0]), 5], (np.array([1.0, 2.0, 3.0]),), {"a": np.array([1, 2, 3])}
    rows[0][1] = pair[0][0] = table["a"][2] = x.sum()
    return rows, pair, table


def in_nested_lists(x: Any) -> Any:
    a = np.array([1.0, 2.0, 3.0])
    rows = [[a], 5]
    rows[0][0][1] = x.sum()
    return a, rows


def in_an_object(x: Any) -> Any:
    holder = Holder()
    holder.a = np.array([1.0, 2.0, 3.0])
    before = holder.a
    for i in range(20):
        holder.a[i % 3] = x.sum() * i
    return before, holder.a


def in_a_view(x: Any) -> Any:
    a = np.array([[3.0, 1.0, 2.0]]).T
    part = a[1:]
    part[0] = x.sum()
    a.flat[2] = x[0]
    return a, part


def in_arguments(x: Any) -> Any:
    def write(*args: Any, **named: Any) -> None:
        named["r"][1] = x.sum()
        args[0][2] = 7

    a = np.array([1.0, 2.0, 3.0])
    write(a, r=a)
    return a


def in_a_generator(x: Any) -> Any:
    def states() -> Any:
        a = np.array([1.0, 2.0, 3.0])
        yield a
        a[1] = x.sum()
        yield a

    return list(states())


def in_a_method(x: Any) -> Any:
    a = np.array([1.0, 2.0, 3.0])
    total = a.sum
    a[1] = x.sum()
    return total()


def of_operators(x: Any) -> Any:
    found = [
        np.array([3.0, 1.0]) * 2,
        -np.array([3.0, 1.0]),
        np.array([3.0, 1.0]) > 1,
        np.reshape([1.0, 2.0, 3.0, 4.0], (2, 2)),
        np.array(2.0),
    ]
    names = list(found)
    for a in found:
        a[...] = x[0]
    return names


def of_no_order(x: Any) -> Any:
    a = np.array([[1.0, 2.0], [3.0, 4.0]], order="F")
    a[0, 1] = x[0]
    return a, a.ravel("K")


def as_output(x: Any) -> Any:
    a, b, c, d = (np.array([1.0, 2.0, 3.0]) for _ in range(4))
    names = [a, b, c, d]
    np.exp(x, out=a)
    b += x
    np.copyto(c, x)
    np.add.at(d, [0, 0], x[:2])
    return names


def counted(x: Any) -> Any:
    a, b, c = np.array([0.0, 0.0, 0.0]), np.array([3.0, 1.0, 2.0]), np.array([1, 2, 3])
    for i in range(100):
        a += 1
        np.multiply(b, 1.01, out=b)
        c.fill(i)
    return a + x, b, c


@pytest.mark.parametrize(
    "function",
    [
        in_containers,
        in_nested_lists,
        in_an_object,
        in_a_view,
        in_arguments,
        in_a_generator,
        in_a_method,
        of_operators,
        of_no_order,
        as_output,
        counted,
    ],
)
def test_a_write_is_seen_by_whoever_has_the_array(function: Callable[..., Any]) -> None:
    jitted = wf.jit(function)
    for x in (np.array([1.0, -2.0, 4.0]), np.array([0.5, 8.0, 1.0])):
        want, found = function(x.copy()), jitted(x.copy())
        assert repr(found) == repr(want)
    assert jitted.ways == {"compiled": 2, "pieces": 0, "plain": 0}


def test_what_compile_reads_from_the_surroundings_is_not_written() -> None:
    rows = [np.zeros(3)]

    def write(x: Any) -> Any:
        rows.pop()[0] = x.sum()
        return x

    with pytest.raises(wf.errors.UnsupportedError):
        wf.compile(write, np.ones(3))


def by_a_mask(x: Any) -> Any:
    table = np.linspace(0, 1, 3)
    return table[x > 0].sum(), table[x < 0].max(initial=-1)


def by_a_place(x: Any) -> Any:
    grid = np.linspace(0, 1, 12).reshape(3, 4)
    row = grid[np.argmax(x)]
    row[1] = 7
    return grid, row + x[0], grid[np.argmin(x), 2]


def by_places(x: Any) -> Any:
    rows, columns = np.ogrid[0:1:3j, 0:2:3j]
    plane = rows + 1j * columns
    inside = np.abs(plane) * x.max() < 1
    result = np.zeros_like(plane)
    for _ in range(12):
        result[inside] = result[inside] ** 2 + plane[inside]
    return result, plane[np.argsort(x)]


@pytest.mark.parametrize("function", [by_a_mask, by_a_place, by_places])
def test_reads_at_places_that_the_program_computes(function: Callable[..., Any]) -> None:
    jitted = wf.jit(function)
    for x in (np.array([1.0, -2.0, 4.0]), np.array([0.5, 8.0, -1.0])):
        for found, want in zip(jitted(x.copy()), function(x.copy()), strict=True):
            assert type(found) is type(want)
            np.testing.assert_allclose(found, want, rtol=1e-14)
    assert jitted.ways == {"compiled": 2, "pieces": 0, "plain": 0}
