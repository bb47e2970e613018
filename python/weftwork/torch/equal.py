"""Equal pieces of a graph: the same operations on arrays of the same kind, whatever they are called."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node, map_arg

from .kinds import value_of
from .schedule import Piece

__all__ = ["key_of"]


def kind_of_value(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(kind_of_value, value))
    return (
        (value.dtype, str(tuple(value.shape)), str(value.stride())) if isinstance(value, torch.Tensor) else str(value)
    )


def key_of(piece: Piece, inputs: list[Node], outputs: list[Node]) -> Any:
    """What equal pieces have in common, and no others."""
    places: dict[Any, str] = {node: f"x{i}" for i, node in enumerate(inputs)}
    # Numbers that are known at the call alone are what they are wherever they stand.
    name = lambda node: places.get(node) or str(value_of(node))
    rows = []
    for i, node in enumerate(piece.nodes):
        args, kwargs = map_arg((node.args, node.kwargs), name)
        rows.append((str(node.target), repr(args), repr(kwargs), kind_of_value(value_of(node))))
        places[node] = f"n{i}"
    return (
        tuple(rows),
        tuple(kind_of_value(value_of(node)) for node in inputs),
        tuple(map(name, outputs)),
        tuple((name(target), name(source)) for target, source in piece.stored),
    )
