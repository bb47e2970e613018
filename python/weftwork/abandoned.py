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
#: Functions that plans alone have, with variables of their own.
GENERATED = ("<guards>", "<result>")
#: What is never held by plans alone, and leads to everything.
ELSEWHERE = (type, types.ModuleType, types.FrameType, types.TracebackType, types.CodeType)


def abandoned(plans: list[Any]) -> list[Any]:
    """Those plans whose key names an object that only plans hold, or what only plans hold.

    All references are counted that lead from plans to other objects; what has more than these is held by others, and so is
    all that it refers to (the garbage collector finds cycles in the same way). Nobody can pass the rest again.
    """
    spaces = {id(getattr(module, "__dict__", None)) for module in list(sys.modules.values())}  # whose modules live
    owned = {id(value): value for plan in plans for value in (plan, plan.key)}  # which the function alone has
    reached: dict[int, Any] = {}
    counted: Counter[int] = Counter()
    pending, part = list(owned.values()), None
    while pending:
        for part in parts_of(pending.pop()):
            counted[id(part)] += 1
            if id(part) not in reached and id(part) not in owned and id(part) not in spaces and is_object(part):
                if len(reached) == MOST_HELD:
                    return []
                reached[id(part)] = part
                pending.append(part)
    part = None
    # A mapping has each, and the call that asks.
    pending = [reached[key] for key in reached if sys.getrefcount(reached[key]) - 2 > counted[key]]
    while pending:
        for part in [value := pending.pop(), *parts_of(value)]:
            if reached.pop(id(part), None) is not None:
                pending.append(part)
    return [plan for plan in plans if any(id(value) in reached for value in plan.named)]


def is_object(value: Any) -> bool:
    return gc.is_tracked(value) and not issubclass(type(value), ELSEWHERE)


def parts_of(value: Any) -> list[Any]:
    """What an object refers to; of a function what belongs to it alone."""
    # isinstance would ask a weak proxy, whose object may be gone.
    if type(value) is types.FunctionType and value.__code__.co_filename not in GENERATED:
        return [part for part in (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__) if part]
    return gc.get_referents(value)
