"""The elements of an array that is iterated over are read when their turn comes."""

import numpy as np
from weftwork import jit


@jit
def elements(x):
    for element in x:
        x[1] -= element


@jit
def pairs(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        y[(i + 1) % 3] += a
        total = total + a * b
    return total


@jit
def rows(m):
    for row in m:
        m[-1] += row


x, y, m = np.array([-2.0, 0.25, 1.5]), np.array([1.0, 2.0, 4.0]), np.arange(6.0).reshape(3, 2)

# calls
elements(x)
pairs(x, y)
rows(m)
elements(x)
pairs(y, x)
rows(m)
