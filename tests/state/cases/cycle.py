"""itertools.cycle over rates."""

import itertools

import numpy as np
from weftwork import jit

rates = itertools.cycle([0.1, 0.2, 0.5])


@jit
def f(w, g):
    for _ in range(2):
        w = w - next(rates) * g
    return w


# calls
f(np.ones(3), np.ones(3))
f(np.ones(3), np.ones(3))
next(rates)
f(np.ones(3), np.ones(3))
