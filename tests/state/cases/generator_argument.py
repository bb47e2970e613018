"""A random generator is an argument."""

import numpy as np
from weftwork import jit


@jit
def f(rng, x):
    keep = rng.random(x.shape) > 0.5
    return x * keep, x[keep], rng


rng = np.random.default_rng(5)

# calls
f(rng, np.arange(6.0))
f(rng, np.arange(6.0))
f(np.random.default_rng(5), np.arange(6.0))
f(rng, np.arange(4.0))
