"""sliding_window_view(writeable=True)."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    w = np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
    w[0, 1] = 5.0
    w[2] += 1
    return w, w.sum(axis=1)


x = np.arange(5.0)

# calls
f(x)
f(x)
f(np.arange(7.0))
