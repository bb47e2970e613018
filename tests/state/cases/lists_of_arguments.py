"""l[0] = ..., l.append and l.sort on arguments."""

import numpy as np
from weftwork import jit


@jit
def f(l, x):
    l[0] = x * 2
    l.append(x.sum())
    return len(l)


@jit
def g(l):
    l.sort()
    l[0] += 1
    return l.pop()


l, numbers = [np.ones(3)], [3, 1, 2]

# calls
f(l, np.arange(3.0))
f(l, np.arange(3.0))
g(numbers)
g(numbers)
g([2.5, 1.5])
f(l, np.ones(2))
g([])
