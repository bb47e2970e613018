"""Results in dataclasses and named tuples."""

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
from weftwork import jit


@dataclass
class State:
    w: np.ndarray
    loss: float = 0.0
    log: list = field(default_factory=list)


Pair = namedtuple("Pair", "a b")


@jit
def f(s, x):
    new = State(s.w - 0.1 * x, float((x**2).sum()), [*s.log, s.loss])
    return new, Pair(x, new.loss)


s = State(np.ones(3))

# calls
s, p = f(s, np.ones(3))
s, p = f(s, np.ones(3))
f(State(np.ones(2)), np.arange(2.0))
