"""Linear algebra beyond NumPy's: results whose dtype does not depend on values."""

from .numpy.decompositions import eig, eigvals

__all__ = ["eig", "eigvals"]
