"""A counter in a closure."""

import numpy as np
from weftwork import jit


def make(start):
    n = start

    @jit
    def f(x):
        nonlocal n
        n += 1
        return x + n

    return f, lambda: n


f, seen = make(5)

# calls
f(np.zeros(3))
seen()
f(np.zeros(3))
seen()
f(np.zeros(4))
seen()
