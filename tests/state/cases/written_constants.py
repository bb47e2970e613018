"""Arrays of constants that globals, attributes, containers, views and generators have, written by the program."""

import numpy as np
from weftwork import jit


class Store:
    pass


store = Store()
kept = None


@jit
def f(x):
    global kept
    kept = np.array([0.25, 0.25, -2.0])
    for turn in range(25):
        kept[turn % 3] = x.sum() * turn
    store.rows = np.array([1.0, 2.0, 3.0])
    store.rows[0] = x[0]
    own = [np.array([1.0, 2.0]), np.array([3, 4])]
    for array, scale in zip(own, (2, 3)):
        array[0] = x.sum() * scale
    table = {"a": np.array([1.0, 2.0, 3.0])}
    part = table["a"][1:]
    table["a"] += x
    return own, table, part


@jit
def g(x):
    a = np.array([0.0, 0.0, 0.0])
    total = a.sum
    for _ in range(100):
        a += 1
    b = -np.array([3.0, 1.0, 2.0])
    for i in range(50):
        np.multiply(b, 1.01, out=b)
        a.flat[i % 3] -= b[0] * x[1]
    return a, b, total()


# calls
f(np.arange(3.0))
f(np.ones(3))
g(np.arange(3.0))
g(np.ones(3))
