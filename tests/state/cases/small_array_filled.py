"""c = np.array([1., 2.]); c[0] = x[0]."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    c = np.array([1.0, 2.0])
    c[0] = x[0]
    d = np.zeros(3)
    for i in range(3):
        d[i] = x[i] * c[1]
    e = np.array([1, 2])
    e[1] = x[1]
    c[1] += x.sum()
    return c, d, e


# calls
f(np.arange(3.0))
f(np.arange(3.0) * 2)
f(np.array([0.5, 1.5, 2.5, 3.5]))
