"""Weftwork turns tensor programs into native code."""

import importlib
from typing import TYPE_CHECKING, Any

from numpy.linalg import _umath_linalg

from . import _core, cache, errors, fft, lazy, linalg, neuron, random, stablehlo
from ._core import Dim
from ._version import __version__
from .annotation import mutable, tensor
from .custom import CustomOp, custom_op
from .device import Buffer, Device, PendingRun, devices
from .errors import Error, RecompilationWarning
from .explain import explain
from .graph import Executable, Graph, load
from .jit import compile, jit, trace
from .knobs import knobs, num_threads, set_num_threads
from .lazy import *
from .lazy import __array_api_version__, __array_namespace_info__
from .numpy.control import cond, scan, while_loop
from .numpy.functions import erf
from .numpy.loops import kept_range as range
from .numpy.protocols import install as _install_protocols
from .numpy.sorting import topk, unique
from .numpy.windows import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .profile import profile
from .simulated import simulate
from .spec import spec

if TYPE_CHECKING:
    from . import distributed, nn
    from .nn import Module

__all__ = [
    "Buffer",
    "CustomOp",
    "Device",
    "Dim",
    "Error",
    "Executable",
    "Graph",
    "Module",
    "PendingRun",
    "RecompilationWarning",
    "__version__",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "cache",
    "compile",
    "cond",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "custom_op",
    "devices",
    "distributed",
    "erf",
    "errors",
    "explain",
    "fft",
    "jit",
    "knobs",
    "linalg",
    "load",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mutable",
    "neuron",
    "nn",
    "num_threads",
    "profile",
    "random",
    "range",
    "scan",
    "set_num_threads",
    "simulate",
    "spec",
    "stablehlo",
    "tensor",
    "topk",
    "trace",
    "unique",
    "while_loop",
    *lazy.__all__,
]

#: What few programs need is imported when it is first asked for: it is a third of the time of an import.
_LATER = {"distributed": ".distributed", "nn": ".nn", "Module": ".nn"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_LATER[name], __name__)
    value = module.Module if name == "Module" else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


_install_protocols()
_core.use_lapack(_umath_linalg.__file__)
