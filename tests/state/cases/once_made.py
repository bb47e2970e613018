"""Something is made at the first call and cached by shape."""

import functools

import numpy as np
from weftwork import jit

grids, ready = {}, None


@functools.lru_cache(maxsize=None)
def power(n):
    return 2.0**n


@jit
def f(x):
    global ready
    if ready is None:
        ready = np.zeros_like(x)
    if x.shape not in grids:
        grids[x.shape] = np.arange(x.size) * power(len(grids))
    ready = ready + x.sum()
    return x + grids[x.shape], ready[:2]


# calls
f(np.ones(3))
f(np.ones(3))
f(np.ones(4))
grids.clear()
f(np.ones(3))
ready = None
f(np.ones(4))
