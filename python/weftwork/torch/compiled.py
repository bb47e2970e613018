"""A torch graph, compiled: programs, calls of torch, views and copies in the order they run."""

from __future__ import annotations

import operator
import os
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .. import _core
from ..device import to_device
from ..errors import Error, InternalError, UnsupportedError
from ..knobs import target_name
from .draws import lift_draws, memory
from .equal import key_of
from .exchanges import join_waits
from .kinds import GETITEM, NATIVE, SCALAR, SOURCE, STORE, is_check, is_random, value_of
from .places import frames_of, line_of
from .record import Failed, Program, Recording
from .schedule import Piece, Schedule
from .simplify import share_heads, stride_by_rows, unwrap_checks
from .steps import Call, Numbers, Run, Show, Store

__all__ = ["Compilation", "CompiledGraph", "compiled_graph", "rows_of"]


class CompiledGraph:
    """A graph as a function of a list of its inputs, which it empties, with a list of results."""

    def __init__(
        self, module: GraphModule, schedule: Schedule, programs: dict[int, Program], cores: dict[int, Any]
    ) -> None:
        self._boxed_call = True  # of the instance: torch wraps it, and copies its attributes
        self.schedule, self.programs, self.cores = schedule, programs, cores
        self.slots = {node: i for i, node in enumerate(schedule.nodes)}
        self.numbers = Numbers(schedule.extents.whole)
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


class Compilation:
    """A graph recorded and compiled; what cannot be recorded after all is left to torch.

    ``constants`` are the elements of placeholders that are known. One that ``stands_alone`` is a program without torch: its inputs
    are the other placeholders.
    """

    def __init__(
        self,
        module: GraphModule,
        name: str,
        constants: dict[Node, torch.Tensor] | None = None,
        stands_alone: bool = False,
    ) -> None:
        self.name, self.constants, self.stands_alone = name, constants or {}, stands_alone
        lift_draws(module)
        share_heads(module)
        unwrap_checks(module)
        stride_by_rows(module)
        join_waits(module)
        refused: dict[Node, str] = {}
        while True:
            self.schedule = Schedule(module, refused, not stands_alone)
            try:
                self._record()
                self.cores = self._compiled()
                return
            except Failed as failed:
                refused.update({self.schedule.owner(node): reason for node, reason in failed.reasons.items()})
            except Refusal as refusal:
                refused.update({node: refusal.reason for node in refusal.nodes(self.schedule)})

    def _record(self) -> None:
        self.programs: dict[int, Program] = {}
        self.known: dict[Any, Program] = {}  # of each kind of piece, the program of the first
        shares = self.schedule.regions or (
            len(self.schedule.pieces) > 1 and not self.constants and not self.stands_alone
        )
        record = self._shared if shares else self._recorded
        failed: dict[Node, str] = {}
        for number, piece in self.schedule.pieces.items():
            try:
                self.programs[number] = record(number, piece)
            except Failed as some:
                failed.update(some.reasons)
        if failed:
            raise Failed(failed)

    def _recorded(self, number: int, piece: Piece) -> Program:
        schedule = self.schedule
        inputs, outputs = list(piece.inputs), list(piece.outputs)
        if self.stands_alone and not schedule.calls:
            free = [
                n
                for n in schedule.nodes
                if n.op == "placeholder" and n not in self.constants and isinstance(value_of(n), torch.Tensor)
            ]
            outputs = [n for n in schedule.results if isinstance(n, Node)]
            inputs = [n for n in self.constants if n in inputs or n in outputs] + free
        name = f"{self.name}_{number}" if number else self.name
        recording = Recording(name, schedule.extents, schedule.kinds, self.constants, self.stands_alone)
        return recording.record(piece.nodes, inputs, outputs, piece.stored)

    def _shared(self, number: int, piece: Piece) -> Program:
        """The program of one of several pieces: that of an equal piece, with other nodes, where there is one."""
        region = self.schedule.regions.get(number)
        inside = {node: i for i, node in enumerate(piece.nodes)}
        inputs, outputs = list(piece.inputs), sorted(piece.outputs, key=lambda node: inside[node])
        key = ("" if region is None else region.place, key_of(piece, inputs, outputs))
        known = self.known.get(key)
        if known is not None:
            return Program(known.graph, inputs, outputs, piece.stored, known.carried, known.group)
        # Parameters are inputs of equal pieces, even where they are known.
        recording = Recording(f"{self.name}_region", self.schedule.extents, self.schedule.kinds, {}, is_shared=True)
        self.known[key] = program = recording.record(piece.nodes, inputs, outputs, piece.stored)
        return program

    def _compiled(self) -> dict[int, Any]:
        """The machine code of each program; those of one graph share theirs."""
        made: dict[int, Any] = {}
        for number, program in self.programs.items():
            if id(program.graph) not in made:
                region = self.schedule.regions.get(number)
                made[id(program.graph)] = machine_code(
                    program, self.schedule.pieces[number], region.place if region else ""
                )
        return {number: made[id(program.graph)] for number, program in self.programs.items()}


def compiled_graph(
    module: GraphModule, name: str, fallback: bool = True, constants: dict[Node, torch.Tensor] | None = None
) -> CompiledGraph:
    """Compiles a graph. UnsupportedError where torch would have to run an operation and ``fallback`` does not let it."""
    made = Compilation(module, name, constants)
    if not fallback:
        left = left_to_torch(made.schedule)
        if left:
            raise UnsupportedError(
                f"a graph without calls of torch was wanted, these operations need it:{rows_of(made.schedule, left)}  [torch_native]"
            )
    return CompiledGraph(module, made.schedule, made.programs, made.cores)


def left_to_torch(schedule: Schedule) -> list[Node]:
    """Calls of torch, but for draws of random numbers and checks."""
    return [
        n
        for nodes in schedule.calls.values()
        for n in nodes
        if not is_random(n) and not is_check(n) and n.target is not memory
    ]


def rows_of(schedule: Schedule, nodes: list[Node]) -> str:
    """A line for each operation that torch runs: why, and where the user wrote it."""
    return "".join(f"\n  {node.target}: {schedule.refused.get(node, '')}, at {line_of(node)}" for node in nodes)


class Refusal(Exception):
    """A piece that was recorded and cannot be compiled."""

    def __init__(self, piece: Piece, message: str) -> None:
        super().__init__(message)
        self.piece, self.message = piece, message
        self.reason = message.split("\n")[0].split("  [")[0]

    def nodes(self, schedule: Schedule) -> list[Node]:
        """Those of the line that the message names, or all where it names none."""
        lines = self.message.split("\n")
        native = [node for node in self.piece.nodes if schedule.kinds[node] == NATIVE and not schedule.is_view(node)]
        if len(lines) < 2:
            return native
        found = [
            node
            for node in native
            if any(f"{os.path.basename(f)}:{line} " in lines[1] for f, line, _ in frames_of(node)[:1])
        ]
        return found or native


def machine_code(program: Program, piece: Piece, place: str = "") -> Any:
    try:
        return _core.compile(program.graph, target_name(None), device=to_device(place or None), tiered=True)
    except InternalError:
        raise
    except Error as error:
        raise Refusal(piece, str(error)) from error
