"""What an error adds to its message: the user's expression with a mark under each operand, what it is, and where it was made."""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .tensor import Tensor

__all__ = ["explained"]

FOLDERS = tuple(f"{folder}{os.sep}" for folder in (Path(__file__).parents[1], Path(np.__file__).parent))


def explained(error: Exception, args: tuple, kwargs: dict[str, Any]) -> Exception:
    """The error, with a note of the expression that raised it. Where the source is not at hand it stays as it is."""
    if hasattr(error, "add_note") and not getattr(error, "__notes__", None):
        try:
            note = expression_note(operands_of([*args, *kwargs.values()]))
        except (SyntaxError, ValueError, IndexError, OSError, UnicodeError):
            note = ""
        if note:
            error.add_note(note)
    return error


def operands_of(values: Any) -> list[Any]:
    """The operands of a call in their order, those in lists one by one."""
    found = []
    for value in values:
        if isinstance(value, (tuple, list)):
            found += operands_of(value)
        else:
            found.append(value)
    return found


def expression_note(operands: list[Any]) -> str:
    frame = users_frame()
    if frame is None or not any(map(is_array, operands)):
        return ""
    first, last, begin, end = place_of(frame)
    lines = [
        linecache.getline(frame.f_code.co_filename, line, frame.f_globals).rstrip("\n")
        for line in range(first, last + 1)
    ]
    shown = [
        f"  {Path(frame.f_code.co_filename).name}:{first}",
        *(f"    {line}" for line in textwrap.dedent("\n".join(lines)).split("\n")),
    ]
    if first == last:
        # Columns are counted in bytes.
        text = lines[0].encode()[begin:end]
        marks = marks_of(frame, text, operands)
        if marks:
            before = lines[0].encode()[:begin].decode().lstrip() if begin else ""
            return "\n".join([*shown, *(" " * (4 + len(before)) + line for line in marked(text, marks))])
    return "\n".join([*shown, *(f"    {described(operand)}" for operand in operands if is_array(operand))])


def is_array(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray))


def marks_of(frame: FrameType, text: bytes, operands: list[Any]) -> list[tuple[ast.expr, Any]]:
    """The expressions of arrays and these; none where the call has them otherwise than the expression."""
    tree: Any = ast.parse(text).body[0]
    tree = tree.value if isinstance(tree, ast.Expr) else tree
    pairs = list(zip(parts_of(tree, frame), operands, strict=False))
    for part, value in pairs:
        if isinstance(part, ast.Name) and part.id in frame.f_locals and frame.f_locals[part.id] is not value:
            return []
    return [(part, value) for part, value in pairs if is_array(value)]


def users_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(FOLDERS):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType) -> tuple[int, int, int, int]:
    """Lines and columns of what the frame is doing."""
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if None in positions:
        raise ValueError("no columns are known")
    return positions  # type: ignore[return-value]


def parts_of(tree: ast.AST, frame: FrameType) -> Iterator[ast.expr]:
    """The expressions of the operands, in the order in which a call has them."""
    if isinstance(tree, ast.BinOp):
        yield from (tree.left, tree.right)
    elif isinstance(tree, ast.AugAssign):
        yield from (tree.target, tree.value)
    elif isinstance(tree, ast.Compare):
        yield from (tree.left, tree.comparators[0])
    elif isinstance(tree, ast.UnaryOp):
        yield tree.operand
    elif isinstance(tree, (ast.Subscript, ast.Attribute)):
        yield tree.value
    elif isinstance(tree, ast.Call):
        if isinstance(tree.func, ast.Attribute) and not is_module(tree.func.value, frame):
            yield tree.func.value
        for argument in (*tree.args, *(keyword.value for keyword in tree.keywords)):
            yield from argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else (argument,)


def is_module(tree: ast.expr, frame: FrameType) -> bool:
    """Whether a name is that of a module rather than of an array, as the user's frame has it."""
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    if not isinstance(tree, ast.Name):
        return False
    return isinstance(frame.f_locals.get(tree.id, frame.f_globals.get(tree.id)), ModuleType)


def marked(text: bytes, marks: list[tuple[ast.expr, Any]]) -> list[str]:
    """A line of carets under the operands, and for each, the last first, what it is."""
    column = lambda offset: len(text[:offset].decode())
    begins = [column(part.col_offset) for part, _ in marks]
    carets, lines = "", []
    for begin, (part, _) in zip(begins, marks, strict=True):
        carets = carets.ljust(begin) + "^" * (column(part.end_col_offset or 0) - begin)
    for i in reversed(range(len(marks))):
        bars = ""
        for begin in begins[:i]:
            bars = bars.ljust(begin) + "|"
        lines.append(bars.ljust(begins[i]) + described(marks[i][1]))
    return [carets, *lines]


def described(value: Any) -> str:
    """Type, device and origin of an operand."""
    kind = f"{value.dtype}{list(value.shape)}"
    if not isinstance(value, Tensor):
        return f"{kind}, an array of NumPy"
    kind = f"{kind} on {value.device.name}"
    place = value._recorded.loc
    return f"{kind}, made at {Path(place.file).name}:{place.line}" if place.line else kind
