"""Integers among the arguments of a jitted function: a part of its programs, or inputs of them once they vary."""

from __future__ import annotations

__all__ = ["Integers"]

#: Paths that are remembered; keys of dictionaries may be many.
MOST_PATHS = 4096


class Integers:
    """What is known of a function's integers, by their paths in the arguments ("t", "state.step")."""

    def __init__(self, may_vary: bool = True) -> None:
        self.may_vary = may_vary
        self.inputs: frozenset[str] = frozenset()
        self._fixed: set[str] = set()
        self._seen: dict[str, int] = {}

    def varying(self, given: list[tuple[str, int]]) -> frozenset[str]:
        """Those that are not what they were when a call was recorded before, and may become inputs."""
        if not self.may_vary:
            return frozenset()
        if len(self._seen) > MOST_PATHS:
            self._seen.clear()
        known = self._fixed | self.inputs
        return frozenset(
            path for path, value in given if path not in known and self._seen.setdefault(path, value) != value
        )

    def fix(self, paths: frozenset[str]) -> None:
        """Has these be a part of programs for good: a program is for one value of them, or for few."""
        if len(self._fixed) > MOST_PATHS:
            self._fixed.clear()
        self._fixed |= paths
        self.inputs -= paths
