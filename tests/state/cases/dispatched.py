"""functools.singledispatch on arrays and numbers."""

import functools

import numpy as np
from weftwork import jit


@functools.singledispatch
def size(v):
    return -1


@size.register(np.ndarray)
def _(v):
    return v.size


@size.register(float)
@size.register(int)
def _(v):
    return 1


@jit
def f(x, v):
    return x * size(x), size(v), size(x[0]), size(x.sum().item()), size("a")


# calls
f(np.ones(3), 2.0)
f(np.ones(3), 2)
f(np.ones(3), np.ones(2))
f(np.ones(4), "text")
