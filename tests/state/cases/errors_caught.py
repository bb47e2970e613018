"""KeyError, ZeroDivisionError, IndexError and an exception of one's own."""

import numpy as np
from weftwork import jit

table = {"a": 1.0}
fails = 0


class Bad(Exception):
    pass


@jit
def f(x, key, n):
    global fails
    try:
        scale = table[key] / n
        if x.sum() > 10:
            raise Bad(key, n)
        return x[n] * scale
    except (KeyError, ZeroDivisionError) as error:
        fails += 1
        return type(error).__name__
    except IndexError:
        return None
    finally:
        table["last"] = n


# calls
f(np.ones(3), "a", 1)
f(np.ones(3), "b", 1)
f(np.ones(3), "a", 0)
f(np.ones(3), "a", 7)
f(np.full(3, 9.0), "a", 1)
table["b"] = 5
f(np.ones(3), "b", 1)
