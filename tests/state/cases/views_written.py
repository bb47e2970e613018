"""Writes to arguments, views and shared memory."""

import numpy as np
from weftwork import jit


@jit
def f(x, y):
    v = x[1:]
    v += 1
    y[0] = v[0]
    x[::2] *= 0.5
    np.copyto(y[1:], x[:2])
    x.sort()
    return v, x, y.sum()


a = np.array([3.0, 1.0, 2.0, 5.0])
b = np.zeros(3)

# calls
f(a, b)
f(a, b)
f(a, a[:3])
f(a[::-1], b)
f(np.arange(5), b)
