"""Loops that write an array at several places in a turn, and read others: nothing is copied, so a turn takes what it takes of any size."""

from __future__ import annotations

import re

import numpy as np
import pytest

import weftwork as wf

N = 3000
RNG = np.random.default_rng(3)
X, K = RNG.standard_normal(N), RNG.integers(0, N, N)


def shuffled(x, k):
    x = x.copy()
    for i in range(len(x)):
        j = k[i]
        t = x[i]
        x[i] = x[j]
        x[j] = t
    return x


def sorted_pairs(x, k):
    x = x.copy()
    for i in range(len(x) - 1):
        if x[i] > x[i + 1]:
            x[i], x[i + 1] = x[i + 1], x[i]
    return x


def shifted(x, k):
    x = x.copy()
    for i in range(len(x) - 1):
        x[i], x[i + 1] = x[i + 1] + 1, x[i]
    return x


def spread(x, k):
    y = np.zeros_like(x)
    for i in range(1, len(x) - 1):
        y[i - 1] += x[i] * 0.25
        y[i] += x[i] * 0.5
        y[i + 1] += x[i] * 0.25
    return y


def two_arrays(x, k):
    y, c = np.zeros_like(x), np.zeros(len(x), int)
    for i in range(len(x)):
        if x[i] > 0:
            y[k[i]] += x[i]
            c[k[i]] += 1
        else:
            y[k[i]] -= 1
    return y, c


def linked(x, k):
    p = np.arange(len(x))
    for i in range(len(x)):
        a, b = p[i], p[k[i]]
        if a < b:
            p[k[i]] = a
        else:
            p[i] = b
    return p


def labelled(x, k):
    u = x.reshape(60, -1)
    label = np.zeros(u.shape, np.int64)
    for i in range(1, u.shape[0]):
        for j in range(1, u.shape[1]):
            if u[i, j] > 0.5:
                if label[i - 1, j] > 0:
                    label[i, j] = label[i - 1, j]
                elif label[i, j - 1] > 0:
                    label[i, j] = label[i, j - 1]
                else:
                    label[i, j] = i * 1000 + j
    return label


def through_what_is_written(x, k):
    k = k.copy()
    for i in range(len(x) - 1):
        k[i + 1] = (k[k[i]] + i) % len(x)
        k[k[i + 1]] = i
    return k


FUNCTIONS = [shuffled, sorted_pairs, shifted, spread, two_arrays, linked, labelled, through_what_is_written]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_values(function):
    wanted = function(X.copy(), K.copy())
    for target in ("native", "avx2", "x86-64"):
        with wf.knobs(target=target):
            got = wf.jit(function)(X.copy(), K.copy())
        for a, b in zip(np.atleast_1d(got), np.atleast_1d(wanted), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_nothing_is_copied_in_a_turn(function):
    text = wf.trace(function, X, K).core.kernels_text()
    program = text[: text.index("\nkernel ")]
    inside = set(re.findall(r"^ {4,}(\w+)\(", program, re.MULTILINE))
    assert inside
    for kernel in text.split("\nkernel ")[1:]:
        if kernel.split(":")[0].split(" ")[0] in inside:
            assert not re.search(r"for \.\w+ < \d\d", kernel), kernel


def test_all_orders_of_reads_and_writes():
    """Three writes and four reads of one array, in drawn orders and at drawn places."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        places = ["i", "i + 1", "i + 2", "k[i]", "k[i + 1]", "(i * 7) % 50"]
        lines, names = [], ["0.5"]
        for step in range(7):
            at = places[rng.integers(len(places))]
            if rng.random() < 0.5:
                lines.append(f"v{step} = x[{at}]")
                names.append(f"v{step}")
            else:
                a, b = rng.choice(names, 2)
                lines.append(f"x[{at}] = {a} * 0.5 - {b}")
        source = "def f(x, k):\n x = x.copy()\n for i in range(40):\n" + "\n".join(f"  {line}" for line in lines)
        space: dict = {}
        exec(source + "\n return x", space)
        x, k = rng.standard_normal(50), rng.integers(0, 50, 50)
        np.testing.assert_allclose(wf.jit(space["f"])(x, k), space["f"](x, k), rtol=1e-12, err_msg=source)


def test_who_listens_sees_the_same(tmp_path):
    """Turns take their kernels in where nobody wants to know of each launch."""
    fast = wf.jit(labelled)
    wanted = labelled(X, K)
    np.testing.assert_array_equal(fast(X, K), wanted)
    with wf.profile(str(tmp_path / "trace.json")):
        np.testing.assert_array_equal(fast(X, K), wanted)
    assert (tmp_path / "trace.json").stat().st_size > 0
    np.testing.assert_array_equal(fast(X, K), wanted)


def test_rows_are_swapped_by_a_counter_and_an_index():
    def eliminated(a):
        a = a.copy()
        for k in range(len(a) - 1):
            p = k + np.argmax(np.abs(a[k:, k]))
            if p != k:
                a[[k, p]] = a[[p, k]]
            for i in range(k + 1, len(a)):
                a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
        return a

    a = np.random.default_rng(0).standard_normal((12, 12))
    np.testing.assert_allclose(wf.jit(eliminated, strict=True)(a), eliminated(a), rtol=1e-9, atol=1e-12)
