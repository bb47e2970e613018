"""The loops of a function: where their turns begin, what belongs to them, and where the ways out of them lead."""

from __future__ import annotations

from functools import lru_cache

from .decode import Code
from .liveness import ENDS, JUMPS, successors

__all__ = ["exits", "guarded", "innermost", "landing", "natural_loops", "next_of"]


def next_of(code: Code, at: int) -> list[int]:
    """What follows an instruction, but for handlers of exceptions."""
    handler = code.handlers.get(at)
    return [following for following in successors(code, at) if handler is None or following != handler.target]


def landing(code: Code, at: int) -> int:
    """Where one gets from an instruction by jumps alone."""
    seen = set()
    while code.instructions[at].name in JUMPS and at not in seen:
        seen.add(at)
        at = code.instructions[at].target
    return at


@lru_cache(maxsize=1024)
def natural_loops(code: Code) -> dict[int, frozenset[int]]:
    """By their first instruction, the *header*, the instructions of all loops (Aho, Lam, Sethi, Ullman, Compilers, 9.6.6)."""
    before: list[list[int]] = [[] for _ in code.instructions]
    for at in range(len(code.instructions)):
        for following in next_of(code, at):
            if following < len(before):
                before[following].append(at)
    found: dict[int, set[int]] = {}
    for at, instruction in enumerate(code.instructions):
        header = instruction.target
        if not 0 <= header <= at or "NO_INTERRUPT" in instruction.name:
            continue
        inside = found.setdefault(header, {header})
        pending = [at]
        while pending:
            place = pending.pop()
            if place not in inside:
                inside.add(place)
                pending += before[place]
    return {header: frozenset(inside) for header, inside in found.items()}


@lru_cache(maxsize=1024)
def exits(code: Code, header: int) -> frozenset[int]:
    """Where the ways out of a loop lead."""
    inside = natural_loops(code)[header]
    return frozenset(landing(code, s) for at in inside for s in next_of(code, at) if s not in inside)


def innermost(code: Code, at: int) -> int | None:
    """The header of the innermost loop that an instruction belongs to."""
    around = [(len(inside), header) for header, inside in natural_loops(code).items() if at in inside]
    return min(around)[1] if around else None


@lru_cache(maxsize=1024)
def guarded(code: Code, at: int) -> int | None:
    """The header of the ``while`` statement that a jump before its first turn decides about: by all ways one gets there, or behind it."""
    for header, inside in natural_loops(code).items():
        if at in inside or code.instructions[header].name == "FOR_ITER":
            continue
        ends = exits(code, header)
        directly = {landing(code, following) for following in next_of(code, at)}
        if directly & (ends | {header}) and reaches_only(code, at, header, ends):
            return header
    return None


def reaches_only(code: Code, at: int, header: int, ends: frozenset[int]) -> bool:
    """Whether all ways from a jump lead to a header or to one of the ends, and some to the header."""
    seen: set[int] = set()
    pending, enters = [at], False
    while pending:
        place = pending.pop()
        for following in next_of(code, place):
            following = landing(code, following)
            enters |= following == header
            if following == header or following in ends or following in seen:
                continue
            if following <= at or code.instructions[following].name in ENDS:
                return False
            seen.add(following)
            pending.append(following)
    return enters
