"""An array of the surroundings that is read for the first time in a loop, and written there."""

import types

import numpy as np
from weftwork import jit

tool = types.SimpleNamespace(g=np.array([0.5, 3.0, 0.25]), total=np.zeros(2))


@jit
def shifted(x):
    for _ in range(30):
        tool.g[:2] = (tool.g + x)[1:]


@jit
def summed(x):
    for i in range(20):
        tool.total += x[:2] * i
    return tool.total * 2


x = np.array([1.5, 3.0, -2.0])

# calls
shifted(x)
summed(x)
shifted(x)
summed(x)
