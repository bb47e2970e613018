"""Views of an array of constants share its memory in the result too, in one program and in pieces."""

import numpy as np
from weftwork import jit


@jit
def whole(x):
    table = np.array([0.25, 0.5, 0.1])
    rest = table[1:]
    return table, x[1:].sum(), rest[1:], rest[::-1]


@jit
def pieces(x):
    table = np.array([[0.25, 0.5], [0.1, 1.0]])
    first = int(np.argmax(x))
    return table[0], x[first:].sum(), [table.T[1:], table[:, 1]]


x = np.array([3.0, 1.0, 0.1])

# calls
whole(x)
pieces(x)
whole(x)
pieces(x[::-1].copy())
