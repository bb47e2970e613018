"""A program on the command line: StableHLO text or a ``.weft`` file, and the extents that are given for it."""

from __future__ import annotations

import difflib
import os
import sys
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from .. import _core
from ..errors import FileError
from ..graph import Executable, Graph, Io, _ios, load
from ..jit import compile as compile_graph
from ..knobs import knobs
from ..stablehlo import parse
from .terminal import UsageError, progress

MAGIC = b"\x89WEFT"
#: Bytes of text that are looked at before the rest is read, and the most that are read.
FIRST_PART, LONGEST_TEXT = 1 << 16, 1 << 31


class Program:
    """What a path, or "-" for standard input, names; it is told by its first bytes what it is."""

    def __init__(self, path: str, function: str | None = None) -> None:
        self.path, self._function = path, function
        self.name = "standard input" if path == "-" else os.path.basename(path)
        with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
            content = file.read(len(MAGIC))
            self.is_package = content == MAGIC
            # A file with constants may be large, and is mapped later.
            content += b"" if self.is_package else self._rest(file)
        self.bytes = os.path.getsize(path) if self.is_package and path != "-" else len(content)
        if self.is_package and function is not None:
            raise UsageError(f"--function is for text, '{path}' is compiled already")
        if self.is_package and path == "-":
            raise UsageError("a .weft file is read by its name, not from standard input")
        if not self.is_package:
            try:
                self._text = content.decode("utf-8-sig")
                if "\0" in self._text:
                    raise ValueError
            except ValueError:
                raise FileError(f"'{path}' is neither StableHLO text nor a .weft file  [program_file]") from None

    def _rest(self, file: Any) -> bytes:
        """The text of a file that need not end; what no text has in its first part is not read on."""
        start = file.read(FIRST_PART)
        rest = file.read(LONGEST_TEXT) if b"\0" not in start else b""
        if len(rest) == LONGEST_TEXT:
            raise FileError(f"'{self.path}' is no program: it has more than {LONGEST_TEXT} bytes  [program_file]")
        return bytes(start + rest)

    @cached_property
    def graph(self) -> Graph:
        """The program; no machine code is made or loaded."""
        if self.is_package:
            return Graph(self.package.graph())
        return parse(self._text, as_text(self.name if self.path == "-" else self.path)).function(
            self._function or "main"
        )

    @cached_property
    def package(self) -> Any:
        """What its file holds, or would hold."""
        package = _core.read_package(self.path) if self.is_package else self.executable()._core.package()
        if not package.builds:
            raise FileError(f"'{self.path}' holds code for no kind of CPU  [program_file]")
        return package

    @cached_property
    def inputs(self) -> list[Io]:
        """Its inputs; the text in a .weft file need not be read for them."""
        return _ios(self.package.builds[0]["inputs"]) if self.is_package else self.graph.inputs

    @cached_property
    def outputs(self) -> list[Io]:
        """Its outputs."""
        return _ios(self.package.builds[0]["outputs"]) if self.is_package else self.graph.outputs

    def executable(self, target: str | None = None) -> Executable:
        """Loads or compiles it."""
        if self.is_package:
            with progress(f"loading {self.name}"), knobs(target=target) if target else nullcontext():
                return load(self.path)
        graph = self.graph
        with progress(f"compiling {self.name}"):
            return compile_graph(graph, target=target)

    def specialise(self, extents: dict[str, int]) -> None:
        """Makes symbolic extents constants."""
        if extents:
            check_extents(symbols_of(self.graph.inputs), extents)
            self.graph = Graph(self.graph.core.substitute(extents))


def as_text(word: str) -> str:
    """A word of the command line, which need not be UTF-8, with escapes for what is none."""
    return word.encode(errors="backslashreplace").decode()


def names_of(outputs: list[Io]) -> list[str]:
    """The names of outputs, "output0" and so on where they have none."""
    return [io.name or ("output" if len(outputs) == 1 else f"output{i}") for i, io in enumerate(outputs)]


def symbols_of(ios: list[Io]) -> dict[str, Any]:
    """Name → Dim of the symbolic extents of inputs."""
    return {str(s): s for io in ios for extent in io.shape if not isinstance(extent, int) for s in extent.symbols}


def check_extents(symbols: dict[str, Any], extents: dict[str, int]) -> None:
    """Usage errors for extents that the program does not have, or that are out of their range."""
    for name, value in extents.items():
        if name not in symbols:
            raise UsageError(f"the program has no symbolic extent '{name}'{nearest(name, list(symbols))}")
        if not symbols[name].min <= value <= symbols[name].max:
            raise UsageError(f"extent '{name}' must be from {symbols[name].min} to {symbols[name].max}, got {value}")


def nearest(name: str, known: list[str]) -> str:
    """The end of a message about an unknown name."""
    found = difflib.get_close_matches(name, known, 1)
    if found:
        return f", the nearest is '{found[0]}'"
    if len(known) > 12:
        return ""
    return f", there are {', '.join(known)}" if known else ", it has none"


def extent_pairs(given: list[str]) -> dict[str, int]:
    """["n=64"] → {"n": 64}."""
    extents = {}
    for pair in given:
        name, _, value = pair.partition("=")
        if name in extents:
            raise UsageError(f"extent '{name}' is given twice")
        try:
            extents[name] = int(value)
        except ValueError:
            name = ""
        if not name:
            raise UsageError(f"--extent takes NAME=INTEGER, got '{pair}'")
    return extents


def concrete(shape: tuple[Any, ...], extents: dict[str, int]) -> tuple[int, ...]:
    """A shape with its symbols replaced."""
    values = []
    for extent in shape:
        for symbol in [] if isinstance(extent, int) else extent.symbols:
            if not isinstance(extent, int):
                extent = extent.substitute(str(symbol), extents[str(symbol)])
        values.append(extent)
    return tuple(values)
