"""Explanations: which operations became which kernels, and why fusion stopped where it did."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from .advice import advice_for
from .annotation import with_declared
from .bytecode.recorder import Refused
from .bytecode.words import Words
from .errors import Error
from .graph import Executable, Graph
from .jit import Jit, compile, plain_function, varying_of
from .trace import Traced, positional_names

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
        times = (
            "once, as the program is loaded"
            if self.setup
            else f"{self.launches} launch{'es' if self.launches > 1 else ''}"
        )
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
    """What a call runs as, and what its program became; ``str()`` of it is for reading.

    ``way``: "compiled", as one program; "pieces", as several programs between which Python decides, ``pieces`` says by what
    lines; or "plain", by NumPy. Where it is not one program ``reason`` and ``place`` ("file:line") say why, and ``advice`` what
    to write instead. ``kernels`` and ``cuts`` are those of one program. ``guards``: what has to be as it was for the program to be used again; ``reads``: what
    each call reads anew from the surroundings; ``stores``: what is stored there once the program has run.
    """

    name: str
    kernels: tuple[KernelReport, ...] = ()
    cuts: tuple[Cut, ...] = ()
    way: str = "compiled"
    reason: str = ""
    place: str = ""
    advice: str = ""
    guards: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()

    def __str__(self) -> str:
        forms = {"compiled": self._program, "pieces": self._pieces, "plain": self._plain}
        return "\n".join(forms[self.way]())

    def _pieces(self) -> list[str]:
        lines = [f"{self.name}: {len(self.pieces) + 1} programs; between them Python has values that it asks for"]
        for place, times in Counter(self.pieces).items():
            lines.append(f"  {place}   {source_of(place)}".rstrip() + (f"   ({times} times)" if times > 1 else ""))
        lines += self._told()
        return lines + [f"for one program: {self.advice}"] * bool(self.advice)

    def _program(self) -> list[str]:
        of_runs = [k for k in self.kernels if not k.setup]
        lines = [f"{self.name}: {len(of_runs)} kernels, {sum(k.launches for k in of_runs)} launches"]
        lines += [f"  {kernel}" for kernel in self.kernels]
        return lines + self._told()

    def _told(self) -> list[str]:
        lines: list[str] = []
        parts = {
            "cuts: values that are stored between kernels, and why": self.cuts,
            "reads from its surroundings at each call": self.reads,
            "is used as long as": self.guards,
            "stores once the program has run": self.stores,
        }
        for head, items in parts.items():
            lines += [head] * bool(items) + [f"  {item}" for item in items]
        return lines

    def _plain(self) -> list[str]:
        source = source_of(self.place)
        lines = [f"{self.name}: runs plainly with NumPy, not as one program", f"  {self.reason}"]
        lines += [f"  {self.place}   {source}".rstrip()] * bool(self.place)
        return lines + [f"instead: {self.advice}"] * bool(self.advice)


def source_of(place: str) -> str:
    """The line of a place such as "model.py:14"."""
    file, _, line = place.rpartition(":")
    return linecache.getline(file, int(line)).strip() if line.isdigit() else ""


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
            lines, ops = (
                ", ".join(k.lines[:3]) + " ..." * (len(k.lines) > 3),
                ", ".join(k.ops[:6]) + " ..." * (len(k.ops) > 6),
            )
            rows.append(
                (f"{k.launches:g}", f"{k.total * 1e6:.2f}", f"{k.min * 1e6:.2f}", f"{k.share:.1%}", k.name, lines, ops)
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        table = [
            "  ".join(
                cell.rjust(w) if i < 4 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        head = (
            f"{self.name}: {self.seconds * 1e6:.2f} us a run over {self.iters}, {inside * 1e6:.2f} us of it in kernels"
        )
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
        rows.append(
            KernelTime(
                report.name,
                count / iters,
                total / iters,
                least,
                total / every,
                report.lines,
                tuple(op for op, _ in report.ops),
            )
        )
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
        reports.append(
            KernelReport(
                name, tuple(zip(ops, lines, strict=True)), tuple(every), len(infos), read, written, flops, setup
            )
        )
    return reports


def explain(function: Any, *args: Any, target: str | None = None, device: Any = None, **kwargs: Any) -> Explanation:
    """Tells what calls of a function with such arguments run as: nothing outside is changed.

    Of a call that is one program: which of its operations became which kernels, where values are stored between them and
    why, what of the surroundings it reads, stores, and relies on. Of one that runs in pieces, or plainly with NumPy: why, at
    which line, and what to write instead. A Graph and an Executable can be explained too; ``target`` and ``device`` as for
    :func:`weftwork.compile`.

    >>> import numpy as np, weftwork as wf
    >>> why = wf.explain(lambda x: np.tanh(x) * 2 + 1, np.ones(100, np.float32))
    >>> why.way, len(why.kernels), [op for op, line in why.kernels[0].ops], why.kernels[0].written_bytes
    ('compiled', 1, ['tanh', 'multiply', 'add'], 400)
    >>> why = wf.explain(lambda x: x if x.sum() > 0 else -x, np.ones(3000, np.float32))
    >>> why.way, why.advice
    ('pieces', 'use np.where, np.minimum/np.maximum, a mask, wf.cond or wf.while_loop')
    """
    if isinstance(function, (Executable, Graph)):
        exe = (
            function
            if isinstance(function, Executable)
            else compile(function, *args, target=target, device=device, **kwargs)
        )
        return Explanation(exe._core.name, *program_of(exe))
    plain, options = plain_function(function)
    args, kwargs = with_declared(plain, options.declared, args, kwargs)
    name = getattr(plain, "__name__", "main").replace("<lambda>", "lambda")
    try:
        traced = recorded(function, args, kwargs)
    except Refused as refused:
        reason, advice = advice_for(refused.reason)
        return Explanation(name, way="plain", reason=reason, place=refused.place or place_of(plain), advice=advice)
    if traced.session is not None and traced.session.path:
        return in_pieces(function, args, kwargs, name, traced)
    exe = compile(Graph(traced.graph), target=target or options.target, device=device or options.device)
    words = Words(traced.steps, plain, positional_names(plain))
    told = {"guards": words.guards(), "reads": words.reads(), "stores": words.stores(traced)}
    return Explanation(exe._core.name, *program_of(exe), **told)


def in_pieces(function: Any, args: tuple, kwargs: dict[str, Any], name: str, traced: Traced) -> Explanation:
    plain, options = plain_function(function)
    words = Words(traced.steps, plain, positional_names(plain))
    told = {"guards": words.guards(), "reads": words.reads(), "stores": words.stores(traced)}
    pieces = tuple(place or place_of(plain) for place in traced.session.breaks)
    try:
        options.trace(plain, args, kwargs, strict=False)
        reason, advice, place = "", "", ""
    except Refused as refused:
        (reason, advice), place = advice_for(refused.reason), refused.place or place_of(plain)
    return Explanation(name, way="pieces", reason=reason, place=place, advice=advice, pieces=pieces, **told)


def recorded(function: Any, args: tuple, kwargs: dict[str, Any]) -> Traced:
    """The recording that a call would make now; Refused where it would run plainly."""
    plain, options = plain_function(function)
    plans = function.plans_for(*args, **kwargs) if isinstance(function, Jit) else []
    try:
        session = (function if isinstance(function, Jit) else Jit(plain, options, strict=False)).new_session
        traced = options.trace(
            plain, args, kwargs, strict=False, varying=varying_of(plans, args, kwargs), session=session()
        )
    except Error as error:
        if not FOREIGN.search(str(error)):
            raise
        raise Refused(str(error), place_of(plain)) from error
    if isinstance(function, Jit) and function.is_plain:
        # Such a function is not recorded any more.
        raise Refused(*next(iter(function.refusals), ("its calls ran plainly before", place_of(plain))))
    return traced


#: Errors of arguments that a call takes plainly.
FOREIGN = re.compile(r"\[(array_subclass|dtype)\]")


def program_of(executable: Executable) -> tuple[tuple[KernelReport, ...], tuple[Cut, ...]]:
    cuts = tuple(Cut(op, source, reason, tuple(readers)) for op, source, reason, readers in executable._core.cut_infos)
    return tuple(kernel_reports(executable)), cuts


def place_of(function: Any) -> str:
    """Where a function is defined."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""
