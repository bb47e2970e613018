"""self.lr and cfg["lr"] are read anew at each call."""

import numpy as np
from weftwork import jit

cfg = {"lr": 0.1, "layers": [1.0, 2.0]}


class Model:
    scale = 2.0

    def __init__(self):
        self.lr = 0.5

    @jit
    def f(self, x):
        for w in cfg["layers"]:
            x = x * w
        return x * self.lr + cfg["lr"] * self.scale


model = Model()

# calls
model.f(np.ones(3))
model.lr = 0.25
model.f(np.ones(3))
cfg["lr"] = 1
model.f(np.ones(3))
Model.scale = -1.0
cfg["layers"].append(0.5)
model.f(np.ones(3))
model.scale = 9.0
cfg = {"lr": 0.0, "layers": []}
model.f(np.ones(3))
