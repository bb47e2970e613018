"""Arrays appended to a global list keep their values."""

import numpy as np
from weftwork import jit

log = []


@jit
def f(x):
    y = x * 2
    log.append(y)
    log.append(x)
    log.append(y.sum())
    y[0] = -1
    return log[-3]


x = np.arange(3.0)

# calls
f(x)
f(x)
x[0] = 9
f(x)
f(np.ones(4))
log[0][0] = 5.0
