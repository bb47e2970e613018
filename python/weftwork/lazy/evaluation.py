"""Computing several lazy arrays at once, now or beside what Python does next."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..pytree import flatten
from .tensor import Tensor, eval_all

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["async_eval", "eval"]


def tensors_among(values: Any) -> list[Tensor]:
    return [tensor for _, tensor in flatten(values, lambda value: isinstance(value, Tensor))[0]]


def eval(*values: Any) -> None:
    """Computes all tensors among the values, nested in tuples, lists and dicts, as one program.

    >>> import weftwork as wf
    >>> x = wf.ones(3)
    >>> y, z = x + 1, x * 2
    >>> wf.eval(y, z)
    >>> y.is_computed and z.is_computed
    True
    """
    eval_all(tensors_among(values))


@cache
def helper() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # loads many modules

    return ThreadPoolExecutor(1, "weftwork-eval")


def async_eval(*values: Any) -> Future:
    """As :func:`eval`, beside what Python does next; ``result()`` of what it returns waits and raises the program's error."""
    return helper().submit(eval_all, tensors_among(values))
