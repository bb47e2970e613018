"""round(v, 2) and other numbers of Python's."""

import math

import numpy as np
from weftwork import jit


@jit
def f(x, v):
    s = x.sum()
    return (
        round(v, 2),
        round(s, 1),
        round(float(s)),
        int(s),
        bool(s),
        abs(s),
        divmod(v, 2),
        math.floor(s),
        max(s, v),
        s.item(),
        complex(v, 1),
    )


# calls
f(np.array([0.126, 1.0]), 1.237)
f(np.array([0.126, 1.0]), -1.237)
f(np.array([2.5, 1.26]), np.float64(2.675))
f(np.array([2.5, 1.26]), 3)
