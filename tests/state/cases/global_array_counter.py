"""A global array as counter, G[0] += 1."""

import numpy as np
from weftwork import jit

G = np.zeros(2)
N = np.array(0)


@jit
def f(x):
    global N
    G[0] += 1
    N += 1
    for i in range(3):
        G[1] += x[i]
    return x * G[0], N


# calls
f(np.ones(3))
f(np.ones(3))
G[0] = 100
f(np.ones(3))
G = np.array([7, 7])
f(np.ones(3))
