"""The backend of torch.compile: graphs of AOTAutograd, each compiled as it comes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd

from . import rules  # noqa: F401
from .compiled import CompiledGraph, compiled_graph

__all__ = ["backend", "compile_graph", "decompositions"]

aten = torch.ops.aten
#: What is recorded whole, though torch would take it apart.
WHOLE = (
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default,
    aten.silu.default,
)


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """What graphs are taken apart into: core ATen, and lists of tensors one by one."""
    table = dict(core_aten_decompositions())
    drawing = [op for op in table if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())]
    for whole in [*WHOLE, *drawing]:
        table.pop(whole, None)
    return table | each_of_lists()


def each_of_lists() -> dict[Any, Callable[..., Any]]:
    """Operations on lists of tensors, which optimizers use, as the same on each of them."""
    table: dict[Any, Callable[..., Any]] = {}
    for name in dir(aten):
        single = getattr(aten, name.removeprefix("_foreach_"), None)
        if not name.startswith("_foreach_") or name.endswith("_") or single is None:
            continue
        packet = getattr(aten, name)
        for overload in packet.overloads():
            table[getattr(packet, overload)] = functools.partial(on_each, packet, single)
    return table


def on_each(packet: Any, single: Any, *args: Any, **kwargs: Any) -> Any:
    """The operation on each tensor of the first list, with the elements of other lists of that length."""
    count = len(args[0]) if isinstance(args[0], (list, tuple)) else len(args[1])
    pick = lambda value, i: value[i] if isinstance(value, (list, tuple)) and len(value) == count else value
    results = [single(*(pick(a, i) for a in args), **{k: pick(v, i) for k, v in kwargs.items()}) for i in range(count)]
    return results


compiled: list[CompiledGraph] = []


def compile_graph(module: torch.fx.GraphModule, inputs: Any, name: str) -> CompiledGraph:
    graph = compiled_graph(module, name)
    compiled.append(graph)
    return graph


def backend(module: torch.fx.GraphModule, inputs: Any, **options: Any) -> Any:
    """What ``torch.compile(backend="weftwork")`` calls with each graph."""
    compiler = aot_autograd(
        fw_compiler=functools.partial(compile_graph, name="forward"),
        bw_compiler=functools.partial(compile_graph, name="backward"),
        inference_compiler=functools.partial(compile_graph, name="inference"),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compiler(module, inputs)


