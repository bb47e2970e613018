"""Plans for objects that nobody else has any more: an object that is an argument lives as long as plain calls let it."""

from __future__ import annotations

import gc
import sys
import types
from collections import Counter
from typing import Any

__all__ = ["FIRST_LOOK", "abandoned"]

#: So many plans there are before any is looked at.
FIRST_LOOK = 8
#: Of so many objects that plans hold, directly or by others, it is found out who holds them.
MOST_HELD = 200_000
#: What is never held by plans alone, and leads to everything.
ELSEWHERE = (type, types.ModuleType, types.FrameType, types.TracebackType, types.CodeType)


def abandoned(plans: list[Any]) -> list[Any]:
    """Those plans whose key names an object that only plans hold, or what only plans hold.

    All references are counted that lead from plans to such an object; if it has no others, nobody can pass it again. Where
    one is counted that does not come from plans alone, the plan is made anew when it is needed: nothing is wrong then.
    """
    named = {id(value): value for plan in plans for value in plan.named if is_object(value)}
    held: Counter[int] = Counter()
    seen: dict[int, Any] = {}
    pending, part = list(plans), None
    while pending:
        for part in parts_of(pending.pop()):
            if id(part) in named:
                held[id(part)] += 1
            if id(part) not in seen and gc.is_tracked(part) and not issubclass(type(part), ELSEWHERE):
                if len(seen) == MOST_HELD:
                    return []
                seen[id(part)] = part
                pending.append(part)
    del part
    # The two mappings here have it, and the call that asks.
    alone = {key for key in named if sys.getrefcount(named[key]) - 2 - (key in seen) <= held[key]}
    return [plan for plan in plans if any(id(value) in alone for value in plan.named)]


def is_object(value: Any) -> bool:
    return gc.is_tracked(value) and not issubclass(type(value), ELSEWHERE)


def parts_of(value: Any) -> list[Any]:
    """What an object refers to; of a function what belongs to it alone."""
    if isinstance(value, types.FunctionType) and value.__code__.co_filename != "<guards>":
        return [part for part in (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__) if part]
    return gc.get_referents(value)
