"""Arrays and numbers written into texts by every way that Python has."""

import numpy as np
from weftwork import jit

rate = 0.5


@jit
def by_percent(x):
    return "%s" % x.sum(), "%.2f of %s" % (rate, x.shape)


@jit
def by_format(x):
    return "{} and {a}".format(x, a=x.sum()), str.format("{0.ndim}", x)


@jit
def by_mapping(x):
    return "{a}".format_map({"a": x})


@jit
def by_repr(x):
    return [x.sum()].__repr__(), repr({1: x}), f"{x!r:>40}"


class Scaled:
    scale, bias = 2, 0.25

    @jit
    def by_class(self, x):
        return x * self.scale + Scaled.bias


# calls
by_percent(np.arange(4.0))
by_percent(np.arange(3.0))
by_format(np.arange(4.0))
by_format(np.arange(4.0) + 1)
by_mapping(np.arange(4.0))
by_repr(np.arange(4.0))
Scaled().by_class(np.arange(4.0))
Scaled.scale = 3
Scaled().by_class(np.arange(4.0))
