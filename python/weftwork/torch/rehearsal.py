"""Calls that leave no trace but what is compiled for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from ..knobs import knobs

__all__ = ["rehearse", "warm_up"]


def rehearse(function: Callable[..., Any], model: Any, inputs: Any, kwargs: Any) -> None:
    """A call, and the backward of it where a result needs a gradient; the gradients and buffers of ``model`` and torch's generator stay as they are."""
    is_module = isinstance(model, torch.nn.Module)
    buffers = [(b, b.detach().clone()) for b in model.buffers()] if is_module else []
    with torch.random.fork_rng(devices=[]):
        results = tree_leaves(function(*inputs, **kwargs))
        smooth = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
        leaves = [t for t in tree_leaves((inputs, kwargs)) if isinstance(t, torch.Tensor) and t.requires_grad]
        leaves += [p for p in model.parameters() if p.requires_grad] if is_module else []
        if smooth and leaves:
            torch.autograd.grad([r.sum() for r in smooth], leaves, allow_unused=True)
    with torch.no_grad():
        for buffer, before in buffers:
            buffer.copy_(before)


def warm_up(model: Callable[..., Any], *inputs: Any, **kwargs: Any) -> float:
    """Compiles what ``torch.compile`` gave for such inputs, backward included where gradients are on; gives the seconds it took.

    Later calls with such inputs run at full speed from the first: what would otherwise be compiled quickly, and better behind the
    caller's back, is compiled well at once. Parameters, their gradients, buffers and torch's generator stay as they are; arguments that
    the model writes are written.

    >>> import torch, weftwork.torch
    >>> model = torch.compile(torch.nn.Linear(4, 2), backend="weftwork")
    >>> weftwork.torch.warm_up(model, torch.ones(3, 4)) > 0
    True
    """
    begin = time.perf_counter()
    with knobs(tiered=False):
        rehearse(model, model, inputs, kwargs)
    return time.perf_counter() - begin
