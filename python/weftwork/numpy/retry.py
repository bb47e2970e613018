"""What has a function recorded once more: a loop is written out, or its first turns, or a list in it is known to grow."""

from __future__ import annotations

from typing import Any

__all__ = ["Retry", "Site"]

Site = tuple[Any, int]


class Retry(BaseException):
    """Trace the function again: this loop cannot be recorded as one."""

    def __init__(
        self,
        site: Site,
        reason: str,
        peel: bool = False,
        keep: bool = False,
        known: bool = False,
        grows: tuple[str, Any] | None = None,
    ) -> None:
        super().__init__(reason)
        self.site, self.reason, self.peel, self.keep, self.known, self.grows = site, reason, peel, keep, known, grows

    def note(
        self,
        unrolled: dict[Site, str],
        peels: dict[Site, int],
        known: set[Site],
        growing: dict[tuple[Site, str], tuple[Any, ...]],
    ) -> None:
        """Records what the next tracing is to do otherwise."""
        if self.known:
            known.add(self.site)
        if self.grows is not None:
            name, elements = self.grows
            growing[self.site, name] = (*growing.get((self.site, name), ()), elements)
        elif self.peel:
            peels[self.site] = peels.get(self.site, 0) + 1
        elif self.keep:
            peels[self.site] = 0
        else:
            unrolled[self.site] = self.reason
