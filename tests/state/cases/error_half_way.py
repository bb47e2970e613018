"""What was written before an exception stays."""

import numpy as np
from weftwork import jit

n, log = 0, []


@jit
def f(x, y):
    global n
    n += 1
    x += 1
    log.append(n)
    z = x + y
    log.append(z.sum())
    x[0] = 100
    return z


x = np.zeros(3)

# calls
f(x, np.ones(3))
f(x, np.ones(4))
f(x, np.ones(3))
f(x, "text")
