"""PyTorch: ``torch.compile(model, backend="weftwork")``, the device ``"weftwork"``, programs of torch.export, and what is known of a
model's operations."""

import torch as _torch

from .backend import backend
from .device import register_device
from .device import register_where_free as _register_where_free
from .exported import compile
from .kernels import register_kernel
from .marks import annotate, mark
from .rehearsal import warm_up
from .report import Fallback, Report, explain
from .state import init, is_initialized, reset

__all__ = [
    "Fallback",
    "Report",
    "annotate",
    "backend",
    "compile",
    "explain",
    "init",
    "is_initialized",
    "mark",
    "register_device",
    "register_kernel",
    "reset",
    "warm_up",
]

if "weftwork" not in _torch._dynamo.list_backends(exclude_tags=()):
    _torch._dynamo.register_backend(backend, name="weftwork")

_register_where_free()

if _torch.distributed.is_available():
    from .process_group import register as _register_process_group

    _register_process_group()
