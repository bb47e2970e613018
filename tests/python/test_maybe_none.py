"""Variables of loops that are None or a number, as the run decides."""

from __future__ import annotations

import numpy as np
import pytest
from same_types import same

import weftwork as wf

FORMS = []


def may_be_none(function):
    FORMS.append(function)
    return function


@may_be_none
def first_place(x, t):
    idx = None
    for i in range(len(x)):
        if x[i] > t:
            idx = i
            break
    return idx


@may_be_none
def last_place(x, t):
    last = None
    for i in range(len(x)):
        if x[i] > t:
            last = i
    return last


@may_be_none
def first_value(x, t):
    for v in x:
        if v > t:
            return v
    return None


@may_be_none
def place_or_else(x, t):
    for i in range(len(x)):
        if x[i] > t:
            break
    else:
        return None
    return i


@may_be_none
def least_above(x, t):
    best = None
    at = None
    for i in range(len(x)):
        if x[i] > t and (best is None or x[i] < best):
            best = x[i]
            at = i
    return best, at


@may_be_none
def longest_run(x, t):
    start = None
    n = 0
    longest = 0
    for i in range(len(x)):
        if x[i] > 0:
            if start is None:
                start = i
            longest = max(longest, i - start + 1)
        else:
            start = None
            n += 1
    return start, n, longest


@may_be_none
def behind_it(x, t):
    idx = None
    for i in range(len(x)):
        if x[i] > t:
            idx = i
    if idx is None:
        return -1
    return idx + 1


@may_be_none
def written_there(x, t):
    idx = None
    for i in range(len(x)):
        if x[i] > t:
            idx = i
    y = x.copy()
    if idx is not None:
        y[idx] = 0
    return y


@may_be_none
def by_a_helper(x, t):
    def find(v):
        for j in range(len(x)):
            if x[j] > v:
                return j
        return None

    k = find(t)
    return k


@may_be_none
def sum_of_found(x, t):
    def find(v):
        for j in range(len(x)):
            if x[j] > v:
                return j

    s = 0
    for i in range(20):
        k = find(t + i * 0.01)
        if k is not None:
            s += k
    return s


@may_be_none
def conditional(x, t):
    best = None
    for i in range(len(x)):
        best = i if x[i] > t else None
    return best


@may_be_none
def added_up(x, t):
    k = None
    for i in range(len(x)):
        if x[i] > t:
            k = i if k is None else k + i
    return k


@may_be_none
def by_its_truth(x, t):
    k = None
    for i in range(len(x)):
        if x[i] > t and not k:
            k = i
    return k


@may_be_none
def in_containers(x, t):
    k = None
    for i in range(len(x)):
        if x[i] > t:
            k = i
    return [k, 1], {"k": k}


@may_be_none
def distances(x, t):
    prev = None
    d = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > t:
            if prev is not None:
                d[i] = i - prev
            prev = i
    return d, prev


@may_be_none
def larger_before(x, t):
    out = np.full(len(x), -1)
    for i in range(len(x)):
        found = None
        for j in range(i):
            if x[j] > x[i] + t:
                found = j
        if found is not None:
            out[i] = found
    return out


@may_be_none
def by_while(x, t):
    i = 0
    r = None
    while i < len(x) and r is None:
        if x[i] > t:
            r = x[i]
        i += 1
    return r, i


@may_be_none
def both_ends(x, t):
    a = b = None
    for v in x:
        if a is None or v < a:
            a = v
        if b is None or v > b:
            b = v
    return a, b


@may_be_none
def of_floats(x, t):
    best = None
    for i in range(len(x)):
        s = float(x[i]) * 2
        if s > t and (best is None or s < best):
            best = s
    return best


@pytest.mark.parametrize("n", [0, 1, 3, 9, 12, 40, 300])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_they_give_what_numpy_gives(function, n, monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")
    x = np.random.default_rng(n).standard_normal(n)
    for t in (0.5, 2.4, 99.0):
        jitted = wf.jit(function, strict=False)
        for _ in range(2):
            same(jitted(x.copy(), t), function(x.copy(), t))


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_most_are_one_program(function, monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")
    x = np.random.default_rng(0).standard_normal(40)
    jitted = wf.jit(function, strict=False)
    jitted(x, 0.5)
    # A condition behind the loop asks for the value; what may be None has no truth that is known.
    assert jitted.ways["compiled"] or function in (behind_it, written_there, by_its_truth), jitted.refusals


def test_strict_programs_give_none_too():
    for n in (3, 300):
        x = np.random.default_rng(0).standard_normal(n)
        for t in (0.5, 99.0):
            assert wf.jit(first_place)(x, t) == first_place(x, t)


def test_they_stay_with_other_numbers():
    """What was None in an earlier call is a number in a later one."""
    jitted, x = wf.jit(first_place, strict=False), np.random.default_rng(0).standard_normal(100)
    for t in (0.5, 99.0, 0.1, 99.0, 2.0):
        same(jitted(x, t), first_place(x, t))


def row_above(x):
    best = None
    for i in range(len(x)):
        if x[i].sum() > 0:
            best = x[i]
    return best


def largest_row(x):
    best = None
    for i in range(len(x)):
        if best is None or x[i].sum() > best.sum():
            best = x[i]
    best[0] = 7
    return best


def itself(x):
    found = None
    for i in range(len(x)):
        if x[i, 0] > 0:
            found = x
    return found


def word(x):
    found = None
    for i in range(len(x)):
        if x[i, 0] > 0:
            found = "positive"
    return found


def pair_or_none(x):
    found = None
    for i in range(len(x)):
        if x[i, 0] > 0:
            found = (i, x[i, 0])
    return found


@pytest.mark.parametrize("function", [row_above, largest_row, itself, word, pair_or_none], ids=lambda f: f.__name__)
def test_arrays_texts_and_tuples_are_pythons(function, monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")
    for x in (np.random.default_rng(0).standard_normal((30, 3)), -np.ones((30, 3)), np.ones((3, 3))):
        jitted = wf.jit(function, strict=False)
        for _ in range(2):
            ours, plain = x.copy(), x.copy()
            result, wanted = jitted(ours), function(plain)
            same(result, wanted)
            same(ours, plain)
            assert (result is ours) == (wanted is plain)
