"""What a model's graphs are made of: operations of programs, and those that torch runs, with reasons and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from .compiled import CompiledGraph
from .draws import LIKE, kept_elements
from .draws import memory as empty_memory
from .kinds import CALL, NATIVE, is_check, is_random
from .places import line_of
from .rehearsal import rehearse

__all__ = ["Fallback", "Report", "explain"]


@dataclass(frozen=True)
class Fallback:
    """An operation that torch runs: its name, why no program has it, and the user's line."""

    op: str
    reason: str
    line: str


@dataclass
class Report:
    """Operations of graphs, counted: ``native`` in programs, ``fallback`` in torch, ``random`` drawn by torch's generator; of
    the ``programs`` so many are ``compiled``, the others being equal to one of these."""

    graphs: int = 0
    programs: int = 0
    compiled: int = 0
    native: Counter[str] = field(default_factory=Counter)
    fallback: Counter[Fallback] = field(default_factory=Counter)
    random: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def of(graphs: list[CompiledGraph]) -> Report:
        """What such graphs have."""
        distinct = sum(len({id(core) for core in graph.cores.values()}) for graph in graphs)
        report = Report(len(graphs), sum(len(graph.programs) for graph in graphs), distinct)
        for graph in graphs:
            for node, kind in graph.schedule.kinds.items():
                if kind == NATIVE:
                    report.native[name_of(node.target)] += 1
                elif kind == CALL and (is_random(node) or node.target in LIKE):
                    report.random[name_of(node.target)] += 1
                elif kind == CALL and node.target is not empty_memory and not is_check(node):
                    reason = graph.schedule.refused.get(node, "")
                    report.fallback[Fallback(name_of(node.target), reason, line_of(node))] += 1
        return report

    def count(self, counter: Counter[Any]) -> int:
        """How many there are of all of them."""
        return sum(counter.values())

    def as_json(self) -> dict[str, Any]:
        """Itself in terms of JSON."""
        rows = [{"op": f.op, "reason": f.reason, "line": f.line, "count": n} for f, n in self.fallback.items()]
        return {
            "graphs": self.graphs,
            "programs": self.programs,
            "compiled": self.compiled,
            "native": dict(self.native),
            "random": dict(self.random),
            "fallback": rows,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.graphs} graphs, {self.programs} programs"
            + (f", {self.compiled} of them compiled" if self.compiled < self.programs else "")
        ]
        lines += [f"native: {self.count(self.native)} calls of {len(self.native)} operations"]
        lines += [f"  {n:5} {op}" for op, n in self.native.most_common()]
        if self.random:
            lines += [f"drawn by torch: {self.count(self.random)}"] + [
                f"  {n:5} {op}" for op, n in self.random.most_common()
            ]
        lines += [f"run by torch: {self.count(self.fallback)}"]
        lines += [f"  {n:5} {f.op}: {f.reason}\n          {f.line}" for f, n in self.fallback.most_common()]
        return "\n".join(lines)


def name_of(target: Any) -> str:
    if target is kept_elements:
        return "dropout"
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))


def explain(model: Callable[..., Any], *inputs: Any, **kwargs: Any) -> Report:
    """Compiles a module or a function for inputs, calls it once, and tells what became of each operation.

    Where a result needs a gradient the backward graph counts, too. Gradients, buffers and torch's generator stay as they are.
    ``print(explain(model, x))`` is a table; ``.native``, ``.random`` and ``.fallback`` are counters, and a :class:`Fallback`
    has the operation, the reason and the user's line.

    >>> import torch, weftwork.torch
    >>> report = weftwork.torch.explain(lambda x: torch.relu(x) + 1, torch.ones(3))
    >>> sorted(report.native), len(report.fallback)
    (['aten.add.Tensor', 'aten.relu.default'], 0)
    """
    from .backend import backend

    found: list[CompiledGraph] = []

    def noting(module: Any, example: Any) -> Any:
        return backend(module, example, sink=found.append)

    rehearse(torch.compile(model, backend=noting), model, inputs, kwargs)
    return Report.of(found)
