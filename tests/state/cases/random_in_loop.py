"""Random numbers in the body of a loop."""

import random

import numpy as np
from weftwork import jit


@jit
def f(x, n):
    for i in range(n):
        x = x + np.random.rand(5) * random.random()
        if random.random() > 0.5:
            x = x * 0.5
    return x


# calls
f(np.zeros(5), 3)
f(np.zeros(5), 3)
random.seed(4)
f(np.zeros(5), 30)
