"""Generators of interpreted functions: Python's own generators, each of which drives an interpreted frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .decode import VERSION
from .frame import NULL, Frame

__all__ = ["Generator", "frame_of", "generator_of"]


def generator_of(machine: Any, frame: Frame) -> Any:
    """What a call of a generator function gives."""
    made: Any = drive(machine, frame, machine.stops)
    if frame.function is not None:
        made.__name__, made.__qualname__ = frame.function.__name__, frame.function.__qualname__
    return made


Generator = generator_of


def frame_of(generator: Any) -> Frame | None:
    """The frame that a generator drives; None where it is not one of these, or has ended."""
    if getattr(generator, "gi_code", None) is not drive.__code__ or generator.gi_frame is None:
        return None
    return generator.gi_frame.f_locals["frame"]


def drive(machine: Any, frame: Frame, stops: int) -> Iterator[Any]:
    """Goes on with the frame whenever the generator is asked to."""
    if frame.code.instructions[0].name == "GEN_START":
        frame.stack.append(None)
    value = machine.run(frame)
    while frame.at != -1:
        error = None
        try:
            sent = yield value
        except BaseException as caught:
            error = caught
        # What follows is outside of the handler: the interpreted program handles nothing here.
        value = None
        if error is None:
            frame.stack.append(sent)
            sent = None
        elif machine.stops != stops:
            return None  # the interpretation ended before: nothing of it is run any more
        else:
            passed, error = throw_inside(machine, frame, error), None
            if passed is not NULL:
                value, passed = passed, None
                continue
        value = machine.run(frame)
    return value


def throw_inside(machine: Any, frame: Frame, error: BaseException) -> Any:
    """Hands an exception to the iterator of ``yield from``, whose next value it gives; NULL if the frame has to go on."""
    if not delegates(frame):
        frame.thrown = error
        return NULL
    inner = frame.stack[-1]
    try:
        if isinstance(error, GeneratorExit):
            finish = closing_method(inner)
            if finish is not None:
                machine.call(finish, (), {})
        elif hasattr(inner, "throw"):
            return machine.call(machine.attribute(inner, "throw"), (error,), {})
    except machine.own_exceptions:
        raise
    except BaseException as raised:
        error = raised
    if VERSION < (3, 12):
        leave_old_delegation(frame, error)
    else:
        frame.stack.append(None)  # what would have been sent
        frame.thrown = error
    return NULL


def closing_method(inner: Any) -> Any:
    """How an iterator is closed; None if it cannot be."""
    try:
        return getattr(inner, "close", None)
    except Exception as error:
        Unraisable(error)
        return None


class Unraisable:
    """Reports an exception where none can be raised, as Python does."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


def delegates(frame: Frame) -> bool:
    """Whether a frame waits in ``yield from``."""
    instructions, at = frame.code.instructions, frame.at
    if VERSION < (3, 11):
        return instructions[at].name == "YIELD_FROM"
    return at >= 2 and instructions[at - 2].name == "SEND"


def leave_old_delegation(frame: Frame, error: BaseException) -> None:
    """Before 3.12 there are no instructions behind ``yield from`` that look at what the iterator raised."""
    frame.stack.pop()
    frame.at = frame.at + 1 if VERSION < (3, 11) else frame.code.instructions[frame.at - 2].target
    if isinstance(error, StopIteration):
        frame.stack.append(error.value)
    else:
        frame.thrown = error
