"""Rewrites of torch graphs that spare work no program would find by itself."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .bridge import dense_order
from .kinds import VIEWS

__all__ = ["share_heads", "stride_by_rows", "unwrap_checks"]

aten = torch.ops.aten
ATTENTION = (aten._scaled_dot_product_flash_attention_for_cpu.default, aten.scaled_dot_product_attention.default)
SAME = (aten.clone.default, aten.alias.default, aten.detach.default)


def share_heads(module: GraphModule) -> None:
    """Attention over keys and values that were repeated for the heads that share them takes them as they were: it looks at each once."""
    for node in module.graph.nodes:
        if node.target not in ATTENTION:
            continue
        shared: list[Any] = [unrepeated(operand) for operand in node.args[1:3]]
        if all(s is not None and s.meta["val"].shape == shared[0].meta["val"].shape for s in shared):
            node.args = (node.args[0], *shared, *node.args[3:])
            if node.target is aten.scaled_dot_product_attention.default:
                node.kwargs = {**node.kwargs, "enable_gqa": True}


def unrepeated(node: Any) -> Node | None:
    """Of ``x[:, :, None].expand(b, heads, times, n, d).reshape(b, heads * times, n, d)`` what x is."""
    node = through(node, SAME)
    if node is None or node.target not in (aten.view.default, aten._unsafe_view.default, aten.reshape.default):
        return None
    whole = node.meta["val"].shape
    node = through(node.args[0], SAME)
    if node is None or node.target is not aten.expand.default:
        return None
    spread = node.meta["val"].shape
    node = through(node.args[0], SAME)
    if node is None or node.target is not aten.unsqueeze.default or node.args[1] != 2:
        return None
    source = node.args[0]
    narrow = source.meta["val"].shape
    is_repeat = len(narrow) == 4 and len(whole) == 4 and len(spread) == 5 and spread[2] != 1
    if (
        not is_repeat
        or [*spread[:2], *spread[3:]] != list(narrow)
        or [whole[0], *whole[2:]] != [narrow[0], *narrow[2:]]
    ):
        return None
    return source


def through(node: Any, targets: Any) -> Node | None:
    """What a chain of such operations begins with."""
    while isinstance(node, Node) and node.target in targets:
        node = node.args[0]
    return node if isinstance(node, Node) and node.op == "call_function" else None


def stride_by_rows(module: GraphModule) -> None:
    """What is laid over the memory of a view is laid over that of the whole, with its dimensions in the order of rows."""
    for node in module.graph.nodes:
        if node.target is not aten.as_strided.default:
            continue
        root, offset = node.args[0], node.args[3] if len(node.args) > 3 else None
        if offset is None:
            offset = root.meta["val"].storage_offset()
        while root.target in VIEWS:
            root = root.args[0]
        order = dense_order(root.meta["val"])
        if order is not None:
            with module.graph.inserting_before(node):
                rows = module.graph.call_function(aten.permute.default, (root, list(order)))
            rows.meta = {**root.meta, "val": root.meta["val"].permute(order)}
            root = rows
        node.args = (root, *node.args[1:3], offset)


def unwrap_checks(module: GraphModule) -> None:
    """Checks of linear algebra, which torch chains by tokens to keep their order: here they keep it by themselves."""
    for node in list(module.graph.nodes):
        if (
            node.target is not torch.ops.higher_order.with_effects
            or node.args[1] is not aten._linalg_check_errors.default
        ):
            continue
        token, check, *args = node.args
        with module.graph.inserting_before(node):
            plain = module.graph.call_function(check, tuple(args), node.kwargs)
        plain.meta = {"val": None, "stack_trace": node.stack_trace}
        for user in list(node.users):
            if user.target is operator.getitem and user.args[1] == 0:
                user.replace_all_uses_with(token)
                module.graph.erase_node(user)
        if not node.users:
            module.graph.erase_node(node)
