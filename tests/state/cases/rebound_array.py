"""A global array that is rebound and written from outside."""

import numpy as np
from weftwork import jit

W = np.ones(3)


@jit
def f(x):
    return x @ W, W


# calls
f(np.arange(3.0))
W[0] = 5
f(np.arange(3.0))
W = np.zeros(3)
f(np.arange(3.0))
W = np.ones((3, 2), np.float32)
f(np.arange(3.0))
W = 2.0
f(np.arange(3.0))
