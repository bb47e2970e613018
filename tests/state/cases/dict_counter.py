"""d["n"] += 1, of a global dict and of an argument."""

import numpy as np
from weftwork import jit

d = {"n": 0}


@jit
def f(x, own):
    d["n"] += 1
    own["n"] += 2
    own["last"] = x.shape[0]
    return x * d["n"] + own["n"]


own = {"n": 0}

# calls
f(np.ones(3), own)
f(np.ones(3), own)
d["n"] = 10
f(np.ones(3), {"n": 1})
f(np.ones(4), own)
