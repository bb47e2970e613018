"""Where the ways from a condition meet again: immediate post-dominators of the instructions of a function.

An instruction from which no way leads to a return, as all of them raise, is on no way: NEVER stands for where it leads to.
"""

from __future__ import annotations

from functools import lru_cache

from .decode import Code
from .liveness import ENDS, successors

__all__ = ["NEVER", "RETURNS", "meeting", "raises_surely"]

#: In the place of an instruction: the end of the function, and what is never reached.
RETURNS, NEVER = -1, -2


def meeting(code: Code, at: int) -> int:
    """The first instruction that all ways from a jump go through, RETURNS, or NEVER."""
    return immediate(code)[at]


def raises_surely(code: Code, at: int) -> bool:
    """Whether no way from an instruction leads to a return, and no handler of the function takes what it raises."""
    return sets(code)[at] == everything(code) and not code.handlers


def everything(code: Code) -> int:
    return (1 << (len(code.instructions) + 1)) - 1


@lru_cache(maxsize=1024)
def sets(code: Code) -> list[int]:
    """For each instruction, those that all ways from it to a return go through, itself among them, as bits; the last bit is the return."""
    count, full = len(code.instructions), everything(code)
    found = [full] * count
    changed = True
    while changed:
        changed = False
        for at in range(count - 1, -1, -1):
            name = code.instructions[at].name
            if name in ("RETURN_VALUE", "RETURN_CONST"):
                common = 1 << count
            elif name in ENDS:
                continue
            else:
                common = full
                handler = code.handlers.get(at)
                for following in successors(code, at):
                    if handler is None or following != handler.target:
                        common &= found[following]
            now = full if common == full else common | 1 << at
            if now != found[at]:
                found[at], changed = now, True
    return found


@lru_cache(maxsize=1024)
def immediate(code: Code) -> list[int]:
    """For each instruction, the nearest of those that all ways from it go through."""
    found, count = sets(code), len(code.instructions)
    nearest = []
    for at, through in enumerate(found):
        if through == everything(code):
            nearest.append(NEVER)
            continue
        others = through & ~(1 << at)
        # Of those behind, the nearest has all the others behind it.
        nearest.append(next((i for i in range(count) if others >> i & 1 and found[i] == others), RETURNS))
    return nearest
