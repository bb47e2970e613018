"""l[0][0] += 1."""

import numpy as np
from weftwork import jit

l = [[0], {"a": [1]}]


@jit
def f(x):
    for i in range(3):
        l[0][0] += 1
        l[1]["a"][0] += l[0][0]
    return x * l[0][0]


# calls
f(np.ones(3))
f(np.ones(3))
l[0] = [100]
f(np.ones(3))
