"""Which variables of a function may still be read after an instruction: backward data flow over its bytecode."""

from __future__ import annotations

from functools import lru_cache

from .decode import Code
from .frame import Frame

__all__ = ["LOOKING", "live_at", "live_from", "live_values"]

#: Functions that see variables whether or not they are read.
LOOKING = frozenset(["locals", "vars", "dir", "eval", "exec"])
ENDS = frozenset(["RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"])
JUMPS = frozenset(["JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD_NO_INTERRUPT"])


def live_values(frame: Frame) -> list[object]:
    """What a frame may still read: its stack, its cells, and those of its variables that are live."""
    values: list[object] = list(frame.stack)
    after = flow(frame.code)[1][frame.at - 1] if frame.at else None
    values += [value for name, value in frame.locals.items() if after is None or name in after]
    for cell in frame.cells.values():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            continue
    return values


def live_at(frame: Frame) -> frozenset[str]:
    """The variables that a frame may still read, from the instruction on that comes next."""
    return live_from(frame.code, frame.at)


def live_from(code: Code, at: int) -> frozenset[str]:
    """The variables that may still be read from an instruction on."""
    return flow(code)[0][at]


@lru_cache(maxsize=1024)
def flow(code: Code) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """For each instruction, the variables that are read before they are stored on some way from it on, and from behind it."""
    uses = [used_and_stored(i.name, i.value) for i in code.instructions]
    count = len(uses)
    before: list[frozenset[str]] = [frozenset()] * (count + 1)
    after: list[frozenset[str]] = [frozenset()] * count
    changed = True
    while changed:
        changed = False
        for at in range(count - 1, -1, -1):
            live: frozenset[str] = frozenset()
            for following in successors(code, at):
                live |= before[following]
            reads, stores = uses[at]
            entering = reads | (live - stores)
            if live != after[at] or entering != before[at]:
                after[at], before[at], changed = live, entering, True
    return before, after


def successors(code: Code, at: int) -> list[int]:
    instruction = code.instructions[at]
    found = [] if instruction.name in ENDS or instruction.name in JUMPS else [at + 1]
    if 0 <= instruction.target < len(code.instructions):
        found.append(instruction.target)
    handler = code.handlers.get(at)
    if handler is not None:
        found.append(handler.target)
    return found


def used_and_stored(name: str, value: object) -> tuple[frozenset[str], frozenset[str]]:
    """The variables that an instruction reads, and those that it stores; what stores twice or looks is taken to read."""
    if name == "STORE_FAST":
        return frozenset(), frozenset([str(value)])
    if "FAST" not in name:
        return frozenset(), frozenset()
    names = frozenset(map(str, value)) if isinstance(value, tuple) else frozenset([str(value)])
    return names, frozenset()
