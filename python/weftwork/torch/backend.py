"""The backend of torch.compile: graphs of AOTAutograd, each compiled as it comes."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd

from . import rules  # noqa: F401
from .compiled import CompiledGraph, compiled_graph
from .decompose import decompositions
from .frozen import FrozenGraph
from .log import tell
from .state import Options, logger, merged, settings

__all__ = ["backend"]


def backend(
    module: torch.fx.GraphModule,
    inputs: Any,
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    sink: Callable[[CompiledGraph], None] | None = None,
) -> Any:
    """What ``torch.compile(backend="weftwork")`` calls with each graph: gives the compiled function.

    ``mode`` is one of torch's, all of which mean the same here; ``options`` are those of :func:`weftwork.torch.init`, for this
    function; ``sink`` is called with each compiled graph.
    """
    chosen = merged(options, mode)
    compiler = lambda name: functools.partial(compile_graph, name=name, options=chosen, sink=sink)
    aot = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return aot(module, inputs)


def compile_graph(
    module: torch.fx.GraphModule,
    inputs: Any,
    *,
    name: str,
    options: Options,
    sink: Callable[[CompiledGraph], None] | None,
) -> CompiledGraph | FrozenGraph:
    """Compiles one graph, or has it compiled at its first call."""

    def make(constants: dict[torch.fx.Node, torch.Tensor]) -> CompiledGraph:
        begin = time.perf_counter()
        text = module.print_readable(print_output=False) if logger.isEnabledFor(10) else ""
        with settings(options):
            graph = compiled_graph(module, name, options.fallback, constants)
        tell(graph, name, text, time.perf_counter() - begin)
        if sink is not None:
            sink(graph)
        return graph

    return FrozenGraph(module, make) if options.freeze and name == "inference" else make({})
