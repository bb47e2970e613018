"""Branches and loops on values of arrays."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    n = 0
    while x.sum() > 1 and n < 40:
        x = x * 0.5
        n += 1
        if x[0] < 0.1:
            break
    else:
        n = -n
    if (x > 0.2).any():
        return x, n, "large"
    return x, n


# calls
f(np.full(3, 8.0))
f(np.array([0.01, 9.0, 4.0]))
f(np.zeros(3))
f(np.full(5, 100.0))
