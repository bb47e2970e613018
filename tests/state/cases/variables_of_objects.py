"""Attributes of objects looked at as a dictionary, and as they stand in classes."""

import inspect

import numpy as np
from weftwork import jit


class Estimator:
    kind = "linear"

    def __init__(self, scale):
        self.scale = scale

    def fit(self, x):
        self.mean_ = x.mean() * self.scale
        return self

    @property
    def doubled(self):
        return 2 * self.scale


def is_fitted(estimator):
    return [name for name in vars(estimator) if name.endswith("_")] != []


one, two = Estimator(2.0), Estimator(3.0)


@jit
def look(e, x):
    found = vars(e)
    return x * found["scale"] + len(found), sorted(found), is_fitted(e), "mean_" in found


@jit
def fresh(x):
    made = Estimator(0.5)
    before = is_fitted(made)
    made.fit(x)
    vars(made)["extra"] = x[0]
    return before, is_fitted(made), made.extra, made.mean_


@jit
def change(e, x):
    found = vars(e)
    e.scale = e.scale + 1.0
    return found["scale"] * x


@jit
def write(e, x):
    vars(e)["scale"] = 7.0
    return e.scale * x


@jit
def statically(e, x):
    names = ("kind", "missing", "__add__", "doubled", "scale")
    found = [inspect.getattr_static(value, name, None) is not None for value in (e, x, 1.5) for name in names[:4]]
    return x * 2, found


x = np.array([1.5, 3.0, -2.0])

# calls
look(one, x)
look(one, x)
one.fit(x)
look(one, x)
look(two, x)
fresh(x)
change(two, x)
look(two, x)
write(two, x)
look(two, x)
statically(one, x)
two.kind = "other"
statically(two, x)
setattr(Estimator, "missing", 1)
statically(one, x)
