"""The compile cache: programs compiled once for all processes of a user, on disk."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core

__all__ = ["CacheInfo", "clear", "info"]


@dataclass(frozen=True)
class CacheInfo:
    """The state of the compile cache.

    directory: where it lies, empty where it is off; problem: why it is off, else empty; entries, bytes: what is in it;
    limit: the bytes that it may take (WEFT_CACHE_BYTES, 1 GiB by default); hits, misses: of this process.
    """

    directory: str
    problem: str
    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


def info() -> CacheInfo:
    """Where the compile cache lies, what is in it, and how often this process found what it looked for.

    It lies in the folder that WEFT_CACHE names ("off" or "0": nowhere), else in ``weftwork`` below XDG_CACHE_HOME or ~/.cache;
    a folder that others may write to is not used. Entries are named by the program with its constants and source lines,
    the CPU and the build of Weftwork; those used least recently go where there are too many.

    >>> import weftwork as wf
    >>> wf.cache.info().limit > 0
    True
    """
    return CacheInfo(*_core.cache_info())


def clear() -> None:
    """Removes all entries; programs that are loaded go on."""
    _core.clear_cache()
