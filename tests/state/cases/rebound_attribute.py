"""self.w = self.w - 0.1 * x."""

import numpy as np
from weftwork import jit


class Model:
    def __init__(self):
        self.w = np.zeros(3)
        self.first = self.w

    def step(self, x):
        self.w = self.w - 0.1 * x
        return (self.w * x).sum()


model = Model()
step = jit(model.step)

# calls
step(np.ones(3))
kept = model.w
step(np.arange(3.0))
model.w = np.full(3, 5.0)
step(np.ones(3))
model.w[0] = -1
step(np.ones(3))
