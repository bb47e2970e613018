"""Regions of a model that run somewhere of their own, and equal ones that are compiled once."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.fx.traceback import annotate as note

from ..device import to_device
from ..errors import ArgumentTypeError, ArgumentValueError

__all__ = ["Region", "annotate", "mark", "region_of"]

#: Where torch's graphs carry marks: it copies these to what AOTAutograd makes of a node, gradients included.
KEY = "weftwork"
numbers = itertools.count()


@torch.compiler.assume_constant_result
def next_number() -> int:
    """Tells regions apart that are marked alike, one after another."""
    return next(numbers)


@dataclass(frozen=True)
class Region:
    """A marked part of a graph: ``place`` is "torch", a device or "", and regions with a ``number`` are programs of their own."""

    place: str
    number: int


def region_of(node: Node) -> Region | None:
    """The innermost region that a node was made in."""
    label = (node.meta.get("custom") or {}).get(KEY)
    return None if label is None else Region(*label)


def label(place: str, once: bool) -> dict[str, Any]:
    """What torch carries: each entry of a region that is a program of its own has a number."""
    return {KEY: (place, next_number() if once else -1)}


class Mark:
    """A mark outside of compiled functions: a context manager, and a decorator."""

    def __init__(self, place: str, once: bool) -> None:
        self.place, self.once = place, once
        self.entered: list[Any] = []

    def __enter__(self) -> None:
        self.entered.append(note(label(self.place, self.once)))
        self.entered[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self.entered.pop().__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        place, once = self.place, self.once

        @functools.wraps(function)
        def marked(*args: Any, **kwargs: Any) -> Any:
            with note(label(place, once)):
                return function(*args, **kwargs)

        return marked


def mark(place: str | None = None, *, once: bool = False) -> Any:
    """Marks what is recorded while it is entered, or what a function does: ``with mark("torch"):``, ``@mark(once=True)``.

    ``place`` is "torch", whose own kernels run the region, or the name of a CPU device of :func:`weftwork.devices`. With ``once`` each
    entry is a program of its own, and those that are equal are recorded and compiled once. Gradients go where their region is. The
    innermost mark holds; in eager a mark does nothing. Within compiled functions it is called where it is entered.

    Raises an ArgumentValueError where there is no such place.

    >>> import torch, weftwork.torch
    >>> def model(x):
    ...     with weftwork.torch.mark("torch"):
    ...         x = torch.relu(x)
    ...     return x + 1
    >>> [row.reason for row in weftwork.torch.explain(model, torch.ones(3)).fallback]
    ['marked to run in torch']
    """
    where = checked_place(place)
    if not isinstance(once, bool):
        raise ArgumentTypeError(f"once is True or False, got {once!r}  [torch_mark]")
    alone = once or where not in ("", "torch")
    # Dynamo knows torch's own manager, and no other that enters it.
    return note(label(where, alone)) if torch.compiler.is_compiling() else Mark(where, alone)


@torch.compiler.assume_constant_result
def checked_place(place: Any) -> str:
    if place is None or place == "torch":
        return place or ""
    if not isinstance(place, str):
        raise ArgumentTypeError(f'a place is "torch" or the name of a device, got {place!r}  [torch_mark]')
    device = to_device(place)
    if device.kind != "cpu":
        raise ArgumentValueError(f"a region runs in torch or on a CPU device, got {place!r}  [torch_mark]")
    return place


def annotate(
    modules: torch.nn.Module | Iterable[torch.nn.Module], place: str | None = None, *, once: bool = False
) -> Any:
    """Marks what a module, or each of several, does when it is called, as :func:`mark` does; gives them back.

    >>> import torch, weftwork.torch
    >>> layers = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
    >>> report = weftwork.torch.explain(weftwork.torch.annotate(layers, once=True), torch.ones(2, 8))
    >>> report.programs, report.compiled
    (4, 1)
    """
    each = (
        list(modules)
        if isinstance(modules, (torch.nn.ModuleList, torch.nn.Sequential)) or not isinstance(modules, torch.nn.Module)
        else [modules]
    )
    for module in each:
        if not isinstance(module, torch.nn.Module):
            raise ArgumentTypeError(
                f"modules were wanted, got {type(module).__name__}: mark(…) takes functions  [torch_mark]"
            )
        module.forward = mark(place, once=once)(module.forward)
    return modules
