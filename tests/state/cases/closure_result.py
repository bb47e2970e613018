"""A closure over values of the call is returned."""

import numpy as np
from weftwork import jit


@jit
def f(x, k):
    y = x * k
    n = 0

    def more(z):
        nonlocal n
        n += 1
        return y + z * n

    return more, lambda: y.sum()


# calls
more, total = f(np.ones(3), 2.0)
more(1.0)
more(np.ones(3))
total()
again, total = f(np.ones(3), 3.0)
again(1.0)
more(1.0)
