"""Loops whose turns read elements that earlier turns wrote, as filters and tables of dynamic programming do."""

from __future__ import annotations

import random

import numpy as np
import pytest
from same_types import same
from sources import function_of

import weftwork as wf
from weftwork import _core


def drawn(rng: random.Random) -> str:
    """A function of two arrays of 300 elements or of 24 x 24, whose loops read and write near places."""
    one, offset = rng.choice, lambda: rng.choice(["", " - 1", " - 2", " - 3", " + 1", " + 2"])
    is_table = rng.random() < 0.4
    place = (lambda: f"i{offset()}, j{offset()}") if is_table else lambda: one([f"i{offset()}"] * 5 + ["0", "7"])
    value = lambda: f"{one('xyy')}[{place()}]"
    term = lambda: one([value(), f"0.5 * {value()}", f"max({value()}, {value()})", f"({value()} - {value()})", "s"])
    pad = "        " + "    " * is_table
    lines = ["def f(x, y):", "    x, y = x.copy(), y.copy()", "    s = x.ravel()[0]"]
    turns = ["3, n - 3", "n - 4, 2, -1", "3, n - 3, 2"]
    lines += ["    n = len(x)", f"    for i in range({one(turns)}):"]
    if is_table:
        lines.append(f"        for j in range({one(turns)}):")
    for _ in range(one([1, 1, 1, 2, 3])):
        target = place() if rng.random() < 0.4 else "i, j" if is_table else "i"
        update = f"{one('yyx')}[{target}] {one(['=', '=', '='] + ['+='])} {' + '.join(term() for _ in range(one([1, 2, 3])))}"
        lines.append(pad + (f"if {value()} > {value()}: " if rng.random() < 0.2 else "") + update)
    if rng.random() < 0.4:
        lines.append(f"{pad}s = {term()}")
    return "\n".join([*lines, "    return x, y, s"]) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_elements_that_are_read_again(seed):
    rng = random.Random(seed)
    source = drawn(rng)
    shape = (24, 24) if "j in" in source else (300,)
    function = function_of(source, "f", f"recurrence {seed}")
    dtype = rng.choice([np.float64, np.float64, np.float32, np.int64])
    arrays = np.random.default_rng(seed)
    args = tuple((arrays.random(shape) * 9 - 4).astype(dtype) for _ in range(2))
    with np.errstate(all="ignore"):
        wanted = function(*args)
    try:
        same(wf.jit(function)(*args), wanted)
    except AssertionError as error:
        raise AssertionError(source) from error


def test_what_they_read_is_a_number():
    """The element is carried, and is stored where it was."""

    def filtered(x):
        y = np.zeros(len(x))
        for i in range(2, len(x)):
            y[i] = 1.2 * y[i - 1] - 0.4 * y[i - 2] + x[i]
        return y

    def distances(a, b):
        table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                table[i, j] = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]) + (a[i - 1] != b[j - 1])
        return table

    def replaced(function, *args):
        found = _core.run_passes(wf.trace(function, *args).core, ["flatten", "simplify", "scalar_replacement"])
        return wf.Graph(found[0])

    for function, args, carried in ((filtered, (np.ones(1000),), 3), (distances, (np.arange(40), np.arange(40)), 2)):
        graph = replaced(function, *args)
        assert f"carried={carried}" in str(graph)
        same(graph.interpret(*args), function(*args))
    short = replaced(filtered, np.ones(100))
    assert "carried=1" in str(short)  # where numbers would be memory as well


@pytest.mark.parametrize("n", [1, 2, 9, 30, 300])
def test_an_element_at_the_counter_of_an_array_that_is_bound_anew(n):
    """Each turn reads another element of what the turn before has made."""

    def f(x):
        a, s, t = np.zeros(len(x)), 0.0, 0.0
        for i in range(len(x)):
            s, t = a[i], t + a[-1 - i]
            a = x * 2
        return s, t

    x = np.random.default_rng(n).standard_normal(n)
    same(wf.jit(f, strict=False)(x), f(x))
