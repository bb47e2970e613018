"""What a program notes of its values while it is recorded: whether NumPy would have raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Checks", "holds_complex"]


def holds_complex(value: Any) -> bool:
    """Whether a complex number of Python's is in a list, at any depth: NumPy asks such for a float, which it is not."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_complex, value))
    return complex in (type(value), getattr(value, "weak", None))


class Checks:
    """Of one trace; validity.py fills it."""

    def __init__(self) -> None:
        self.holds: Any = None  # a value: nothing was found by now; None where the call may not run plainly
        # What the program looks at by itself as it runs, each with what notes it in `holds` instead.
        self.looked_at: list[tuple[Any, Callable[[], None]]] = []
        self.is_in_program = True  # errors of what it looks at count

    @property
    def may_run_plainly(self) -> bool:
        return self.holds is not None

    @property
    def valid(self) -> Any:
        """Whether NumPy would have raised nothing by now, as a value: what the program looks at does not count from then on."""
        pending, self.looked_at = self.looked_at, []
        self.is_in_program &= not pending
        for _, note in pending:
            note()
        return self.holds
