"""Escape times of the Mandelbrot set, with masks."""

import numpy as np


def escape_times(c, turns):
    """After how many turns each point leaves the circle of radius 2; 0 for those that stay."""
    z = np.zeros_like(c)
    times = np.zeros(c.shape, np.int64)
    inside = np.ones(c.shape, bool)
    for turn in range(1, turns + 1):
        z = np.where(inside, z * z + c, z)
        leaves = inside & (z.real**2 + z.imag**2 > 4)
        times[leaves] = turn
        inside &= ~leaves
    return times


def arguments(n=96, turns=100):
    """The usual window."""
    x, y = np.linspace(-2, 0.6, n), np.linspace(-1.2, 1.2, n)
    return x[None, :] + 1j * y[:, None], turns


program = escape_times
