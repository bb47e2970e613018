"""What is written for people: tables, bold words, progress of long work."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO


class UsageError(Exception):
    """A command line that is wrong: exit status 2."""


def has_color(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants more than plain text (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def bold(text: str, stream: TextIO | None = None) -> str:
    return f"\033[1m{text}\033[0m" if has_color(stream or sys.stdout) else text


def say(kind: str, message: str) -> None:
    """A line on standard error: "weft: error: ..."."""
    print(f"weft: {bold(kind, sys.stderr)}: {message}".replace("\n", "\\n"), file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Shows on a terminal what takes long, with the seconds that it took so far; nothing where it is done at once."""
    if not sys.stderr.isatty():
        yield
        return
    done, start, shown = threading.Event(), time.monotonic(), ""

    def show() -> None:
        nonlocal shown
        while not done.wait(0.5):
            shown = f"{what} … {time.monotonic() - start:.0f} s"
            print(f"\r{shown}", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if shown:
            print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)


def columns(rows: Iterable[Sequence[Any]], indent: int = 2, head: Sequence[str] | None = None) -> list[str]:
    """Lines with the cells of each column below each other; the head is bold on a terminal."""
    cells = [[str(cell) for cell in row] for row in ([head] if head else []) + list(rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    lines = []
    for number, row in enumerate(cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        lines.append(" " * indent + (bold(line) if head and number == 0 else line))
    return lines


def shape_text(dtype: Any, shape: Sequence[Any]) -> str:
    """float32[2, n]"""
    return f"{dtype}[{', '.join(str(extent) for extent in shape)}]"


def count_of(number: int, noun: str) -> str:
    """A number of things: "1 kernel", "2,000 kernels"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"
