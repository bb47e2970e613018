"""Where the ways from a condition meet again: immediate post-dominators of the instructions of a function.

An instruction from which no way leads to a return, as all of them raise, is on no way: NEVER stands for where it leads to.
Within the turns of a loop the end of the turn is what all ways lead to, those out of the loop too.
"""

from __future__ import annotations

from functools import lru_cache

from .decode import Code
from .liveness import ENDS
from .natural_loops import natural_loops, next_of

__all__ = ["NEVER", "RETURNS", "meeting", "meeting_of", "raises_surely"]

#: In the place of an instruction: the end of the function, and what is never reached.
RETURNS, NEVER = -1, -2


def meeting(code: Code, at: int, header: int | None = None) -> int:
    """The first instruction that all ways from a jump go through, RETURNS, or NEVER; in a turn of a loop, its header is the end of the turn."""
    found = immediate(code, header)[at]
    return header if found == RETURNS and header is not None else found


def meeting_of(code: Code, places: list[int], header: int | None = None) -> int:
    """The first instruction that all ways from several instructions go through, themselves among them."""
    found = sets(code, header)
    if header is not None:
        outside = 1 << len(code.instructions)
        common = [found[at] if at in natural_loops(code)[header] else outside for at in places]
    else:
        common = [found[at] for at in places]
    through = common[0]
    for other in common:
        through &= other
    nearest = NEVER if through == everything(code) else nearest_of(code, header).get(through, RETURNS)
    return header if nearest == RETURNS and header is not None else nearest


def raises_surely(code: Code, at: int) -> bool:
    """Whether no way from an instruction leads to a return, and no handler of the function takes what it raises."""
    return sets(code, None)[at] == everything(code) and not code.handlers


def everything(code: Code) -> int:
    """What stands for the ways from where none leads to the end: all instructions, the end, and one bit more, which no way has."""
    return (1 << (len(code.instructions) + 2)) - 1


@lru_cache(maxsize=1024)
def sets(code: Code, header: int | None) -> list[int]:
    """For each instruction, those that all ways from it to the end go through, itself among them, as bits; the last bit is the end."""
    count, full = len(code.instructions), everything(code)
    inside = range(count) if header is None else natural_loops(code)[header]
    found = [full] * count
    changed = True
    while changed:
        changed = False
        for at in range(count - 1, -1, -1):
            name = code.instructions[at].name
            if at not in inside or (name in ENDS and "RETURN" not in name):
                continue
            common = 1 << count if name in ENDS else full
            for following in next_of(code, at):
                if following != header and following in inside:
                    common &= found[following]
                elif not raises_surely(code, following):
                    common &= 1 << count
            now = full if common == full else common | 1 << at
            if now != found[at]:
                found[at], changed = now, True
    return found


@lru_cache(maxsize=1024)
def nearest_of(code: Code, header: int | None) -> dict[int, int]:
    """The first of some instructions that are all on one way, by these as bits: it has all the others behind it."""
    return {behind: at for at, behind in reversed(list(enumerate(sets(code, header))))}


@lru_cache(maxsize=1024)
def immediate(code: Code, header: int | None) -> list[int]:
    """For each instruction, the nearest of those that all ways from it go through."""
    nearest, full = nearest_of(code, header), everything(code)
    return [
        NEVER if behind == full else nearest.get(behind & ~(1 << at), RETURNS)
        for at, behind in enumerate(sets(code, header))
    ]
