"""x[~(x > 5)] of an array without dimensions."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    y = x[~(x > 5)]
    return y, y.shape, x[x > 5]


# calls
f(np.array(3.0))
f(np.array(7.0))
f(np.array([3.0, 7.0]))
