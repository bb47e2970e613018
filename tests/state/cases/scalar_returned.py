"""NumPy scalars that are arguments are returned as they are."""

import numpy as np
from weftwork import jit


@jit
def f(a, b, x):
    return a, b, a + b, a * x, [a, x, x[0]]


# calls
f(np.float64(1.5), np.float32(2), np.ones(3))
f(1.5, 2, np.ones(3))
f(np.int8(100), np.int8(100), np.ones(3, np.int8))
f(np.bool_(True), True, np.ones(3))
f(np.array(1.5), np.float64(1), np.ones(3))
