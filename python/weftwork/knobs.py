"""Settings: environment variables WEFT_… and scopes that change them."""

from __future__ import annotations

import os
import threading
import warnings
from contextlib import ContextDecorator
from dataclasses import dataclass
from typing import Any

from . import _core
from .errors import ArgumentTypeError, ExecutionError

__all__ = ["Knob", "knobs", "num_threads", "set_num_threads", "table"]

reported = False


@dataclass(frozen=True)
class Knob:
    """A setting: its name in :class:`knobs`, its environment variable, its type ("flag", "integer" or "text"), its standard
    value, what it does, whether it is a setting of the library (else of the tools of its repository), its value here and now,
    and who set that: "scope", "environment" or "standard"."""

    name: str
    variable: str
    type: str
    standard: str
    doc: str
    is_setting: bool
    value: str
    source: str


def table() -> list[Knob]:
    """Every knob with its value on this thread; ``docs/knobs.md`` is made of it."""
    return [Knob(*row) for row in _core.knob_rows()]


def is_on(flag: str) -> bool:
    """Whether a flag is set on this thread."""
    return str(_core.knob(flag)) in ("1", "true", "on", "yes")


class knobs(ContextDecorator):
    """Settings that hold until the end of a ``with`` block, or for calls of the function that it decorates.

    Names are those of ``docs/knobs.md`` and ``weft knobs``: flags take a bool, integers an int, ``cache`` and ``dump`` a path;
    None means the standard value, whatever the environment says. A scope holds for the thread that opened it, and no other:
    compiling and running in a thread takes the settings of that thread, while programs compiled before stay as they are.
    Scopes nest; the end of one, also by an exception, puts back what was. Tasks that share a thread share its scopes: do not
    ``await`` in one.

    Raises an :class:`ArgumentValueError` that names the nearest knob for an unknown name, or what a value must be.

    >>> import numpy as np, weftwork as wf
    >>> with wf.knobs(threads=1, verify=True):
    ...     wf.num_threads()
    1
    """

    def __init__(self, **values: Any) -> None:
        self._values = [(name, as_text(name, value)) for name, value in values.items()]
        # Each thread has scopes of its own.
        self._open = threading.local()
        # An unknown name is an error here, not where the scope begins.
        _core.KnobScope(self._values).close()

    def __enter__(self) -> knobs:
        scopes = self._open.__dict__.setdefault("scopes", [])
        scopes.append(_core.KnobScope(self._values))
        return self

    def __exit__(self, *error: Any) -> None:
        if not getattr(self._open, "scopes", None):
            raise ExecutionError("a scope of knobs must end on the thread that it began on  [knob_thread]")
        self._open.scopes.pop().close()

    def _recreate_cm(self) -> knobs:
        # A decorated function may run in several threads at once.
        return knobs(**dict(self._values))


def as_text(name: str, value: Any) -> str | None:
    """A value as the environment would give it."""
    if value is None:
        return None
    if isinstance(value, (bool, int, str, os.PathLike)):
        return (
            str(int(value))
            if isinstance(value, bool)
            else os.fspath(value)
            if isinstance(value, os.PathLike)
            else str(value)
        )
    raise ArgumentTypeError(
        f"the knob '{name}' takes a bool, an int or a text, got {type(value).__name__}  [knob_type]"
    )


def report_problems() -> None:
    """Warns of variables WEFT_… that mean nothing, once for each process."""
    global reported
    if reported:
        return
    reported = True
    for problem in _core.environment_problems():
        warnings.warn(problem, RuntimeWarning, stacklevel=2)


def target_name(given: str | None = None) -> str:
    """What programs are compiled for, a CPU level or "neuron": what is given, else the knob ``target``."""
    report_problems()
    if not isinstance(given, (str, type(None))):
        raise ArgumentTypeError(f"target must be a name such as 'avx2', got {type(given).__name__}  [target_name]")
    return given or _core.knob("target")


def set_num_threads(n: int) -> None:
    """Sets how many threads runs use from here on; 0 means what WEFT_THREADS says, else OMP_NUM_THREADS, else one for each CPU that the
    process may use. Results do not depend on it. A scope of :class:`knobs` that sets ``threads`` goes before."""
    _core.set_num_threads(n)


def num_threads() -> int:
    """How many threads runs use here."""
    return _core.num_threads()
