"""s.shape = ... on an argument."""

import numpy as np
from weftwork import jit


@jit
def f(s):
    s.shape = (3, 2)
    s[0] = 9
    return s.sum(axis=0)


a, b = np.arange(6.0), np.arange(6.0).reshape(2, 3)

# calls
f(a)
f(a)
f(b)
f(np.arange(5.0))
b.shape
