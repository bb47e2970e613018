"""Decorators that count, partials, lambdas and recursion."""

import functools

import numpy as np
from weftwork import jit


def counted(function):
    @functools.wraps(function)
    def call(*args, **named):
        call.count += 1
        return function(*args, **named)

    call.count = 0
    return call


@counted
def smooth(v, by=0.5, *rest, scale=1.0, **more):
    return v * by * scale + len(rest) + more.get("shift", 0)


def deep(v, n):
    return v if n == 0 else deep(v * 0.5 + n, n - 1)


half = functools.partial(smooth, by=0.5)


@jit
def f(x, n, *rest, key=None, **named):
    y = smooth(x, 2, 3, 4, shift=1) + half(x) + deep(x, n)
    return [g(y) for g in (np.abs, lambda v: v[::-1], half)], smooth.count, rest, key, named


# calls
f(np.arange(3.0), 2)
f(np.arange(3.0), 3, 4, 5.0, key="z", z=np.ones(2))
smooth.count = 50
half = functools.partial(smooth, scale=3)
f(np.arange(3.0), 0, key="k")
