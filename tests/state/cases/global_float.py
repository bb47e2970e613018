"""A global float is read anew at each call."""

import numpy as np
from weftwork import jit

lr, name, on, k = 0.1, "sum", True, 2


@jit
def f(x):
    y = getattr(np, name)(x)
    return x * lr if on else x[:k] + y


# calls
f(np.arange(3.0))
lr = 0.5
f(np.arange(3.0))
on = False
f(np.arange(3.0))
k = 1
name = "max"
f(np.arange(3.0))
lr, on = 2, True
f(np.arange(3.0))
