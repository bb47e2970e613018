"""try: v = float(x.sum()) except TypeError."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    try:
        v = float(x.sum())
    except TypeError:
        v = -1.0
    try:
        w = float(x)
    except TypeError:
        w = -1.0
    else:
        w += 1
    finally:
        v += 0.5
    return v, w


# calls
f(np.arange(3.0))
f(np.array(2.0))
f(np.array([2.0]))
f(2.5)
