"""What is returned is the object that was given."""

import numpy as np
from weftwork import jit

state = {"x": np.zeros(3)}


@jit
def f(x, l):
    return x, x[1:], l, x.T, x.reshape(-1), state["x"], np.asarray(x)


x, l = np.arange(3.0), [1, 2]

# calls
a = f(x, l)
a[1][0] = 50
f(x, l)
f(state["x"], l)
state["x"] += 1
f(np.ones((2, 2)), (1,))
