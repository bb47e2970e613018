"""super(), properties, slots and class attributes."""

import numpy as np
from weftwork import jit


class Base:
    made = 0
    __slots__ = ("n", "_w")

    def __init__(self, w):
        Base.made += 1
        self.n, self._w = 0, w

    @property
    def w(self):
        self.n += 1
        return self._w

    @w.setter
    def w(self, value):
        self._w = value

    def forward(self, x):
        return x * self.w


class Child(Base):
    def __init__(self, w, shift):
        super().__init__(w)
        self.shift = shift

    def forward(self, x):
        y = super().forward(x) + self.shift
        self.w = y.mean()
        return y


child = Child(2.0, 1.0)


@jit
def f(x):
    local = Base(x)
    return child.forward(x), local.forward(x), Base.made, local


# calls
f(np.ones(3))
f(np.ones(3))
child.shift = -5
f(np.ones(3))
Base.made = 100
f(np.ones(4))
