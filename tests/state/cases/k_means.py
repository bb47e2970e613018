"""k-means with default_rng inside, a break on convergence and x[mask]."""

import numpy as np
from weftwork import jit


@jit
def kmeans(x, k, seed=0, turns=30):
    rng = np.random.default_rng(seed)
    centers = x[rng.choice(len(x), k, replace=False)]
    for turn in range(turns):
        label = np.argmin(((x[:, None] - centers) ** 2).sum(-1), axis=1)
        new = centers.copy()
        for c in range(k):
            mask = label == c
            if mask.any():
                new[c] = x[mask].mean(axis=0)
        if np.allclose(new, centers):
            break
        centers = new
    return centers, label, turn


points = np.random.default_rng(3).normal(size=(30, 2)) + np.repeat([[0, 0], [5, 5], [0, 9]], 10, axis=0)

# calls
kmeans(points, 3)
kmeans(points, 3, seed=1)
points[0] = 20.0
kmeans(points, 2, turns=2)
kmeans(points[:7], 3)
