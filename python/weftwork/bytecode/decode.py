"""Code objects taken apart: instructions with their targets as indices, and which handler an exception goes to."""

from __future__ import annotations

import dis
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

__all__ = ["OPERATIONS", "VERSION", "Code", "Handler", "Instruction", "decoded"]

SKIPPED = frozenset(["CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "NOT_TAKEN"])
VERSION = sys.version_info[:2]

#: What each instruction does, by its name; operations*.py fill it.
OPERATIONS: dict[str, Callable[..., Any]] = {}

#: Instructions whose number is a place among the variables and cells of a frame, and those that name two places.
ONE_PLACE = frozenset(
    ["LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "STORE_FAST", "DELETE_FAST", "MAKE_CELL", "LOAD_CLOSURE"]
    + ["LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"]
)
TWO_PLACES = frozenset(["LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"])
#: What stands for a store to a variable that a comprehension puts aside: it may bring back a cell, or nothing.
MAYBE_NOTHING = {
    "STORE_FAST": "STORE_FAST_MAYBE_NULL",
    "STORE_FAST_LOAD_FAST": "STORE_MAYBE_NULL_LOAD_FAST",
    "STORE_FAST_STORE_FAST": "STORE_MAYBE_NULL_TWICE",
}
SYMBOLS = {
    "ADD": "+", "SUBTRACT": "-", "MULTIPLY": "*", "TRUE_DIVIDE": "/", "FLOOR_DIVIDE": "//", "MODULO": "%", "POWER": "**",
    "MATRIX_MULTIPLY": "@", "LSHIFT": "<<", "RSHIFT": ">>", "AND": "&", "OR": "|", "XOR": "^",
}  # fmt: skip
#: The operators of Python 3.10, which has an instruction for each.
OLD_OPERATORS = {f"BINARY_{name}": symbol for name, symbol in SYMBOLS.items()} | {
    f"INPLACE_{name}": f"{symbol}=" for name, symbol in SYMBOLS.items()
}


class Instruction:
    """One instruction: what it does, its number, what the number stands for, and where it may jump to."""

    __slots__ = ("arg", "line", "name", "run", "target", "value")

    def __init__(self, name: str, arg: int | None, value: Any, line: int) -> None:
        self.name, self.arg, self.value, self.line = name, arg, value, line
        self.target = -1
        self.run: Callable[..., Any] = OPERATIONS.get(name, unknown)

    def __repr__(self) -> str:
        return f"{self.name} {self.value!r} (line {self.line})"


@lru_cache(maxsize=256)
def with_back_edge(run: Callable[..., Any]) -> Callable[..., Any]:
    """A jump to the beginning of a loop."""

    def jump(machine: Any, frame: Any, instruction: Instruction) -> Any:
        signal = run(machine, frame, instruction)
        if frame.at == instruction.target:
            machine.back_edge(frame)
        return signal

    return jump


@lru_cache(maxsize=256)
def with_header(run: Callable[..., Any]) -> Callable[..., Any]:
    """The first instruction of the turns of a ``while`` statement."""

    def first(machine: Any, frame: Any, instruction: Instruction) -> Any:
        ended = machine.at_header(frame, frame.at - 1)
        return run(machine, frame, instruction) if ended is None else ended[0]

    first.plain = run  # type: ignore[attr-defined]
    return first


def unknown(machine: Any, frame: Any, instruction: Instruction) -> None:
    machine.refuse(f"the instruction {instruction.name} is not known")


class Handler:
    """Where an exception of some instructions goes: the depth of the stack there, and whether the place is pushed."""

    __slots__ = ("depth", "lasti", "target")

    def __init__(self, target: int, depth: int, lasti: bool) -> None:
        self.target, self.depth, self.lasti = target, depth, lasti


class Code:
    """A code object as the interpreter reads it."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions: list[Instruction] = []
        self.handlers: dict[int, Handler] = {}
        #: Names of the variables and cells in their order; see :func:`places_of`.
        self.places = places_of(code)
        offsets: list[int] = []
        jumps: list[tuple[Instruction, int]] = []
        for raw, line in lines_of(code):
            instruction = Instruction(raw.opname, raw.arg, self._value(raw), line)
            if raw.opcode in dis.hasjrel or raw.opcode in dis.hasjabs:
                jumps.append((instruction, raw.argval))
            offsets.append(raw.offset)
            self.instructions.append(instruction)

        def index_of(offset: int) -> int:
            # What is skipped may be jumped to: then the next instruction is meant.
            return bisect_left(offsets, offset)

        for instruction, offset in jumps:
            instruction.target = index_of(offset)
        if VERSION >= (3, 11):
            self._read_table(index_of)
        self._mark_put_aside()
        headers: list[Instruction] = []
        for index, instruction in enumerate(self.instructions):
            if 0 <= instruction.target <= index and "NO_INTERRUPT" not in instruction.name:
                instruction.run = with_back_edge(instruction.run)
                header = self.instructions[instruction.target]
                if header.name != "FOR_ITER" and header not in headers:
                    headers.append(header)
        for header in headers:
            header.run = with_header(header.run)

    def _value(self, raw: Any) -> Any:
        """What the number of an instruction stands for."""
        if raw.opname == "BINARY_OP":
            return dis._nb_ops[raw.arg][1]  # type: ignore[attr-defined]
        if raw.opname == "KW_NAMES":
            return self.code.co_consts[raw.arg]  # the module dis does not know it
        if raw.opname in OLD_OPERATORS:
            return OLD_OPERATORS[raw.opname]
        if VERSION >= (3, 11):
            if raw.opname in ONE_PLACE:
                return self.places[raw.arg]
            if raw.opname in TWO_PLACES:
                return self.places[raw.arg >> 4], self.places[raw.arg & 15]
        return raw.argval

    def _read_table(self, index_of: Callable[[int], int]) -> None:
        # Entries do not overlap: what is nested is written out by the compiler.
        for entry in dis._parse_exception_table(self.code):  # type: ignore[attr-defined]
            handler = Handler(index_of(entry.target), entry.depth, entry.lasti)
            for index in range(index_of(entry.start), index_of(entry.end)):
                self.handlers[index] = handler

    def _mark_put_aside(self) -> None:
        """Stores to variables that a comprehension puts aside look at what they store."""
        aside = {i.value for i in self.instructions if i.name == "LOAD_FAST_AND_CLEAR"}
        for i in self.instructions if aside else ():
            if i.name in MAYBE_NOTHING and not aside.isdisjoint([i.value] if type(i.value) is str else i.value):
                i.run = OPERATIONS[MAYBE_NOTHING[i.name]]


def places_of(code: CodeType) -> list[str]:
    """Names of the variables, the cells and the cells from outside, each once.

    A variable of a comprehension may have the name of a cell from outside: then it is written in parentheses.
    """
    own = [*code.co_varnames, *(name for name in code.co_cellvars if name not in code.co_varnames)]
    return [*(f"({name})" if name in code.co_freevars else name for name in own), *code.co_freevars]


def lines_of(code: CodeType) -> Iterator[tuple[Any, int]]:
    """The instructions that do something, and their lines."""
    line = code.co_firstlineno
    for raw in dis.get_instructions(code):
        line = line_of(raw, line)
        if raw.opname not in SKIPPED:
            yield raw, line


def line_of(raw: Any, before: int) -> int:
    if VERSION >= (3, 13):
        return raw.line_number or before
    position = getattr(raw, "positions", None)
    if position is not None and position.lineno is not None:
        return position.lineno
    return raw.starts_line or before


@lru_cache(maxsize=4096)
def decoded(code: CodeType) -> Code:
    """The code taken apart, once for each code object."""
    return Code(code)
