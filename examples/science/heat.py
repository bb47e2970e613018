"""The heat equation on a plate: explicit steps, fixed borders."""

import numpy as np


def diffuse(u, steps, alpha):
    """Temperatures after so many steps, and the largest change of the last one."""
    change = 0.0
    for _ in range(steps):
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * flow
        change = np.max(np.abs(alpha * flow))
    return u, change


def arguments(n=64, steps=500):
    """A plate with one hot edge."""
    u = np.zeros((n, n))
    u[0] = 100.0
    return u, steps, 0.2


program = diffuse
