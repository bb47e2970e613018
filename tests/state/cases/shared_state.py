"""State becomes a view of an argument, and is written."""

import numpy as np
from weftwork import jit


class Box:
    pass


box = Box()
box.w = np.zeros(3)


@jit
def f(x):
    old = box.w
    box.w = x[:3]
    box.w[0] += 1
    box.same = x
    return old


x = np.arange(5.0)

# calls
f(x)
f(x)
box.w[1] = 77
f(np.ones(3))
f(x)
