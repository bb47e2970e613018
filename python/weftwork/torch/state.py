"""What holds for all graphs of a process: where programs are cached, what is logged, settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError
from ..knobs import knobs, set_num_threads

__all__ = ["Options", "State", "current", "init", "is_initialized", "merged", "reset", "settings"]

logger = logging.getLogger("weftwork.torch")
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@dataclass(frozen=True)
class Options:
    """Options of a compilation: settings of the library by name, whether torch may run what the table lacks, and whether
    parameters are constants of inference graphs."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    fallback: bool = True
    freeze: bool = False


@dataclass(frozen=True)
class State:
    """What :func:`init` was given."""

    cache: str | None = None
    log_level: int = logging.WARNING
    rank: int = 0
    world_size: int = 1
    options: Options = Options()


state: State | None = None


def current() -> State:
    """What holds now."""
    return state or State()


def to_options(given: Mapping[str, Any] | None) -> Options:
    """Options by name, checked."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentTypeError(f"options must be a mapping of names, got {type(given).__name__}  [torch_options]")
    settings = dict(given or {})
    flags = {name: settings.pop(name) for name in ("fallback", "freeze") if name in settings}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"the option '{name}' is True or False, got {value!r}  [torch_options]")
    with knobs(**settings):  # names and values are looked at here
        return Options(settings, **flags)


def merged(options: Mapping[str, Any] | None, mode: str | None) -> Options:
    """Options of one compilation over those of the process."""
    if mode is not None and mode not in MODES:
        raise ArgumentValueError(f"mode is one of {', '.join(MODES)}, got {mode!r}  [torch_mode]")
    shared = current().options
    return to_options({**shared.settings, "fallback": shared.fallback, "freeze": shared.freeze, **checked(options)})


def checked(options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    to_options(options)
    return options or {}


def to_level(level: Any) -> int:
    number = logging.getLevelName(level.upper()) if isinstance(level, str) else level
    if not isinstance(number, int) or isinstance(number, bool):
        raise ArgumentValueError(f"log_level is a level of logging or its name, got {level!r}  [torch_log_level]")
    return number


def init(
    *,
    cache: str | os.PathLike[str] | None = None,
    log_level: int | str = logging.WARNING,
    rank: int = 0,
    world_size: int = 1,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Settles what holds for all graphs that this process compiles from here on; none of it is needed.

    ``cache`` is the folder that compiled programs are kept in, "off" for none; the library's own where it is not given.
    ``log_level`` is that of the logger ``weftwork.torch``: "info" tells of each graph in a line, "debug" writes a folder for
    each, named in that line, with the graph as torch gave it, each program, its StableHLO, its kernels and what each stage took. ``rank`` of
    ``world_size`` processes names their folders apart. ``options`` are settings of :class:`weftwork.knobs` by name, and
    ``fallback=False``: an operation that the table lacks raises an UnsupportedError instead of running in torch; and
    ``freeze=True``: inference graphs have a module's parameters and buffers as constants, packed once, which makes products faster; a
    graph is compiled anew where one was written in place, but writes through ``.data`` are not seen.

    Raises an ArgumentValueError where a value is none of these.

    >>> import weftwork.torch
    >>> weftwork.torch.init(log_level="info", options={"threads": 2})
    >>> weftwork.torch.is_initialized()
    True
    >>> weftwork.torch.reset()
    """
    global state
    if not (isinstance(rank, int) and isinstance(world_size, int) and 0 <= rank < world_size):
        raise ArgumentValueError(f"rank is from 0 to world_size - 1, got {rank!r} of {world_size!r}  [torch_rank]")
    level, chosen = to_level(log_level), to_options(options)
    if chosen.settings.get("threads"):
        set_num_threads(chosen.settings["threads"])
    logger.setLevel(level)
    state = State(None if cache is None else os.fspath(cache), level, rank, world_size, chosen)


def is_initialized() -> bool:
    """Whether :func:`init` was called, and no :func:`reset` since."""
    return state is not None


def reset() -> None:
    """Forgets what :func:`init` was given, and all that was compiled: functions are compiled anew at their next call."""
    global state
    import torch

    state = None
    logger.setLevel(logging.NOTSET)
    torch._dynamo.reset()


@contextmanager
def settings(options: Options) -> Iterator[None]:
    """While it lasts, programs are compiled with the settings of a compilation."""
    chosen = dict(options.settings)
    if current().cache is not None:
        chosen.setdefault("cache", current().cache)
    with knobs(**chosen):
        yield
