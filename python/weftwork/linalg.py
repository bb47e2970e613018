"""Linear algebra: the array API's functions of lazy arrays, and what NumPy has with dtypes that depend on values without that."""

from .lazy.linalg import *
from .lazy.linalg import __all__ as _standard
from .numpy.decompositions import eig, eigvals

__all__ = ["eig", "eigvals", *_standard]
