"""What all peers need: a workload that is ready to run, and torch twins over the arrays of NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.workload import Workload, bf16, leaves

Weights = dict[str, np.ndarray] | None


class Prepared:
    """A workload ready to run: ``run()`` completes one call, ``arrays(result)`` converts what it gave."""

    def __init__(self, run: Callable[[], Any], arrays: Callable[[Any], list[np.ndarray]]) -> None:
        self.run, self.arrays = run, arrays


def bound(function: Callable[..., Any], weights: Any) -> Callable[..., Any]:
    return function if weights is None else functools.partial(function, weights)


def with_written(work: Workload, args: tuple) -> Callable[[Any], list[np.ndarray]]:
    return lambda result: [np.asarray(leaf) for leaf in [*leaves(result), *(args[i] for i in work.written)]]


def to_torch(value: Any) -> Any:
    """A tensor over the same memory."""
    import torch

    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == bf16:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


def from_torch(value: Any) -> np.ndarray:
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    if value.dtype == torch.bfloat16:
        return value.contiguous().view(torch.int16).numpy().view(bf16)
    return value.numpy()


def as_module(work: Workload, weights: Weights, clone: bool = False) -> Any:
    """The torch twin as a module that holds the weights; ``clone``: it returns copies of what it writes."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if weights is not None:
                parameter = lambda a: torch.nn.Parameter(to_torch(a), requires_grad=False)
                self.weights = torch.nn.ParameterDict({name: parameter(a) for name, a in weights.items()})

        def forward(self, *args: Any) -> Any:
            args = tuple(a.clone() if clone and i in work.written else a for i, a in enumerate(args))
            result = work.torch(*(() if weights is None else (self.weights,)), *args)  # type: ignore[misc]
            return (result, *(args[i] for i in work.written)) if clone else result

    return Module().eval()
