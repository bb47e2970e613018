"""Results in an OrderedDict, a Counter, a set and a deque."""

from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
from weftwork import jit


@jit
def f(x):
    d = defaultdict(list)
    for row in x:
        d["rows"].append(row.sum())
    return OrderedDict(b=x * 2, a=x.sum()), Counter("aab"), {1, 2, len(x)}, deque([x, 1], maxlen=3), d


# calls
f(np.ones((2, 2)))
f(np.ones((3, 2)))
f(np.zeros((2, 2)))
