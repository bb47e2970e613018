"""A generator is returned and used later."""

import numpy as np
from weftwork import jit

scale = 2.0


@jit
def f(x):
    return (row * scale for row in x)


@jit
def g(x):
    total = 0.0
    for row in x:
        total = total + row.sum()
        yield total


x = np.arange(6.0).reshape(2, 3)

# calls
a = f(x)
next(a)
scale = 3.0
list(a)
b = g(x)
next(b)
x[1] = 0
list(b)
