"""Errors that numbers raise at one call and not at another, caught by the program."""

import math

import numpy as np
from weftwork import jit

n = 0.0


@jit
def divided(x):
    try:
        v = 1 / n
    except ZeroDivisionError as error:
        v = -float(len(str(error)))
    return x * v


@jit
def root(x, s):
    try:
        v = math.sqrt(s)
    except ValueError:
        v = -1.0
    return x * v


@jit
def logarithm(x):
    try:
        v = math.log(x[0])
    except ValueError:
        v = -1.0
    return x * v


def use(value):
    global n
    n = value
    return divided(x)


x = np.array([1.5, 3.0, -2.0])

# calls
use(0.0)
use(4.0)
use(0.0)
root(x, -1.0)
root(x, 4.0)
root(x, -1.0)
logarithm(-x)
logarithm(x)
logarithm(-x)
