"""Variables that are None or a number or array as the run decides, see numpy/maybe.py: what a program may do with them."""

from __future__ import annotations

from typing import Any

from ..numpy.maybe import Maybe, holds_maybe
from ..numpy.mixed import kind_of
from ..numpy.retry import Retry
from ..numpy.shared_arrays import Choice, Side
from ..numpy.tracer import TracedArray, as_tensor, wrap
from ..numpy.validity import can_note, demanded, note
from .branches import Branches, Unlike, negated
from .frame import Frame

__all__ = ["Maybes"]

#: What makes a result of variables.
MAKES = ("LOAD_FAST", "LOAD_CONST", "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP")


class Maybes(Branches):
    """The part of a recorder that hands such variables on, and asks whether they are None; for all else they have to be numbers."""

    def loaded(self, f: Frame, value: Maybe) -> Any:
        return value if hands_on(f) else self.present(value)

    def present(self, value: Maybe) -> Any:
        """What is there; the call runs plainly where nothing is, and a program that has to be one raises."""
        there = negated(value.missing)
        if self.raises:
            number = as_tensor(value.value)
            made = TracedArray(demanded(number, there, "missing", "a variable is None where a value is needed"))
            kind = kind_of(value.value)
            made.weak, made.scalar = (None, False) if kind is None else (kind[1], True)
            if kind is None:  # it is that array
                made._storage.choice = Choice(wrap(as_tensor(True)), (Side(value.value), None), value.site)
            return made
        if not can_note(self.trace):
            self.write_out(value.site)
        note(self.trace, there)
        return value.value

    def require_present(self, f: Frame | None) -> None:
        """What is left of the call is not of this program: no variable may be None there."""
        while f is not None:
            for value in (*f.locals.values(), *f.stack):
                if holds_maybe(value):
                    self.write_out(value.site if type(value) is Maybe else self.trace.decided)
            f = f.caller

    def write_out(self, site: Any) -> Any:
        """The loop whose condition decides is not one of a program."""
        if site is None or site in self.trace.unrolled:
            self.refuse("a variable may be None")
        raise Retry(site, "a variable may be None")

    def require_handed_on(self, f: Frame) -> None:
        """Where ways meet: values that may be missing are variables, or what is bound or returned next."""
        is_result = f.at < 0
        goes_to = f.caller if is_result else f
        others = [*([] if is_result else f.stack[:-1]), *(v for v in f.locals.values() if type(v) is tuple)]
        for value in [f.state] if is_result else f.stack[-1:]:
            if holds_maybe(value) and not (goes_to is None or (type(value) is Maybe and hands_on(goes_to))):
                others.append(value)
        if any(map(holds_maybe, others)):
            raise Unlike("a value may be None")


def hands_on(f: Frame) -> bool:
    """Whether the next instructions bind the value on the stack, ask whether it is None, or return it from the whole function."""
    instructions, at = f.code.instructions, f.at
    while instructions[at].name in ("JUMP_FORWARD", "NOP"):
        at = instructions[at].target if instructions[at].name == "JUMP_FORWARD" else at + 1
    name = instructions[at].name
    if name.startswith("STORE_FAST") or "NONE" in name:
        return True
    if name == "LOAD_CONST" and instructions[at].value is None and instructions[at + 1].name == "IS_OP":
        return True
    while instructions[at].name.startswith(MAKES):
        at += 1
    return instructions[at].name == "RETURN_VALUE" and f.caller is None
