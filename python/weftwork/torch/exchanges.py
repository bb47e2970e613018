"""Functional collectives of a torch graph as collectives of its programs: those of one process group of ours."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.fx import GraphModule, Node

from .. import _core
from ..distributed.ranks import set_for_thread
from ..distributed.traced import recorded
from ..errors import ExecutionError
from .table import TABLE, Rule, Want

__all__ = ["group_of", "in_group", "join_waits"]

#: What torch calls reductions in graphs.
REDUCTIONS = {"sum": "sum", "avg": "mean", "product": "prod", "max": "max", "min": "min"}
KINDS = {
    "all_reduce": "all_reduce",
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
    "broadcast": "broadcast",
}
WAIT = torch.ops._c10d_functional.wait_tensor.default if dist.is_available() else None


class Waited:
    """A collective and what waits for it in one: where a program cannot have it, torch makes both."""

    def __init__(self, name: str) -> None:
        self.overload, self.kind, self.__name__ = getattr(torch.ops._c10d_functional, name).default, KINDS[name], name
        TABLE[self] = Rule(self.record)

    def __call__(self, *args: Any) -> torch.Tensor:
        return WAIT(self.overload(*args))  # type: ignore[misc]

    def __repr__(self) -> str:
        return str(self.overload)

    def record(self, want: Want, x: Any, option: Any, *rest: Any) -> Any:
        every = list(range(resolved(rest[-1]).size()))
        root = option if self.kind == "broadcast" else 0
        return recorded(self.kind, x, REDUCTIONS.get(option, "sum"), [every], (), root, 0, 0)


WAITED = {each.overload: each for each in map(Waited, KINDS)} if dist.is_available() else {}


def resolved(group: Any) -> Any:
    """The process group that a graph names."""
    return dist.distributed_c10d._resolve_process_group(group) if isinstance(group, str) else group


def join_waits(module: GraphModule) -> None:
    """Makes one node of each collective and what waits for it, of the first group of ours: a program has one communicator."""
    from .process_group import ProcessGroup

    chosen: Any = None
    for node in list(module.graph.nodes):
        start = node.args[0] if WAIT is not None and node.target is WAIT else None
        if not isinstance(start, Node) or start.target not in WAITED or len(start.users) > 1:
            continue
        group = start.args[-1]
        is_known = not isinstance(start.args[1], str) or start.args[1] in REDUCTIONS
        if (chosen is None or group == chosen) and is_known and isinstance(resolved(group), ProcessGroup):
            chosen, node.target, node.args = group, WAITED[start.target], start.args
            module.graph.erase_node(start)


def group_of(nodes: list[Node]) -> Any:
    """The group whose collectives a program has, as the graph names it; None where it has none."""
    return next((node.args[-1] for node in nodes if isinstance(node.target, Waited)), None)


def in_group(name: Any, core: Any, arrays: list[Any]) -> Any:
    """Runs a program whose collectives are those of a group, once its calls before are made."""
    group = resolved(name)
    if not hasattr(group, "settle"):
        raise ExecutionError(
            f"the graph was compiled for a group of the backend 'weftwork', {name!r} is another now  [process_group]"
        )
    group.settle()
    before = set_for_thread(group.communicator)
    try:
        return _core.call(core, arrays)
    finally:
        set_for_thread(before)
