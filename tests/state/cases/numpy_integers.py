"""NumPy integers among arguments, as index and in range."""

import numpy as np
from weftwork import jit


@jit
def f(x, i, n):
    total = 0.0
    for k in range(n):
        total = total + x[k]
    return x[i], x[i:], total, i, x * n


# calls
f(np.arange(5.0), np.int64(1), np.int32(3))
f(np.arange(5.0), np.int64(2), np.int32(2))
f(np.arange(5.0), 2, 2)
f(np.arange(5.0), np.int64(9), np.uint8(1))
