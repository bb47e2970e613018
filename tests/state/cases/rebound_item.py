"""p["w"] = p["w"] - 0.1 * g on an argument."""

import numpy as np
from weftwork import jit


@jit
def step(p, g):
    p["w"] = p["w"] - 0.1 * g
    p["b"] -= 0.1
    p["n"] = p.get("n", 0) + 1


p = {"w": np.ones(3), "b": np.ones(3)}
b = p["b"]

# calls
step(p, np.ones(3))
step(p, np.arange(3.0))
p["w"] = np.zeros(3)
step(p, np.ones(3))
step({"w": b, "b": b}, np.ones(3))
