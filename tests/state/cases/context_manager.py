"""A context manager made by a generator, and one by a class."""

import contextlib

import numpy as np
from weftwork import jit

depth = 0


@contextlib.contextmanager
def deeper():
    global depth
    depth += 1
    try:
        yield depth
    finally:
        depth -= 1


class Record:
    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.events.append(getattr(kind, "__name__", None))
        return kind is KeyError


record = Record()


@jit
def f(x, fail):
    with deeper() as d, record:
        x = x * d
        if fail:
            raise {"key": KeyError, "value": ValueError}[fail](fail)
    return x, depth


# calls
f(np.ones(3), "")
f(np.ones(3), "key")
f(np.ones(3), "value")
depth = 4
f(np.ones(3), "")
