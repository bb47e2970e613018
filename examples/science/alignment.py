"""Global alignment of two sequences by a dynamic-programming table (Needleman and Wunsch 1970)."""

import numpy as np


def align(a, b, match, mismatch, gap):
    """The score of the best alignment, and the whole table."""
    n, m = a.shape[0], b.shape[0]
    table = np.zeros((n + 1, m + 1), np.int64)
    for i in range(1, n + 1):
        table[i, 0] = i * gap
    for j in range(1, m + 1):
        table[0, j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = table[i - 1, j - 1] + np.where(a[i - 1] == b[j - 1], match, mismatch)
            table[i, j] = np.maximum(diagonal, np.maximum(table[i - 1, j], table[i, j - 1]) + gap)
    return table[n, m], table


def arguments(n=120, m=100):
    """Two random sequences of four letters."""
    rng = np.random.default_rng(3)
    return rng.integers(0, 4, n), rng.integers(0, 4, m), 2, -1, -2


program = align
