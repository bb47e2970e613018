"""The iterator of an array that stands for a value."""

from __future__ import annotations

from typing import Any

from .tracer import TracedArray

__all__ = ["Rows"]


class Rows:
    """The iterator of an array: each row, or element, as it is when its turn comes."""

    __slots__ = ("array", "at")

    def __init__(self, array: TracedArray) -> None:
        self.array, self.at = array, 0

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.array):
            raise StopIteration
        self.at += 1
        return self.array[self.at - 1]
