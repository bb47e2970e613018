"""Exceptions as Python 3.10 handles them: by a stack of blocks instead of a table."""

from __future__ import annotations

from typing import Any

from .frame import Frame
from .machine import SWITCH, Machine, operation
from .operations_control import check_kinds, go_on_raising, matches

__all__ = ["unwind"]


def unwind(m: Machine, f: Frame, error: BaseException) -> bool:
    """Goes to the handler of an exception; False if there is none in this frame."""
    while f.blocks:
        kind, target, depth = f.blocks.pop()
        if kind == "handler":
            del f.stack[depth:]
            f.handled.pop()
            continue
        del f.stack[depth:]
        f.blocks.append(("handler", -1, len(f.stack)))
        # The exception that was handled before, and the one that is handled: traceback, value, type each.
        f.stack += (None, f.handled[-1] if f.handled else None, None, error.__traceback__, error, type(error))
        f.handled.append(error)
        f.at = target
        return True
    return False


@operation("POP_EXCEPT")
def pop_except(m: Machine, f: Frame, i: Any) -> str:
    f.blocks.pop()
    f.handled.pop()
    del f.stack[-3:]
    return SWITCH


@operation("RERAISE")
def reraise(m: Machine, f: Frame, i: Any) -> str:
    f.stack.pop()  # the type
    return go_on_raising(m, f, f.stack.pop())


@operation("WITH_EXCEPT_START")
def with_except_start(m: Machine, f: Frame, i: Any) -> None:
    kind, error, place = f.stack[-1], f.stack[-2], f.stack[-3]
    f.stack.append(m.call(f.stack[-7], (kind, error, place), {}))


@operation("SETUP_FINALLY")
def setup_finally(m: Machine, f: Frame, i: Any) -> None:
    f.blocks.append(("finally", i.target, len(f.stack)))


@operation("SETUP_WITH")
def setup_with(m: Machine, f: Frame, i: Any) -> None:
    manager = f.stack.pop()
    enter, leave = m.special(manager, "__enter__"), m.special(manager, "__exit__")
    f.stack.append(leave)
    result = m.call(enter, (), {})
    f.blocks.append(("finally", i.target, len(f.stack)))
    f.stack.append(result)


@operation("POP_BLOCK")
def pop_block(m: Machine, f: Frame, i: Any) -> None:
    f.blocks.pop()


@operation("JUMP_IF_NOT_EXC_MATCH")
def jump_if_not_exc_match(m: Machine, f: Frame, i: Any) -> None:
    kinds, kind = f.stack.pop(), f.stack.pop()
    check_kinds(kinds)
    if not matches(kind, kinds):
        f.at = i.target


Machine.unwind_blocks = unwind  # type: ignore[assignment, method-assign]
