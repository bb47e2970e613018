"""print of values."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    print("shape", x.shape, "sum", x.sum())
    for i, row in enumerate(x):
        print(i, row, end=";")
    return x


# calls
f(np.ones((2, 2)))
f(np.ones((2, 2)))
f(np.ones((3, 1)))
