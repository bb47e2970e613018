"""Bodies under gravity: leapfrog steps, the forces one body at a time."""

import numpy as np


def simulate(positions, velocities, masses, steps, dt):
    """Positions, velocities and the total energy after so many steps."""
    n = positions.shape[0]
    for _ in range(steps):
        for i in range(n):
            away = positions - positions[i]
            distance = np.sqrt(np.sum(away * away, axis=1) + 1e-3)
            velocities[i] += dt * np.sum(masses[:, None] * away / distance[:, None] ** 3, axis=0)
        positions += dt * velocities
    energy = 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))
    for i in range(n):
        for j in range(i):
            energy = energy - masses[i] * masses[j] / np.sqrt(np.sum((positions[i] - positions[j]) ** 2) + 1e-3)
    return positions, velocities, energy


def arguments(n=24, steps=100):
    """A random cluster at rest."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, 3)), np.zeros((n, 3)), rng.uniform(0.5, 2, n), steps, 1e-3


program = simulate
