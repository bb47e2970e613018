"""A small convolutional network written as loops over output pixels."""

import numpy as np


def convolve(x, w, b):
    channels, size = w.shape[0], w.shape[2]
    height, width = x.shape[1] - size + 1, x.shape[2] - size + 1
    y = np.zeros((channels, height, width), x.dtype)
    for row in range(height):
        for column in range(width):
            patch = x[:, row : row + size, column : column + size]
            y[:, row, column] = np.tensordot(w, patch, 3) + b
    return np.maximum(y, 0)


def pool(x):
    y = np.zeros((x.shape[0], x.shape[1] // 2, x.shape[2] // 2), x.dtype)
    for row in range(y.shape[1]):
        for column in range(y.shape[2]):
            y[:, row, column] = x[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].max(axis=(1, 2))
    return y


def classify(image, w1, b1, w2, b2, w3, b3):
    """Probabilities of ten classes."""
    x = pool(convolve(image, w1, b1))
    x = pool(convolve(x, w2, b2))
    scores = w3 @ x.reshape(-1) + b3
    e = np.exp(scores - scores.max())
    return e / e.sum()


def arguments():
    """A random image of 1 x 28 x 28 and random weights."""
    rng = np.random.default_rng(4)
    shapes = ((1, 28, 28), (8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (10, 400), (10,))
    return tuple((rng.normal(size=shape) * 0.2).astype(np.float32) for shape in shapes)


program = classify
