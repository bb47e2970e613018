"""Explanations: which operations became which kernels, and why fusion stopped where it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .graph import Executable
from .jit import compile

__all__ = ["Cut", "Explanation", "KernelReport", "KernelTime", "RunProfile", "explain"]


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


@dataclass(frozen=True)
class KernelTime:
    """What a run spent on one kernel: ``launches``, their ``total`` seconds in a run on average, the ``min`` of a single one,
    its ``share`` of the time in all kernels, the user's ``lines`` and the ``ops``."""

    name: str
    launches: float
    total: float
    min: float
    share: float
    lines: tuple[str, ...]
    ops: tuple[str, ...]


@dataclass(frozen=True)
class RunProfile:
    """What runs of a program took: ``seconds`` for one on average, ``iters`` of them, and the ``kernels``, slowest first.
    ``str()`` of it is a table."""

    name: str
    seconds: float
    iters: int
    kernels: tuple[KernelTime, ...]

    def __str__(self) -> str:
        inside = sum(kernel.total for kernel in self.kernels)
        rows = [("launches", "total us", "min us", "share", "kernel", "lines", "operations")]
        for k in self.kernels:
            lines, ops = ", ".join(k.lines[:3]) + " ..." * (len(k.lines) > 3), ", ".join(k.ops[:6]) + " ..." * (len(k.ops) > 6)
            rows.append((f"{k.launches:g}", f"{k.total * 1e6:.2f}", f"{k.min * 1e6:.2f}", f"{k.share:.1%}", k.name, lines, ops))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        table = ["  ".join(cell.rjust(w) if i < 4 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))) for row in rows]
        head = f"{self.name}: {self.seconds * 1e6:.2f} us a run over {self.iters}, {inside * 1e6:.2f} us of it in kernels"
        return "\n".join(line.rstrip() for line in (head, *table))


def run_profile(executable: Executable, arrays: tuple[Any, ...], warmup: int, iters: int) -> RunProfile:
    """What ``iters`` runs with these arrays took, kernel by kernel."""

    def run(times: int) -> None:
        for _ in range(times):
            executable(*arrays)

    run(warmup)
    seconds, times = executable._core.profile(lambda: run(iters))
    every = sum(total for _, total, _ in times) or 1.0
    sums: dict[str, list[Any]] = {}
    for info, time in zip(executable._core.launch_infos, times, strict=True):
        if time[0]:
            sums.setdefault(info[0], []).append(time)
    rows = []
    for report in kernel_reports(executable):
        if report.setup or report.name not in sums:
            continue
        total = sum(time[1] for time in sums[report.name])
        count, least = sum(time[0] for time in sums[report.name]), min(time[2] for time in sums[report.name])
        rows.append(KernelTime(report.name, count / iters, total / iters, least, total / every, report.lines, tuple(op for op, _ in report.ops)))
    rows.sort(key=lambda row: -row.total)
    return RunProfile(executable._core.name, seconds / iters, iters, tuple(rows))


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
