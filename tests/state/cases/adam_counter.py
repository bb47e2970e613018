"""Adam's step counter."""

import numpy as np
from weftwork import jit


class Adam:
    def __init__(self, lr):
        self.lr, self.t, self.m, self.v = lr, 0, 0.0, 0.0

    @jit
    def step(self, w, g):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g * g
        m = self.m / (1 - 0.9**self.t)
        v = self.v / (1 - 0.999**self.t)
        return w - self.lr * m / (np.sqrt(v) + 1e-8)


adam = Adam(0.1)
w = np.ones(3)

# calls
w = adam.step(w, 2 * w)
w = adam.step(w, 2 * w)
adam.lr = 0.01
for _ in range(20):
    w = adam.step(w, 2 * w)
adam.t = 0
w = adam.step(w, 2 * w)
