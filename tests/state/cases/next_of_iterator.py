"""next(it) of a global iterator."""

import numpy as np
from weftwork import jit

it = iter([1.0, 2.0, 3.0, 4.0])


@jit
def f(x):
    return x * next(it)


# calls
f(np.ones(3))
f(np.ones(3))
next(it)
f(np.ones(3))
f(np.ones(3))
f(np.ones(3))
