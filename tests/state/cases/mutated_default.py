"""A default list that grows, and one of a helper."""

import numpy as np
from weftwork import jit


def helper(v, seen=[]):
    seen.append(v)
    return len(seen)


@jit
def f(x, acc=[], memo={}):
    acc.append(x.sum())
    memo[x.shape] = memo.get(x.shape, 0) + 1
    return len(acc), sum(acc), helper(1.0), dict(memo)


# calls
f(np.ones(3))
f(np.ones(3))
helper(2.0)
f(np.ones(4))
f(np.ones(3), [5.0])
