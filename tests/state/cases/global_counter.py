"""A global counter of calls and of turns."""

import numpy as np
from weftwork import jit

calls = turns = 0


@jit
def f(x):
    global calls, turns
    calls += 1
    for row in x:
        turns += 1
    return x * calls, turns


# calls
f(np.ones((3, 2)))
f(np.ones((3, 2)))
calls = 10
f(np.ones((3, 2)))
f(np.ones((30, 2)))
