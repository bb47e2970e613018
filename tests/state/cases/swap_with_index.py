"""`a, b = b, i` in a loop."""

import numpy as np
from weftwork import jit


@jit
def f(x, n):
    a, b = 0, 1
    for i in range(n):
        a, b = b, i
    return a, b, x * a


# calls
f(np.ones(3), 3)
f(np.ones(3), 30)
f(np.ones(3), 0)
f(np.ones(3), 1)
