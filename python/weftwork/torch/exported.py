"""Programs of torch.export as executables, which run without torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from ..errors import ArgumentTypeError, UnsupportedError
from ..graph import Executable
from . import rules  # noqa: F401
from .compiled import Compilation, rows_of
from .decompose import decompositions
from .state import merged, settings

__all__ = ["compile"]

#: New values of what the module has.
HELD = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)


def compile(program: ExportedProgram, *, options: dict[str, Any] | None = None) -> Executable:
    """Compiles a program of ``torch.export`` into an :class:`weftwork.Executable`: call it with arrays or tensors, ``save`` it to
    a file that :func:`weftwork.load` and C++ run without torch.

    Parameters, and buffers that nothing writes, are constants of it. Its inputs are the program's, in order; then buffers that
    the program writes. What it writes, inputs too, is written in place; sizes among its results are arrays.
    ``options`` are those of :func:`weftwork.torch.init`.

    Raises an UnsupportedError that names each operation that the table lacks, with the user's line: there is no torch to run it.

    >>> import torch, weftwork.torch
    >>> exported = torch.export.export(torch.nn.Linear(3, 2).eval(), (torch.ones(4, 3),))
    >>> weftwork.torch.compile(exported)(torch.ones(4, 3)).shape
    (4, 2)
    """
    if not isinstance(program, ExportedProgram):
        raise ArgumentTypeError(
            f"a program of torch.export was wanted, got {type(program).__name__}: torch.compile(…, backend='weftwork') takes modules  [torch_exported]"
        )
    flat = program.run_decompositions(decompositions())
    module, signature = flat.graph_module, flat.graph_signature
    written = {spec.target for spec in signature.output_specs if spec.kind in HELD}
    constants: dict[Any, torch.Tensor] = {}
    places = {node.name: node for node in module.graph.nodes if node.op == "placeholder"}
    for spec in signature.input_specs:
        if spec.kind == InputKind.USER_INPUT or spec.target in written:
            continue
        held = flat.state_dict.get(spec.target, flat.constants.get(spec.target))
        if isinstance(held, torch.Tensor):
            constants[places[spec.arg.name]] = held
    store(module, signature, places)
    with settings(merged(options, None)):
        compilation = Compilation(module, "main", constants, stands_alone=True)
        require_native(compilation)
        return Executable(compilation.cores[0])


def store(module: Any, signature: Any, places: dict[str, Any]) -> None:
    """New values of buffers and inputs, which the program gives as results, are written to them instead; buffers go last."""
    graph = module.graph
    output = next(node for node in graph.nodes if node.op == "output")
    first = next(node for node in graph.nodes if node.op != "placeholder")
    results = []
    held = {spec.target: places[spec.arg.name] for spec in signature.input_specs if spec.kind != InputKind.USER_INPUT}
    for spec, node in zip(signature.output_specs, output.args[0], strict=True):
        if spec.kind not in (*HELD, OutputKind.USER_INPUT_MUTATION):
            results.append(node)
            continue
        target = held[spec.target] if spec.kind in HELD else places[spec.target]
        with graph.inserting_before(output):
            # By an operation of the program, even where it is but another input.
            value = graph.call_function(torch.ops.aten.clone.default, (node,))
            written = graph.call_function(torch.ops.aten.copy_.default, (target, value))
        value.meta, written.meta = {"val": node.meta["val"]}, {"val": target.meta["val"]}
        if spec.kind in HELD:
            first.prepend(target)
    output.args = (tuple(results),)


def require_native(compilation: Compilation) -> None:
    schedule = compilation.schedule
    if schedule.calls or set(compilation.programs) != {0}:
        rows = rows_of(schedule, [node for nodes in schedule.calls.values() for node in nodes])
        raise UnsupportedError(f"a program without torch was wanted, these operations need it:{rows}  [torch_native]")
