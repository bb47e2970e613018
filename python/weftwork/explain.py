"""Explanations: which operations became which kernels, and why fusion stopped where it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .graph import Executable
from .jit import compile

__all__ = ["Cut", "Explanation", "KernelReport", "explain"]


@dataclass(frozen=True)
class KernelReport:
    """One kernel, or a routine of the library, of a program.

    ``ops``: each operation with the user's line, in order, of the first launch; ``lines``: the lines of all its launches;
    ``launches``: how many the program has of it, loops counted once. ``read_bytes`` and ``written_bytes`` are those of the
    buffers of one launch, ``flops`` what its matrix product takes: integers, extents over the program's symbols, or None
    where they differ from turn to turn of a loop. ``setup``: it runs once, as the program is loaded.
    """

    name: str
    ops: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    launches: int
    read_bytes: Any
    written_bytes: Any
    flops: Any
    setup: bool

    def __str__(self) -> str:
        sizes = f"reads {amount(self.read_bytes)}B, writes {amount(self.written_bytes)}B"
        work = "" if isinstance(self.flops, int) and self.flops == 0 else f", {amount(self.flops)}flop"
        times = "once, as the program is loaded" if self.setup else f"{self.launches} launch{'es' if self.launches > 1 else ''}"
        ops = ", ".join(f"{op} ({line})" for op, line in self.ops) or "a copy"
        return f"{self.name}\n    {ops}\n    {times}; {sizes}{work}"


@dataclass(frozen=True)
class Cut:
    """A value that is stored although it could have been computed where it is used: its operation, the user's line, the
    reason, and who reads it, such as "add (model.py:14)"."""

    op: str
    source: str
    reason: str
    readers: tuple[str, ...]

    def __str__(self) -> str:
        readers = list(dict.fromkeys(self.readers))
        shown = ", ".join(readers[:4]) + (f" and {len(readers) - 4} more" if len(readers) > 4 else "")
        return f"{self.op} ({self.source}) -> {shown or 'output'}: {self.reason}"


@dataclass(frozen=True)
class Explanation:
    """What a program became; ``str()`` of it is for reading."""

    name: str
    kernels: tuple[KernelReport, ...]
    cuts: tuple[Cut, ...]

    def __str__(self) -> str:
        of_runs = [k for k in self.kernels if not k.setup]
        lines = [f"{self.name}: {len(of_runs)} kernels, {sum(k.launches for k in of_runs)} launches"]
        lines += [f"  {kernel}" for kernel in self.kernels]
        lines += ["cuts: values that are stored between kernels, and why"] * bool(self.cuts)
        lines += [f"  {cut}" for cut in self.cuts]
        return "\n".join(lines)


def amount(value: Any) -> str:
    """12.5 M, and the like; extents as they are."""
    if value is None:
        return "? "
    if not isinstance(value, int):
        return f"{value} "
    size, unit = float(value), 0
    while size >= 1000 and unit < 4:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {['', 'k', 'M', 'G', 'T'][unit]}"


def kernel_reports(executable: Executable) -> list[KernelReport]:
    """One for each kernel, in the order of their first launches: those of a run, then those of loading."""
    launches: dict[tuple[str, bool], list[Any]] = {}
    for info in executable._core.launch_infos:
        launches.setdefault((info[0], info[-1]), []).append(info)
    reports = []
    for (name, setup), infos in launches.items():
        _, _, ops, lines, read, written, flops, _ = infos[0]
        every = dict.fromkeys(line for _, source, _, lines, *_ in infos for line in (*lines, source))
        reports.append(KernelReport(name, tuple(zip(ops, lines, strict=True)), tuple(every), len(infos), read, written, flops, setup))
    return reports


def explain(function: Any, *args: Any, **kwargs: Any) -> Explanation:
    """Compiles a function for such arguments (see :func:`weftwork.trace`), or takes a Graph or an Executable, and tells which
    of its operations became which kernels, where values are stored between them, and why.

    >>> import numpy as np, weftwork as wf
    >>> why = wf.explain(lambda x: np.tanh(x) * 2 + 1, np.ones(100, np.float32))
    >>> len(why.kernels), [op for op, line in why.kernels[0].ops], why.kernels[0].written_bytes
    (1, ['tanh', 'multiply', 'add'], 400)
    """
    executable = function if isinstance(function, Executable) else compile(function, *args, **kwargs)
    cuts = tuple(Cut(op, source, reason, tuple(readers)) for op, source, reason, readers in executable._core.cut_infos)
    return Explanation(executable._core.name, tuple(kernel_reports(executable)), cuts)
