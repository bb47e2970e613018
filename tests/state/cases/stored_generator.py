"""A generator that is advanced by each call."""

import numpy as np
from weftwork import jit


def numbers():
    n = 0
    while True:
        got = yield n
        n += 1 if got is None else got


gen = numbers()


@jit
def f(x):
    a = next(gen)
    b = gen.send(5)
    return x * a + b


# calls
f(np.ones(3))
f(np.ones(3))
next(gen)
f(np.ones(3))
gen.close()
f(np.ones(3))
