"""A generator that is made and used up inside."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    def halves():
        for row in x:
            yield row * 0.5

    return sum(halves()), [h.sum() for h in halves()], max(h[0] for h in halves())


# calls
f(np.arange(6.0).reshape(2, 3))
f(np.arange(60.0).reshape(20, 3))
f(np.arange(6.0).reshape(3, 2))
