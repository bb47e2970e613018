"""A point in a polygon, by NumPy's booleans and the vertex before."""

import numpy as np
from weftwork import jit


@jit
def inside(point, corners):
    found = False
    j = len(corners) - 1
    for i in range(len(corners)):
        a, b = corners[i], corners[j]
        if (a[1] > point[1]) != (b[1] > point[1]) and point[0] < (b[0] - a[0]) * (point[1] - a[1]) / (b[1] - a[1]) + a[
            0
        ]:
            found = not found
        j = i
    return found


square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])

# calls
inside(np.array([1.0, 1.0]), square)
inside(np.array([3.0, 1.0]), square)
inside(np.array([0.5, 1.5]), square * 0.5)
