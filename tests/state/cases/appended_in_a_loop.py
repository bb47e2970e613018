"""Lists of a call that loops append arrays to, which are the same objects as variables and seen to be written."""

import numpy as np
from weftwork import jit


@jit
def f(x, k):
    states, sizes = [], []
    for i in range(30):
        x = x * k + 0.1
        states.append(x)
        sizes.append(x.sum())
    x[0] = 7.0
    return states, np.array(states), sizes[-1], x


@jit
def g(x):
    kept = []
    for i in range(20):
        kept.append(x)
        x = x * 0.5
    kept[0][0] = 9.0
    kept[-1][1] = 8.0
    return np.array(kept), x


@jit
def h(x):
    kept = []
    for i in range(20):
        x = x * 0.5
        kept.append(x)
        x[i % 3] = i
    return kept, [len(kept), kept[3] is kept[4]]


# calls
a = np.arange(3.0)
f(a, 0.5)
states = f(a, 2.0)[0]
states[3][1] = -1.0
states
g(a)
a
h(np.ones(3))
