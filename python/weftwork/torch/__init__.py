"""PyTorch: ``torch.compile(model, backend="weftwork")``, the device ``"weftwork"``, programs of torch.export, and what is known of a
model's operations."""

import torch as _torch

from .backend import backend
from .device import register_device
from .device import register_where_free as _register_where_free
from .exported import compile
from .report import Fallback, Report, explain
from .state import init, is_initialized, reset

__all__ = ["Fallback", "Report", "backend", "compile", "explain", "init", "is_initialized", "register_device", "reset"]

if "weftwork" not in _torch._dynamo.list_backends(exclude_tags=()):
    _torch._dynamo.register_backend(backend, name="weftwork")

_register_where_free()
