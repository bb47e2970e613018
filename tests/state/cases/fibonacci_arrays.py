"""Two arrays that change places in a loop."""

import numpy as np
from weftwork import jit


@jit
def f(a, b, n):
    for _ in range(n):
        a, b = b, 0.5 * (a + b)
    return a, b


x, y = np.arange(3.0), np.ones(3)

# calls
f(x, y, 3)
f(x, y, 30)
f(x, x, 2)
f(x, y, 0)
