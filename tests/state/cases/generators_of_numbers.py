"""rng.normal, rng.choice and np.random.rand of generators outside and inside."""

import numpy as np
from weftwork import jit

rng = np.random.default_rng(1)
old = np.random.RandomState(2)


@jit
def f(x):
    a = rng.normal(size=3)
    b = rng.choice(x, 2)
    c = old.rand(3)
    d = np.random.default_rng(0).normal(size=3)
    return x + a + c + d, b, np.random.rand(5), rng.choice(3), rng.integers(0, 10, 4)


# calls
f(np.arange(3.0))
f(np.arange(3.0))
rng = np.random.default_rng(1)
f(np.arange(3.0))
rng.normal()
