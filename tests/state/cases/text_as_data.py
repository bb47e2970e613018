"""str(x), repr and format as data."""

import numpy as np
from weftwork import jit

seen = {}


@jit
def f(x, v):
    key = str(x)
    seen[key] = seen.get(key, 0) + 1
    return key, repr(v), f"{v:.3f} {x[0]}", "%s" % x.dtype, len(str(x.sum())), seen[key]


# calls
f(np.arange(3.0), 1.5)
f(np.arange(3.0), 1.5)
f(np.ones(3), np.float64(2))
f(np.arange(4), 3)
