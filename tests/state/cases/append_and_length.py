"""l.append(i) and len(l)."""

import numpy as np
from weftwork import jit

l = []


@jit
def f(x, n):
    for i in range(n):
        l.append(i)
    return x * len(l), len(l)


# calls
f(np.ones(3), 3)
f(np.ones(3), 3)
l.clear()
f(np.ones(3), 30)
l = [1]
f(np.ones(3), 3)
