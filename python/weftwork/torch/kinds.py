"""Which nodes of a torch graph a program can have, and why others run in torch."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Node, map_arg

from ..errors import Error
from .bridge import may_overlap
from .draws import kept_elements
from .dtypes import FROM_TORCH
from .extents import SYMBOLIC, Extents
from .table import TABLE

__all__ = [
    "CALL",
    "GETITEM",
    "NATIVE",
    "SCALAR",
    "SOURCE",
    "SPLITS",
    "STORE",
    "VIEWS",
    "has_no_elements",
    "is_check",
    "is_random",
    "kind_of",
    "value_of",
]

SOURCE, NATIVE, CALL, SCALAR, GETITEM, STORE = "source", "native", "call", "scalar", "getitem", "store"
aten = torch.ops.aten

#: Operations whose results share the memory of their first operand, in torch.
VIEWS = {
    aten.alias.default,
    aten.detach.default,
    aten.view.default,
    aten._unsafe_view.default,
    aten.permute.default,
    aten.transpose.int,
    aten.t.default,
    aten.expand.default,
    aten.slice.Tensor,
    aten.select.int,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.unsqueeze.default,
    aten.diagonal.default,
}
#: The same of those that give several.
SPLITS = {aten.split_with_sizes.default, aten.split.Tensor, aten.unbind.int}
#: Of an operand whose elements share memory these give, in torch, a result whose elements do.
SCATTERS = {aten.slice_scatter.default, aten.select_scatter.default}


def value_of(node: Any) -> Any:
    """The fake tensor or number of a node."""
    return node.meta.get("val") if isinstance(node, Node) else node


def is_random(node: Node) -> bool:
    """Whether it draws from torch's generator."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return node.target is kept_elements
    # Attention draws where it drops something.
    names = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
    place = names.index("dropout_p") if "dropout_p" in names else len(node.args)
    rate: Any = node.args[place] if place < len(node.args) else node.kwargs.get("dropout_p", "dropout_p" not in names)
    return rate != 0


def is_check(node: Node) -> bool:
    """Whether it but raises torch's error for numbers that a program gave."""
    return node.target in (aten._linalg_check_errors.default, aten._assert_async.default, aten._assert_async.msg)


def tensors_in(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in tensors_in(item)] if isinstance(value, (tuple, list)) else []


def has_no_elements(value: Any) -> bool:
    """Whether a result is known to be without elements, whatever made it."""
    found = tensors_in(value)
    return bool(found) and all(any(isinstance(e, int) and e == 0 for e in t.shape) for t in found)


def kind_of(node: Node, known: dict[Node, str]) -> str:
    """What is done with a node, those before it being known."""
    if node.op in ("placeholder", "get_attr"):
        return SOURCE
    if (
        node.target is operator.getitem
        and isinstance(node.args[0], Node)
        and known[node.args[0]] in (NATIVE, CALL, GETITEM)
    ):
        return GETITEM
    if node.target is aten.copy_.default and isinstance(node.args[0], Node) and node.args[0].op == "placeholder":
        return STORE
    value = value_of(node)
    if isinstance(value, (int, float, bool, *SYMBOLIC)) and not any(
        tensors_in(value_of(a)) for a in node.all_input_nodes if not is_shape_of(node)
    ):
        return SCALAR
    return NATIVE if node.target in TABLE else CALL


def is_shape_of(node: Node) -> bool:
    return node.target in (
        aten.sym_size.int,
        aten.sym_stride.int,
        aten.sym_numel.default,
        aten.sym_storage_offset.default,
    )


def reason_against(node: Node, extents: Extents) -> str | None:
    """Why a node of the table cannot be in a program; None where it can."""
    args, kwargs = map_arg((node.args, node.kwargs), value_of)
    values = tensors_in([value_of(n) for n in node.all_input_nodes] + [value_of(node)])
    for value in values:
        if value.device.type not in ("cpu", "weftwork") or value.layout != torch.strided:
            return f"a tensor on {value.device}, {value.layout}"
        if value.dtype not in FROM_TORCH:
            return f"elements of {value.dtype}"
        if type(value).__name__ not in ("FakeTensor", "Tensor", "Parameter", "Buffer"):
            return f"a {type(value).__name__}"
    try:
        for value in values:
            extents.shape(value)
        first: Any = args[0] if args else None
        if node.target in SCATTERS and 0 not in first.stride() and may_overlap(first):
            return "an operand whose elements share memory"
        accepts = TABLE[node.target].accepts
        if accepts is not None and not has_no_elements(value_of(node)) and not accepts(*args, **kwargs):
            return "these arguments"
    except Error as error:
        return str(error).split("  [")[0]
    except (TypeError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__} for these arguments"
    return None
