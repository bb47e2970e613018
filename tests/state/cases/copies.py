"""np.array(x, copy=...)."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    a = np.array(x, copy=True)
    b = np.asarray(x)
    c = np.array(x, copy=None)
    a[0] = 5
    b[1] = 6
    return a, b, c, np.array(x, copy=False)


@jit
def g(x):
    return np.array(x, copy=False, dtype=np.float32)


x = np.zeros(3)

# calls
f(x)
f(x)
g(x)
f([1.0, 2.0])
f(np.zeros(4))
