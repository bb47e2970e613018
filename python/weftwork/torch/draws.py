"""Random numbers: torch's generator draws them, in the order of the graph, before the programs that use them."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..numpy.tracer import wrap
from .table import TABLE, Rule, Want, cast, overloads

__all__ = ["GIVEN", "kept_elements", "lift_draws"]

#: Of a node: arguments before those of the graph, with numbers that are symbolic.
GIVEN = "weftwork_given"

aten = torch.ops.aten

#: Of their first operand these take the shape and dtype alone.
LIKE = set(
    overloads(
        (
            "bernoulli.p",
            "rand_like",
            "randn_like",
            "randint_like",
            "randint_like.low_dtype",
            "uniform",
            "normal_functional",
            "exponential",
            "log_normal",
            "cauchy",
            "geometric",
            "random",
            "random.from",
            "random.to",
        )
    )
)


def memory(shape: Any, strides: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Elements without values, in the layout of a tensor that is not there yet."""
    return torch.empty_strided(shape, strides, dtype=dtype, device=device)


def kept_elements(shape: Any, device: torch.device, rate: float) -> torch.Tensor:
    """Which elements dropout keeps, drawn as torch's dropout draws them."""
    return torch.empty(shape, dtype=torch.bool, device=device).bernoulli_(1 - rate)


def dropped(x: torch.Tensor, kept: torch.Tensor, rate: float) -> torch.Tensor:
    """Dropout by a mask."""
    return x * kept * (1 / (1 - rate) if rate < 1 else 0.0)


def record_dropped(want: Want, x: Any, kept: Any, rate: float) -> Any:
    return wrap((x * cast(kept, x.dtype) * cast(1 / (1 - rate) if rate < 1 else 0.0, x.dtype)).tensor)


TABLE[dropped] = Rule(record_dropped)


def lift_draws(module: GraphModule) -> None:
    """Takes draws off the values of the graph, so that one program is left of what is around them."""
    graph = module.graph
    for node in list(graph.nodes):
        if node.target is aten._assert_tensor_metadata.default:
            graph.erase_node(node)  # which looks at what the graph is made for anyway
        elif node.target in LIKE and isinstance(node.args[0], Node):
            like(graph, node)
        elif node.target is aten.native_dropout.default and node.args[2] is not False:
            dropout(graph, node)


def like(graph: Any, node: Node) -> None:
    fake = node.args[0].meta["val"]  # type: ignore[union-attr]
    with graph.inserting_before(node):
        made = graph.call_function(memory)
    made.meta = {
        "val": fake,
        GIVEN: (tuple(fake.shape), tuple(fake.stride()), fake.dtype, fake.device),
        "stack_trace": node.stack_trace,
    }
    node.args = (made, *node.args[1:])


def dropout(graph: Any, node: Node) -> None:
    x, rate = node.args[:2]
    fake, mask = node.meta["val"]
    with graph.inserting_before(node):
        kept = graph.call_function(kept_elements, (rate,))
        result = graph.call_function(dropped, (x, kept, rate))
    kept.meta = {"val": mask, GIVEN: (tuple(mask.shape), mask.device), "stack_trace": node.stack_trace}
    result.meta = {"val": fake, "stack_trace": node.stack_trace}
    for user in list(node.users):
        user.replace_all_uses_with(result if user.args[1] == 0 else kept)
        graph.erase_node(user)
    graph.erase_node(node)
