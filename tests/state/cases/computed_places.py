"""Items of lists at places that values of arrays say: stored, deleted, read to be changed."""

import numpy as np
from weftwork import jit


@jit
def increasing(x):
    tails = []
    for v in x:
        i = np.searchsorted(tails, v)
        if i == len(tails):
            tails.append(v)
        else:
            tails[i] = v
    return len(tails), tails


@jit
def stored(x):
    items = [x[0], x[1], x[2]]
    items[x.argmax()] = 7.0
    del items[x.argmin()]
    return items


@jit
def changed(x):
    groups = [[x[0]], [x[1]], [x[2]]]
    groups[x.argmax()].append(x.sum())
    groups[x.argmin()][0] = 5
    return groups


x, y = np.array([0.5, 0.2, 0.9]), np.array([0.7, 0.1, 0.3])

# calls
a = increasing(x)
a = increasing(y)
b = stored(x)
b = stored(y)
b = stored(x)
c = changed(x)
c = changed(y)
c = changed(x)
