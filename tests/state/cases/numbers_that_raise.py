"""Numbers of the surroundings from which nothing needed is computed, and which raise when they change."""

import math

import numpy as np
from weftwork import jit

limits = {"n": -0.75, "other": 1}


@jit
def f(x):
    unused = math.acos(limits["n"])
    return x * 2


@jit
def g(x):
    ratio = 1.0 / limits["other"]
    return x


# calls
f(np.ones(3))
f(np.ones(3))
g(np.ones(3))
limits["n"] = 3.0
f(np.ones(3))
limits["other"] = 0
g(np.ones(3))
