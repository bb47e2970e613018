"""LU factorisation with partial pivoting and the solution of a linear system, by triangular slices."""

import numpy as np


def solve(a, b):
    """x with a @ x = b; ``a`` holds the factors afterwards."""
    n = a.shape[0]
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        row, other = a[k].copy(), np.take(a, p, axis=0)
        a[p], a[k] = row, other
        b[p], b[k] = b[k].copy(), np.take(b, p)
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    for i in range(1, n):
        b[i] -= a[i, :i] @ b[:i]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return b


def arguments(n=96):
    """A random system."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, n)), rng.normal(size=n)


program = solve
