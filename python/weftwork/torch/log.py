"""Tells of compiled graphs: a line for each, and a folder with all that is known of it."""

from __future__ import annotations

import itertools
import json
import logging
import os
from typing import Any

from .compiled import CompiledGraph
from .report import Report
from .state import current, logger

__all__ = ["tell"]

FOLDER = "weftwork_graphs"
numbers = itertools.count()


def tell(graph: CompiledGraph, name: str, text: str, seconds: float) -> None:
    """Logs a graph that was just compiled; ``text`` is torch's own of it."""
    if not logger.isEnabledFor(logging.INFO):
        return
    report = Report.of([graph])
    line = f"{name}: {report.count(report.native)} native, {report.count(report.fallback)} in torch, {len(graph.programs)} programs, {seconds:.3f} s"
    if logger.isEnabledFor(logging.DEBUG):
        line += f", see {write(graph, name, text, report, seconds)}"
    logger.info(line)


def write(graph: CompiledGraph, name: str, text: str, report: Report, seconds: float) -> str:
    """The folder of a graph: ``000-forward`` and so on, below ``weftwork_graphs`` or the cache."""
    cache, rank = current().cache, current().rank
    base = os.path.join(cache if cache and cache != "off" else ".", FOLDER)
    if current().world_size > 1:
        base = os.path.join(base, f"rank{rank}")
    folder = os.path.join(base, f"{next(numbers):03}-{name}")
    os.makedirs(folder, exist_ok=True)

    def put(file: str, content: str) -> None:
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(content)

    put("torch.txt", text)
    for number, program in graph.programs.items():
        put(f"program_{number}.txt", program.graph.short_text("trace"))
        put(f"program_{number}.mlir", stablehlo(program.graph))
        put(f"kernels_{number}.txt", "\n".join(map(str, graph.cores[number].kernel_infos)))
    put("report.json", json.dumps({"seconds": seconds, "milliseconds": times(graph), **report.as_json()}, indent=1))
    return folder


def times(graph: CompiledGraph) -> dict[int, dict[str, float]]:
    """What the stages of compiling each program took."""
    return {number: core.times for number, core in graph.cores.items()}


def stablehlo(graph: Any) -> str:
    try:
        return graph.mlir("flat", {}, True)
    except Exception as error:  # what is only for reading keeps nobody from running
        return f"// {error}\n"
