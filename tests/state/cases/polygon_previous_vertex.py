"""The area of a polygon: `j = i` at the end of the body is the vertex before."""

import numpy as np
from weftwork import jit


@jit
def area(x, y):
    total = 0.0
    j = len(x) - 1
    for i in range(len(x)):
        total += (x[j] + x[i]) * (y[j] - y[i])
        j = i
    return 0.5 * abs(total), j


x = np.array([0.0, 4.0, 4.0, 0.0])
y = np.array([0.0, 0.0, 3.0, 3.0])

# calls
area(x, y)
area(np.linspace(0, 1, 12), np.linspace(1, 0, 12) ** 2)
y[2] = 7.0
area(x, y)
