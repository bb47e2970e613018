"""match on arrays, numbers, shapes and objects."""

from dataclasses import dataclass

import numpy as np
from weftwork import jit


@dataclass
class Scale:
    by: float


@jit
def f(x, how):
    match how:
        case np.ndarray():
            y = x + how
        case Scale(by=k) if k > 1:
            y = x * k
        case Scale():
            y = x
        case float() | int():
            y = x - how
        case {"power": n}:
            y = x**n
        case "none" | None:
            y = None
        case [a, *rest]:
            y = x * a, len(rest)
    match x.shape:
        case (3,):
            return y, "three"
        case (n, m):
            return y, n, m
        case _:
            return y


# calls
f(np.ones(3), np.ones(3))
f(np.ones(3), Scale(2.0))
f(np.ones((2, 2)), Scale(0.5))
f(np.ones(3), 2)
f(np.ones(4), {"power": 2})
f(np.ones(3), "none")
f(np.ones(3), [1.0, 2, 3])
f(np.ones(3), "else")
