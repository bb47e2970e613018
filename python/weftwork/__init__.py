"""Weftwork turns tensor programs into native code."""

from . import errors, linalg, stablehlo
from ._core import Dim
from ._version import __version__
from .annotation import mutable, tensor
from .errors import Error
from .graph import Executable, Graph
from .jit import compile, jit, simulate, trace
from .knobs import num_threads, set_num_threads
from .numpy.functions import erf
from .numpy.sorting import topk, unique
from .spec import spec

__all__ = [
    "Dim",
    "Error",
    "Executable",
    "Graph",
    "__version__",
    "compile",
    "erf",
    "errors",
    "jit",
    "linalg",
    "mutable",
    "num_threads",
    "set_num_threads",
    "simulate",
    "spec",
    "stablehlo",
    "tensor",
    "topk",
    "trace",
    "unique",
]
