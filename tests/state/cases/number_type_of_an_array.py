"""A type of NumPy's scalars called with an array of that type gives the array itself, whose views write to it."""

import numpy as np

from weftwork import jit

q = np.ones((2, 3), np.float32)
k = np.arange(4)


@jit
def f(q, k):
    a = np.float32(q)
    a.T[0] = 0.5
    b = np.int64(k[1:])
    b += 1
    c = np.float64(q)
    c[0] = 7.0
    return a is q, b, c


# calls
f(q, k)
f(q, k)
f(q[:, ::-1], k[::-1])
