"""Small programs for test_bytecode.py: each function here is run by Python and by the interpreter, and gives the same."""

from collections.abc import Callable
from typing import Any

__all__ = ["PROGRAMS", "attempt", "chain", "program"]

#: Each program with the arguments that it is called with.
PROGRAMS: list[tuple[Callable[..., Any], tuple, dict]] = []


def program(*args: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function, to be called with these arguments."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, args, kwargs))
        return function

    return register


def chain(error: BaseException | None) -> list[Any]:
    """An exception, what it says, its cause, and the exceptions that are its context."""
    found: list[Any] = []
    while error is not None and len(found) < 10:
        cause = type(error.__cause__).__name__
        found.append((type(error).__name__, [str(arg) for arg in error.args], cause, error.__suppress_context__))
        error = error.__context__
    return found


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call gives, or what it raises."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return chain(error)
