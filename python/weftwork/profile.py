"""Profiles: what was traced, compiled and run when, on which thread, as a trace that Perfetto and Chrome open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _core
from .errors import ExecutionError

__all__ = ["Profile", "profile"]


@contextmanager
def span(category: str, name: str, **arguments: Any) -> Iterator[None]:
    """Notes the time that the block takes, while somebody records."""
    if not _core.is_recording():
        yield
        return
    begin = _core.span_clock()
    try:
        yield
    finally:
        _core.record_span(category, name, json.dumps(arguments)[1:-1], begin)


class Profile:
    """A recording that goes to a file; see :func:`profile`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._since: int | None = None

    def start(self) -> Profile:
        """Begins to record; an error where it does already."""
        if self._since is not None:
            raise ExecutionError(f"the profile '{self._path}' is being recorded already  [profile]")
        self._since = _core.start_recording()
        return self

    def stop(self) -> None:
        """Ends the recording and writes the file, which appears whole or not at all; an :class:`OSError` where it cannot be."""
        if self._since is None:
            raise ExecutionError(f"the profile '{self._path}' is not being recorded  [profile]")
        since, self._since = self._since, None
        _core.stop_recording(self._path, since)

    def __enter__(self) -> Profile:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()


def profile(path: str | os.PathLike[str]) -> Profile:
    """Records all that happens in its block, on all threads, into a file in Chrome's trace format (ui.perfetto.dev opens it):
    tracing, each pass, LLVM part by part, loading, runs with the values of symbolic extents, and each launch of a kernel with
    the user's line, its operations and the bytes of its buffers. Several may overlap; ``start()`` and ``stop()`` do without
    a block. The environment variable ``WEFT_TRACE=FILE`` records a whole process.

    >>> import os, tempfile, numpy as np, weftwork as wf
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> with wf.profile(path):
    ...     y = wf.jit(lambda x: np.tanh(x) * 2)(np.ones(8))
    >>> os.path.exists(path)
    True
    """
    return Profile(path)
