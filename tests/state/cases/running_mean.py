"""A running mean and a ring of the last values."""

import numpy as np
from weftwork import jit


class Norm:
    def __init__(self):
        self.mean, self.count, self.ring, self.at = np.zeros(2), 0, np.zeros(3), 0

    @jit
    def __call__(self, x, train=True):
        if train:
            self.count += 1
            self.mean += (x.mean(axis=0) - self.mean) / self.count
            self.ring[self.at] = x[0, 0]
            self.at = (self.at + 1) % 3
        return x - self.mean


norm = Norm()

# calls
norm(np.ones((2, 2)))
norm(np.arange(6.0).reshape(3, 2))
norm(np.ones((2, 2)), train=False)
norm.mean = np.zeros(2)
norm(np.ones((2, 2)))
norm(np.ones((2, 2)))
