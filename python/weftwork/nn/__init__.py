"""Layers over lazy arrays, and the functions that they compute; names of state are those that torch gives."""

from . import attention, convolution, dense, functions, losses, normalization
from .attention import *
from .convolution import *
from .dense import *
from .functions import *
from .losses import *
from .module import Module
from .normalization import *

__all__ = [
    "Module",
    *attention.__all__,
    *convolution.__all__,
    *functions.__all__,
    *dense.__all__,
    *losses.__all__,
    *normalization.__all__,
]
