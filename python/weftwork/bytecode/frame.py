"""A call that is being interpreted: its variables, its stack and where it is."""

from __future__ import annotations

import sys
from types import CellType, FunctionType
from typing import Any

from .decode import Code, Instruction

__all__ = ["NULL", "DefaultOf", "Frame"]


class Null:
    """What the interpreter's stack holds where CPython's holds a null pointer."""

    def __repr__(self) -> str:
        return "NULL"


NULL: Any = Null()


class DefaultOf:
    """A default, which comes from outside of the call."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Frame:
    """One call of a Python function, or a body of a class."""

    __slots__ = (
        "at", "blocks", "builtins", "caller", "cells", "code", "function", "globals", "handled", "instruction", "keywords",
        "locals", "names", "outside", "shown", "stack", "state", "thrown",
    )  # fmt: skip

    def __init__(
        self,
        code: Code,
        function: FunctionType | None,
        variables: dict[str, Any],
        globals_: dict[str, Any],
        builtins: dict[str, Any],
    ) -> None:
        self.code, self.function, self.globals, self.builtins = code, function, globals_, builtins
        self.locals = variables
        self.cells: dict[str, CellType] = {}
        self.names: dict[str, Any] | None = None  # the namespace of a class that is being made
        self.stack: list[Any] = []
        self.at = 0
        self.instruction: Instruction = code.instructions[0]
        self.blocks: list[tuple[str, int, int]] = []
        self.handled: list[BaseException] = []  # exceptions whose handlers run, innermost last
        self.keywords: tuple[str, ...] = ()
        self.caller: Frame | None = None
        self.state: Any = None
        self.thrown: BaseException | None = None  # what is raised when the frame goes on
        self.outside: Any = None  # calls from here what is not interpreted
        self.shown: dict[str, Any] | None = None  # what locals() gave before

    # -- what NumPy's front end asks of a frame ------------------------------------------------------------------------

    @property
    def f_code(self) -> Any:
        return self.code.code

    @property
    def f_lineno(self) -> int:
        return self.instruction.line

    @property
    def f_locals(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for place in self.code.places:
            value = self.locals.get(place, NULL)
            if type(value) is DefaultOf:
                value = value.value
            elif value is NULL and place in self.cells:
                value = content_of(self.cells[place])
            if value is not NULL:
                found[place.strip("()")] = value
        return found

    def set_locals(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if name in self.cells:
                self.cells[name].cell_contents = value
            else:
                self.locals[name] = value

    def namespace(self) -> dict[str, Any]:
        """What ``locals()`` gives."""
        if self.names is not None:
            return self.names
        found = self.f_locals
        if sys.version_info >= (3, 13):
            return found
        # Before 3.13 it is one dict for each frame; what was put into it besides stays there.
        if self.shown is None:
            self.shown = {}
        for place in self.code.places:
            if place.strip("()") not in found:
                self.shown.pop(place, None)
        self.shown.update(found)
        return self.shown

    def __repr__(self) -> str:
        return f"<frame of {self.code.code.co_name}, line {self.instruction.line}>"


def content_of(cell: CellType) -> Any:
    """What a cell holds; NULL where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return NULL
