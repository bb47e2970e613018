"""Inference graphs with parameters and buffers as they are at the first call: constants, packed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .compiled import CompiledGraph

__all__ = ["FrozenGraph"]


def is_of_module(tensor: Any) -> bool:
    """Whether it is a parameter or buffer whose writes torch counts: it marks those that stay where they are."""
    if not isinstance(tensor, torch.Tensor) or tensor.is_inference():
        return False
    return isinstance(tensor, torch.nn.Parameter) or getattr(tensor, "_dynamo_static_input_type", None) is not None


class FrozenGraph:
    """Compiled at its first call, and again where one of them was written, or lies elsewhere, since.

    Writes through ``.data`` are not seen, as torch does not count them.
    """

    def __init__(self, module: GraphModule, make: Callable[[dict[Node, torch.Tensor]], CompiledGraph]) -> None:
        self._boxed_call = True  # of the instance: torch wraps it, and copies its attributes
        self.make = make
        self.places = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.written = {node.args[0] for node in module.graph.nodes if node.target is torch.ops.aten.copy_.default}
        # The graph, and of each parameter place, address and version: together, as other threads may call with other modules.
        self.made: tuple[CompiledGraph, list[tuple[int, int, int]]] | None = None

    def __call__(self, args: Any) -> list[Any]:
        made = self.made
        if made is None or any([args[i].data_ptr() != a or args[i]._version != v for i, a, v in made[1]]):
            made = self.made = self._compiled(args)
        return made[0](args)

    def _compiled(self, args: Any) -> tuple[CompiledGraph, list[tuple[int, int, int]]]:
        held = {i: t.detach() for i, t in enumerate(args) if is_of_module(t) and self.places[i] not in self.written}
        known = [(i, t.data_ptr(), args[i]._version) for i, t in held.items()]
        return self.make({self.places[i]: t for i, t in held.items()}), known
