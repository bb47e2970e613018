"""An output given by position that is read-only, or that no lowering takes."""

import numpy as np
from weftwork import jit


@jit
def part(q):
    zeros = q.imag
    try:
        np.nan_to_num(zeros, copy=False)
    except Exception as error:
        print(type(error).__name__)
    return zeros


@jit
def running(q):
    zeros = q.imag
    try:
        np.cumsum(q, 0, None, zeros)
    except ValueError as error:
        print(error)
    return zeros


q, whole, n = np.array([1.0, np.nan, 1e4], np.float16), np.array([1.0, 2.5]), np.arange(3)

# calls
a = part(q)
a = part(whole)
a = part(n)
a = running(q)
a = running(whole)
a = running(n)
