"""isinstance(x, np.ndarray), and of floats and NumPy's floats."""

import numpy as np
from weftwork import jit


@jit
def f(x):
    v = x.sum() if isinstance(x, np.ndarray) else x
    return (
        isinstance(x, np.ndarray), isinstance(v, (float, np.floating)), type(x) is np.ndarray, type(v) is float,
        isinstance(v, np.generic), type(x).__name__, isinstance(x, (int, float)), np.isscalar(v),
    )  # fmt: skip


# calls
f(np.ones(3))
f(2.0)
f(3)
f(np.float32(1))
f(np.array(1.0))
f(np.arange(3))
