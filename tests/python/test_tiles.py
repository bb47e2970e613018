"""Loops over stencils whose turns follow each other through a few rows at a time: NumPy's bits whatever the order."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf


def jacobi(a: Any, b: Any) -> Any:
    for _ in range(13):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def carried(a: Any, b: Any) -> Any:
    for _ in range(20):
        c = a.copy()
        c[1:-1] = a[1:-1] + 0.125 * (a[2:] - 2 * a[1:-1] + a[:-2])
        a = c
    return a * b


def wave(a: Any, b: Any) -> Any:
    for _ in range(9):
        c = 2 * a - b
        c[1:-1, 1:-1] += 0.125 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1])
        a, b = c, a
    return a, b


def far_and_one_sided(a: Any, b: Any) -> Any:
    for _ in range(11):
        b[3:-1] = 0.5 * a[3:-1] + 0.25 * a[:-4] - 0.125 * a[4:]
        a[2:] = 0.75 * b[2:] - 0.25 * b[:-2]
    return a, b


def with_a_source(a: Any, b: Any) -> Any:
    f, c = b * b, np.zeros_like(a)
    for _ in range(8):
        c[1:-1] = a[1:-1] + 0.125 * (a[2:] - 2 * a[1:-1] + a[:-2]) * f[1:-1]
        a[:] = c * 0.5 + f[::-1]
    return a, c


def up_the_rows(a: Any, b: Any) -> Any:
    for _ in range(8):
        b[:-1] = a[1:]
        a[:] = b * 1.5 - 0.5
    return a, b


def with_edges(a: Any, b: Any) -> Any:
    for _ in range(10):
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        b[0] = b[1]
        b[-1] = b[-2]
        a[:] = b * 0.75
    return a, b


def as_time_goes_by(a: Any, b: Any) -> Any:
    for i in range(12):
        b[1:-1] = a[1:-1] + i * 0.125 * (a[2:] - a[:-2])
        a[1:-1] = b[1:-1] * 0.5 + i
    return a, b


def in_place(a: Any, b: Any) -> Any:
    for _ in range(10):
        a += 0.25 * b
        b[1:-1] = 0.5 * (a[2:] - a[:-2])
    return a, b


def around(a: Any, b: Any) -> Any:
    for _ in range(6):
        b[:] = 0.5 * (np.roll(a, 1, 0) + np.roll(a, -1, 0))
        a[:] = b * 0.75 + 1
    return a, b


PROGRAMS = [
    jacobi,
    carried,
    wave,
    far_and_one_sided,
    with_a_source,
    up_the_rows,
    with_edges,
    as_time_goes_by,
    in_place,
    around,
]


def agree(function: Callable[..., Any], *args: Any) -> None:
    wanted = [v.copy() for v in args]
    results = function(*wanted)
    for threads in (1, 2, 3):
        ours = [v.copy() for v in args]
        with wf.knobs(threads=threads):
            found = wf.jit(function)(*ours)
        for a, b in zip(
            [*ours, *(found if isinstance(found, tuple) else (found,))],
            [*wanted, *(results if isinstance(results, tuple) else (results,))],
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)


# More than a core's cache holds, and more than any.
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [(np.float64, (413, 401)), (np.float64, (1607, 1021)), (np.float32, (37, 87_001)), (np.float64, (12_001, 140))],
)
def test_stencils_over_planes(function: Callable[..., Any], dtype: type, shape: tuple[int, int]) -> None:
    agree(function, *np.random.default_rng(5).random((2, *shape)).astype(dtype))


@pytest.mark.parametrize("shape", [(1_700_001,), (130_001,), (130, 111, 113), (61, 57, 59), (35, 36, 37, 38)])
def test_stencils_over_lines_and_solids(shape: tuple[int, ...]) -> None:
    def inside(a: Any, b: Any) -> Any:
        middle = (slice(1, -1),) * a.ndim
        for _ in range(9):
            for x, y in ((a, b), (b, a)):
                total = x[middle] * 0.5
                for axis in range(x.ndim):
                    for part in (slice(2, None), slice(None, -2)):
                        total = total + 0.0625 * x[(*middle[:axis], part, *middle[axis + 1 :])]
                y[middle] = total
        return a, b

    agree(inside, *np.random.default_rng(6).random((2, *shape)))


def test_which_loops_are_taken_in_tiles(tmp_path: Path) -> None:
    a, b = np.zeros((2, 1607, 1021))
    for function, tiled in (
        (jacobi, True),
        (far_and_one_sided, True),
        (in_place, True),
        (with_edges, False),
        (as_time_goes_by, False),
        (around, False),
    ):
        with wf.knobs(dump=str(tmp_path / function.__name__), cache="off"):
            wf.compile(function, a, b)
        text = "".join(path.read_text() for path in (tmp_path / function.__name__).rglob("20-kernels.txt"))
        assert (" in tiles" in text) == tiled, function.__name__


def before_nothing(values: np.ndarray) -> np.ndarray:
    """The same elements in front of memory that must not be read."""
    page = mmap.PAGESIZE
    size = -(-values.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    libc = ctypes.CDLL(None, use_errno=True)
    end = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + size
    assert libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(page), 0) == 0
    result = np.frombuffer(memory, values.dtype, values.size, size - values.nbytes).reshape(values.shape)
    result[...] = values
    return result


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("n", [*range(7, 90, 5), 128, 129, 200, 1003])
def test_stencils_along_lines_read_no_more_than_there_is(dtype: type, n: int) -> None:
    def near(x: Any) -> Any:
        return x[:, :-3] + x[:, 1:-2] * x[:, 3:] - x[:, 2:-1], x[:, 5:] - x[:, :-5]

    def line(x: Any) -> Any:
        return x[0, 2:] - x[0, :-2] + 2 * x[0, 1:-1]

    x = before_nothing((np.random.default_rng(n).random((3, n)) * 50).astype(dtype))
    dynamic = {"x": {1: wf.Dim("n", 6, 100, 2000)}}
    for function in (near, line):
        wanted = function(x)
        for found in (wf.jit(function)(x), wf.jit(function, dynamic=dynamic)(x)):
            for a, b in zip(
                found if isinstance(found, tuple) else (found,),
                wanted if isinstance(wanted, tuple) else (wanted,),
                strict=True,
            ):
                np.testing.assert_array_equal(a, b)
