"""x[mask], nonzero and a median of what is positive."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    positive = x[x > 0]
    if positive.size == 0:
        return None
    x[x < 0] = 0.0
    return positive, np.median(x[x > 0]), np.nonzero(x), np.flatnonzero(x > 1), len(positive), x.nonzero()[0][0]


x = np.array([1.0, -2.0, 3.0, 0.5])

# calls
f(x)
f(x)
f(np.array([-1.0, -2.0]))
f(np.arange(-3.0, 6.0))
