"""Positional and keyword arguments of np.zeros and np.arange."""

import numpy as np
from weftwork import jit


@jit
def f(x, n):
    a = np.zeros(3, float, "C")
    b = np.arange(0, 5, step=2)
    c = np.arange(3, stop=7)
    d = np.zeros(np.array([2, 3]))
    e = np.full(np.int64(2), x[0])
    return x.sum() + a, b * n, c, d, e, np.ones(shape=(n, 1)), np.empty(0)


# calls
f(np.arange(3.0), 2)
f(np.arange(3.0), np.int64(2))
f(np.arange(4.0), 1)
