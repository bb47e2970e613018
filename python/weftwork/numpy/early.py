"""How a loop that is recorded once may end early: by ``break``, by ``return``, or as the condition of a ``while`` does not hold.

What a turn hands to the next includes whether the loop was left, and by which way (``weft/ops/control.cpp``: `until`). What
follows the counter is handed on as a number then: how many turns there were is not known before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .tracer import Tensor, TracedArray, as_tensor, python_truth, wrap
from .validity import can_note, note

__all__ = ["ENDLESS", "LEFT", "WAY", "EarlyEnd"]

#: More turns than a run takes: 52 days at a nanosecond each.
ENDLESS = 1 << 52
#: In the place of variables: whether the turn has left the loop, and by the how manieth way out.
LEFT, WAY = ".left", ".way"


class EarlyEnd:
    """The part of a recorded loop that knows how it is left."""

    def __init__(self, loop: Any, before: Any, way: Any, places: dict[int, list[Any]]) -> None:
        #: Whether it was left before its first turn, and by which way; where its ways out lead.
        self.loop, self.before, self.way, self.places = loop, before, way, places
        self.left: Any = None
        self.is_apart = False  # whether it was left is known apart from whether it is done
        #: Where a turn may have failed in a loop without a last turn: what still holds.
        self.holds = TracedArray(_core.constant(np.asarray(True)))
        self.names: list[str] = []  # variables that follow the counter

    def is_possible(self) -> bool:
        return bool(self.places)

    def follows_counter(self, name: str, value: Any) -> bool:
        loop = self.loop
        return name in loop.inductions or (isinstance(value, _core.Dim) and loop.symbol in str(value))

    def handed_on(self, now: dict[str, Any], read: dict[str, Any], is_last: Any) -> list[tuple[Tensor, Tensor]]:
        """What the loop begins with and what a turn gives, of what is handed on beside the values of the program."""
        loop, locals_ = self.loop, self.loop.frame.locals
        self.names = [name for name in read if self.follows_counter(name, now[name])]
        whole, truth = np.dtype(np.int64), np.dtype(bool)
        left = locals_.get(LEFT, False)
        ends, before = left, self.before
        for ending in (*map(np.logical_not, self.checks()), *([] if is_last is None else [is_last])):
            ends = np.logical_or(wrap(as_tensor(ends, truth)), ending)
        if loop.turns.is_endless and loop.trace.taken is not None:
            # In a way that is not taken it has no turns.
            before = np.logical_or(wrap(as_tensor(before, truth)), np.logical_not(loop.trace.taken))
        found = [(as_tensor(before, truth), as_tensor(ends, truth))]
        self.is_apart = is_last is not None and bool(self.places)
        if self.is_apart:
            found.append((as_tensor(False, truth), as_tensor(left, truth)))
        if len(self.places) > 1:
            found.append((as_tensor(self.way, whole), as_tensor(locals_.get(WAY, 0), whole)))
        for name in self.names:
            entry = loop.entry.get(name, 0)
            before = entry if isinstance(entry, (int, _core.Dim)) else 0
            found.append((as_tensor(before, whole), as_tensor(now[name], whole)))
        return found

    def require_bound(self) -> None:
        """What only the turns bind is not read behind a loop that may have none: where it has none the call runs plainly."""
        loop = self.loop
        if loop.has_turns():
            return
        bound = self.names + [item.name for item in loop.carried if item.name is not None and not item.has_entry]
        for name in bound:
            # A way out of a for statement leads from one of its turns.
            is_read = loop.turns.is_while or loop.trace.recorder.is_read_when_done(loop.turns, name)
            if name in loop.entry or not is_read:
                continue
            if self.before is False or not can_note(loop.trace):
                loop.fail(f"'{name}' may not be bound when the loop is done")
            note(loop.trace, np.logical_not(self.before))

    def checks(self) -> list[TracedArray]:
        """What does not hold where NumPy would have raised in a turn: what the turns after it compute is nobody's, and may not end."""
        trace = self.loop.trace
        every = [self.holds] if trace.checks.holds is None else [self.holds, trace.checks.holds]
        return [holds for holds in every if self.loop.turns.is_endless and holds.tensor.constant() is None]

    def take(self, results: list[Tensor]) -> tuple[dict[str, Any], list[Tensor]]:
        """What variables are when the loop is done, and the results that remain."""
        first = int(self.is_apart)
        self.left, first = python_truth(wrap(results[first])), first + 1
        if len(self.places) > 1:
            self.way, first = TracedArray(results[first], int), first + 1
        last = first + len(self.names)
        numbers = [TracedArray(result, int) for result in results[first:last]]
        return dict(zip(self.names, numbers, strict=True)), results[last:]
