"""Loops with conditions on elements, counters and numbers that they carry: what programs without arrays of their own look like.

FORMS are compiled whole; PLAINLY are functions of which nothing may be chosen, as more than arrays and variables come of
their conditions.
"""

from __future__ import annotations

import math

import numpy as np

FORMS = []
PLAINLY = []


def form(function):
    FORMS.append(function)
    return function


def plainly(function):
    PLAINLY.append(function)
    return function


def clamp(v, low, high):
    if v < low:
        return low
    if v > high:
        return high
    return v


@form
def count(x, k):
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            n += 1
    return n


@form
def best(x, k):
    top, at = -np.inf, -1
    for i in range(len(x)):
        if x[i] > top:
            top = x[i]
            at = i
    return top, at


@form
def best_in_rows(x, k):
    m = x.reshape(5, -1)
    row = column = 0
    top = m[0, 0]
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > top:
                top, row, column = m[i, j], i, j
    return top, row, column


@form
def differences(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if i > 0:
            y[i] = x[i] - x[i - 1]
        else:
            y[i] = -1
    return y


@form
def by_counter(x, k):
    s = 0.0
    for i in range(len(x)):
        if i % 3 == 0:
            s += x[i]
        elif i % 3 == 1 and i != 4:
            s -= x[i]
    return s


@form
def triangle(x, k):
    m = x.reshape(5, -1)
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            out[i, j] = m[i, j] if j >= i else -1
    return out


@form
def relu(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = max(0.0, x[i])
    return y


@form
def conditional_expressions(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = 1 if x[i] > 0.5 else (x[i] if x[i] > -0.5 else -1)
    return y


@form
def connectives(x, k):
    n = 0
    for i in range(len(x)):
        if (x[i] > 0 and k[i] > 20) or x[i] < -1:
            n += 2
        elif not x[i] < 0.1 and k[i]:
            n -= 1
    return n


@form
def swaps(x, k):
    x = x.copy()
    for i in range(len(x)):
        j = k[i]
        if x[i] < x[j]:
            t = x[i]
            x[i] = x[j]
            x[j] = t
    return x


@form
def with_continue(x, k):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        s += np.sqrt(x[i])
    return s


@form
def with_helper(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = clamp(x[i], -0.5, 0.5)
    return y


@form
def histogram(x, k):
    h = np.zeros(50, int)
    for i in range(len(x)):
        if x[i] > 0:
            h[k[i]] += 1
    return h


@form
def guarded_index(x, k):
    s = 0.0
    for i in range(len(x)):
        j = k[i] + 30
        if j < len(x):
            s += x[j]
    return s


@form
def alignment(x, k):
    a, b = k[:20] % 4, k[20:45] % 4
    h = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            h[i, j] = max(0, h[i - 1, j - 1] + (2 if a[i - 1] == b[j - 1] else -1), h[i - 1, j] - 1, h[i, j - 1] - 1)
    return h


@form
def warping(x, k):
    n = 12
    d = np.full((n + 1, n + 1), np.inf)
    d[0, 0] = 0
    for i in range(n):
        for j in range(n):
            d[i + 1, j + 1] = abs(x[i] - x[j + n]) + min(d[i, j], d[i, j + 1], d[i + 1, j])
    return d[n, n]


@form
def all_positive(x, k):
    ok = True
    for i in range(len(x)):
        if x[i] < -1e6:
            ok = False
    return ok


@form
def validated(x, k):
    s = 0.0
    for i in range(len(x)):
        if x[i] < -1e6:
            raise ValueError(f"{i}")
        s += x[i]
    return s


@form
def mean_of_some(x, k):
    s, n = 0.0, 0
    for i in range(len(x)):
        if x[i] > 0:
            s += x[i]
            n += 1
    return s / n, n


@form
def scalar_functions(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = math.sin(x[i]) + (math.log(x[i]) if x[i] > 0 else math.exp(x[i])) + math.floor(x[i] * 3) + round(x[i])
    return y


@form
def binned(x, k):
    h = np.zeros(10, int)
    for i in range(len(x)):
        b = int((x[i] + 3) / 0.6)
        if 0 <= b < 10:
            h[b] += 1
    return h


@form
def escaping(x, k):
    z, n = 0j, 0
    for i in range(len(x)):
        if abs(z) < 2:
            z, n = z * z + x[i], n + 1
    return z, n


@form
def short_loops_inside(x, k):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            for d in (-1, 0, 1):
                s += d * x[i]
            for j in range(4):
                s += x[j]
    return s


@form
def of_nan(x, k):
    top = -np.inf
    for i in range(len(x)):
        v = np.nan if i == 7 else x[i]
        top = max(top, v)
    return top


@form
def written(x, k):
    for i in range(len(x)):
        if x[i] < 0:
            x[i] = 0
    return x.sum()


@plainly
def appended(x, k):
    out = []
    for i in range(len(x)):
        if x[i] > 0:
            out.append(x[i])
    return out


@plainly
def in_a_dict(x, k):
    d = {"n": 0}
    for i in range(len(x)):
        if x[i] > 0:
            d["n"] += 1
    return d["n"]


@plainly
def in_a_list(x, k):
    d = [0, 0]
    for i in range(len(x)):
        d[1 if x[i] > 0 else 0] += 1
    return d


@plainly
def of_an_iterator(x, k):
    it, s = iter(range(100)), 0
    for i in range(len(x)):
        if x[i] > 0:
            s += next(it)
    return s


@plainly
def of_a_closure(x, k):
    n = 0

    def more():
        nonlocal n
        n += 1

    for i in range(len(x)):
        if x[i] > 0:
            more()
    return n


@plainly
def seen_by_a_closure(x, k):
    n = 0
    seen = lambda: n
    for i in range(len(x)):
        if x[i] > 0:
            n += 1
    return n, seen()


@plainly
def reshaped(x, k):
    y = x.copy()
    for i in range(len(x)):
        if x[i] > 0:
            y.shape = (5, 10)
    return y


@plainly
def drawn(x, k):
    rng, s = np.random.default_rng(0), 0.0
    for i in range(len(x)):
        if x[i] > 0:
            s += rng.random()
    return s


@plainly
def caught(x, k):
    s = 0.0
    for i in range(len(x)):
        try:
            if x[i] > 1:
                raise ValueError
            s += x[i]
        except ValueError:
            s += 100
    return s


@plainly
def found(x, k):
    for i in range(len(x)):
        if x[i] > 1:
            return i
    return -1


@plainly
def ended(x, k):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1:
            break
        s += x[i]
    return s


@plainly
def inserted(x, k):
    y = x.copy()
    for i in range(1, len(y)):
        v, j = y[i], i - 1
        while j >= 0 and y[j] > v:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = v
    return y


@plainly
def other_array(x, k):
    chosen, top = np.zeros(3), 0.0
    for i in range(len(x)):
        c = np.array([x[i], 2 * x[i], 1.0])
        if x[i] > top:
            chosen, top = c, x[i]
    return chosen, top


@plainly
def never_better(x, k):
    top = 1e300
    for i in range(len(x)):
        if x[i] > top:
            top = x[i]
    return top


@plainly
def beyond_64_bits(x, k):
    h = 1
    for i in range(len(x)):
        if x[i] > -1e6:
            h = h * 31 + 7
    return h


@plainly
def fibonacci(x, k):
    a, b = 0, 1
    for _ in range(2 * len(x)):
        a, b = b, a + b
    return a
