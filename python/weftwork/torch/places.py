"""The user's lines behind the nodes of torch's graphs."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import torch

__all__ = ["frames_of", "line_of"]

FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
TORCH = str(Path(torch.__file__).parent)


@functools.lru_cache(maxsize=4096)
def frames_in(trace: str) -> tuple[tuple[str, int, str], ...]:
    """File, line and function of each call of a stack trace's text, innermost first."""
    found = [(file, int(line), function) for file, line, function in FRAME.findall(trace)]
    return tuple(reversed([frame for frame in found if not frame[0].startswith(TORCH)] or found))


def frames_of(node: Any) -> tuple[tuple[str, int, str], ...]:
    """The calls that a node was made in, innermost first."""
    return frames_in(node.stack_trace or "") if node is not None else ()


def line_of(node: Any) -> str:
    """The user's innermost line: file:line in function."""
    frames = frames_of(node)
    return f"{frames[0][0]}:{frames[0][1]} in {frames[0][2]}" if frames else "-"
