"""A torch graph, compiled: programs, calls of torch, views and copies in the order they run."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .. import _core
from ..errors import Error, InternalError
from ..knobs import target_name
from .draws import lift_draws
from .kinds import GETITEM, NATIVE, SCALAR, SOURCE, STORE, value_of
from .record import Failed, Program, Recording
from .schedule import Piece, Schedule
from .steps import Call, Numbers, Run, Show, Store

__all__ = ["CompiledGraph", "compiled_graph"]


class CompiledGraph:
    """A graph as a function of a list of its inputs, which it empties, with a list of results."""

    def __init__(self, module: GraphModule, schedule: Schedule, programs: dict[int, Program], cores: dict[int, Any]) -> None:
        self._boxed_call = True  # of the instance: torch wraps it, and copies its attributes
        self.schedule, self.programs, self.cores = schedule, programs, cores
        self.slots = {node: i for i, node in enumerate(schedule.nodes)}
        self.numbers = Numbers()
        self.initial: list[Any] = [None] * len(schedule.nodes)
        self.inputs = 0
        for node in schedule.nodes:
            if node.op == "placeholder":
                self.numbers.note(self.slots[node], value_of(node))
                self.inputs += 1
            elif node.op == "get_attr":
                self.initial[self.slots[node]] = attribute(module, str(node.target))
        self.rest = self.initial[self.inputs :]
        self.steps: list[Any] = []
        self.shown: set[Node] = set()
        self._add_steps()
        self.results = [self._result(node) for node in schedule.results]

    # -- building --------------------------------------------------------------------------------------------------

    def _add_steps(self) -> None:
        schedule = self.schedule
        for number in range(-1, max([*self.programs, *schedule.calls, -1]) + 1):
            if number in self.programs:
                self.steps.append(Run(self.programs[number], self.cores[number], self.slots, self.numbers))
            for node in schedule.calls.get(number, ()):
                for operand in node.all_input_nodes:
                    self._show(operand)
                self.steps.append(Call(node, self.slots, self.numbers))
                self._take_apart(node)
        in_place = {target for program in self.programs.values() for target, _ in program.stored}
        for node in schedule.results:
            if isinstance(node, Node):
                self._show(node)
        late = [store for store in schedule.stores if store.args[0] not in in_place]
        for store in late:
            self._show(store.args[1])  # type: ignore[arg-type]
        self.steps += [Store(store, self.slots) for store in late]

    def _take_apart(self, node: Node) -> None:
        """The elements of a call's result, and the numbers that they tell."""
        self.numbers.note(self.slots[node], value_of(node))
        for user in node.users:
            if self.schedule.kinds.get(user) == GETITEM:
                self.steps.append(Call(user, self.slots, self.numbers))
                self._take_apart(user)

    def _show(self, node: Node) -> None:
        """A view, of what was made before."""
        root = self.schedule.roots[node]
        if node is not root and node not in self.shown:
            self.shown.add(node)
            self.steps.append(Show(node, root, self.slots, self.numbers))

    def _result(self, node: Any) -> Any:
        if not isinstance(node, Node):
            return lambda values: node
        kind, slot = self.schedule.kinds.get(node), self.slots[node]
        if kind == STORE:
            slot = self.slots[node.args[0]]  # type: ignore[index]
        if kind == SCALAR or (kind == SOURCE and not isinstance(value_of(node), torch.Tensor)):
            return lambda values: self.numbers.of(value_of(node), values) if values[slot] is None else values[slot]
        return slot

    # -- running ---------------------------------------------------------------------------------------------------

    def __call__(self, args: Any) -> list[Any]:
        values = [*args, *self.rest]
        if isinstance(args, list):
            args.clear()
        for step in self.steps:
            step(values)
        return [values[r] if type(r) is int else r(values) for r in self.results]


def attribute(module: Any, path: str) -> Any:
    return operator.attrgetter(path)(module)


def compiled_graph(module: GraphModule, name: str) -> CompiledGraph:
    """Records and compiles a graph; what cannot be recorded after all runs in torch."""
    lift_draws(module)
    refused: dict[Node, str] = {}
    while True:
        schedule = Schedule(module, refused)
        try:
            programs = {n: recorded(schedule, piece, f"{name}_{n}" if n else name) for n, piece in schedule.pieces.items()}
            cores = {n: machine_code(program, schedule.pieces[n]) for n, program in programs.items()}
            return CompiledGraph(module, schedule, programs, cores)
        except Failed as failed:
            refused[schedule.owner(failed.node)] = failed.reason
        except Refusal as refusal:
            refused.update({node: refusal.reason for node in refusal.piece.nodes if schedule.kinds[node] == NATIVE})


class Refusal(Exception):
    """A piece that was recorded and cannot be compiled."""

    def __init__(self, piece: Piece, reason: str) -> None:
        super().__init__(reason)
        self.piece, self.reason = piece, reason


def recorded(schedule: Schedule, piece: Piece, name: str) -> Program:
    return Recording(name, schedule.extents, schedule.kinds).record(piece.nodes, list(piece.inputs), list(piece.outputs), piece.stored)


def machine_code(program: Program, piece: Piece) -> Any:
    try:
        return _core.compile(program.graph, target_name(None), tiered=True)
    except InternalError:
        raise
    except Error as error:
        raise Refusal(piece, str(error).split("\n")[0].split("  [")[0]) from error


