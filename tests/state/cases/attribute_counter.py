"""self.n += 1."""

import numpy as np
from weftwork import jit


class Model:
    def __init__(self):
        self.n = 0

    @jit
    def step(self, x):
        self.n += 1
        return x * self.n


model, other = Model(), Model()

# calls
model.step(np.ones(3))
model.step(np.ones(3))
other.step(np.ones(3))
model.n = 40
model.step(np.ones(3))
model.step(np.ones((2, 2)))
