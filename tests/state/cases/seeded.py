"""np.random.seed and randn inside."""

import numpy as np
from weftwork import jit


@jit
def f(x, seed):
    np.random.seed(seed)
    return x + np.random.randn(3)


@jit
def g(x):
    return x + np.random.randn(*x.shape)


# calls
f(np.zeros(3), 0)
f(np.zeros(3), 1)
g(np.zeros(3))
g(np.zeros(3))
np.random.seed(3)
g(np.zeros((2, 2)))
np.random.rand()
