"""Lazy arrays: the functions of the Python array API standard over :class:`Tensor`."""

from . import creation, dtypes, elementwise, evaluation, functions, operators, protocols
from .creation import *
from .dtypes import *
from .dtypes import __array_namespace_info__
from .elementwise import *
from .evaluation import *
from .functions import *
from .tensor import Tensor

#: The versions of the standard that the namespace follows; the last is what is meant where none is named.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = VERSIONS[-1]

__all__ = [
    "Tensor",
    "__array_api_version__",
    "__array_namespace_info__",
    *creation.__all__,
    *dtypes.__all__,
    *elementwise.__all__,
    *evaluation.__all__,
    *functions.__all__,
]

operators.install()
protocols.install()
