"""A nested function counts in the variables of the jitted one."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    for row in x:
        bump()
    return n, bump, x * n


# calls
f(np.ones((3, 2)))
n, bump, y = f(np.ones((3, 2)))
bump()
f(np.ones((30, 2)))
