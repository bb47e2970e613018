"""Learning rates that depend on a counter."""

import math

import numpy as np
from weftwork import jit


class Schedule:
    def __init__(self):
        self.step, self.base = 0, 0.5

    def rate(self):
        self.step += 1
        if self.step <= 3:
            return self.base * self.step / 3
        return self.base * 0.5 * (1 + math.cos(math.pi * min(self.step, 20) / 20))


schedule = Schedule()
decay = 0.9
epoch = 0


@jit
def f(w, g):
    global epoch
    epoch += 1
    return w - schedule.rate() * g, w - 0.1 * decay**epoch * g


# calls
f(np.ones(3), np.ones(3))
f(np.ones(3), np.ones(3))
f(np.ones(3), np.ones(3))
f(np.ones(3), np.ones(3))
schedule.base = 1.0
decay = 0.5
f(np.ones(3), np.ones(3))
