"""Runs workloads: one process for each peer, taking turns."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from bench.peers import OURS, why_not
from bench.workload import Workload

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Settings:
    peers: list[str]  # ours is always there
    threads: int = 2
    rounds: int = 3
    seconds: float = 0.3  # each peer's in each round
    cpu: bool = False  # time of the process on the CPU, which others on the machine do not lengthen
    patience: float = 180  # seconds until the first result
    extra: list[str] = field(default_factory=list)
    runs: int = 1  # of which these are the medians


@dataclass
class Cell:
    """What one peer did with one workload."""

    seconds: float | None = None  # least time of a call
    first: float | None = None  # until the first result: tracing, compiling, running
    cached: float | None = None  # the same where it had been compiled before, and is in the cache on disk
    memory: int | None = None  # the most held until then, over what was held before
    difference: float | None = None  # from the reference
    problem: str | None = None  # why there is no time


@dataclass
class Row:
    name: str
    family: str
    cells: dict[str, Cell]
    limit: float | None = None
    by: str = ""  # what sets the limit
    tolerance: float | None = None

    def seconds(self, peer: str) -> float | None:
        return self.cells[peer].seconds if peer in self.cells else None

    def best_peer(self) -> str | None:
        """The fastest of the peers that have a time."""
        return min((p for p in self.cells if p != OURS and self.seconds(p)), key=self.seconds, default=None)  # type: ignore[arg-type,type-var]

    def ratio(self, peer: str | None = None) -> float | None:
        """How many times as fast as the peer, or as the best one; None where either has no time."""
        peer = peer or self.best_peer()
        ours, theirs = self.seconds(OURS), self.seconds(peer) if peer else None
        return theirs / ours if ours and theirs else None


class Gone(Exception):
    """The process ended, or gave no answer in time."""


class Process:
    """A worker that is started when it is asked, and anew after it ended."""

    def __init__(self, peer: str, settings: Settings, folder: Path) -> None:
        self.peer, self.settings, self.log = peer, settings, folder / f"{peer}.log"
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        threads = str(self.settings.threads)
        names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
        environment = {**os.environ, **dict.fromkeys(names, threads), "JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1"}
        # First results are without what earlier runs left on disk.
        environment["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(dir=self.folder)
        environment["WEFT_CACHE"] = tempfile.mkdtemp(dir=self.folder)
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        command = [sys.executable, "-m", "bench.worker", self.peer, threads, *self.settings.extra]
        with self.log.open("a") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, sorted(os.sched_getaffinity(0))[: self.settings.threads])
        return process

    def ask(self, do: str, patience: float = 600, **request: Any) -> dict[str, Any]:
        """The worker's answer; a Gone where there is none, after which the next call starts another process."""
        self.process = self.process or self.start()
        stdin: TextIO = self.process.stdin  # type: ignore[assignment]
        stdout: TextIO = self.process.stdout  # type: ignore[assignment]
        try:
            stdin.write(json.dumps({"do": do, **request}) + "\n")
            stdin.flush()
            ready = select.select([stdout], [], [], patience)[0]
            line = stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = [stdout], ""
        if line:
            return json.loads(line)
        self.stop()
        code = "" if not self.process else f", exit code {self.process.returncode}"
        self.process = None
        raise Gone(f"process ended{code}" if ready else f"no result after {patience:.0f} s")

    def rest(self) -> None:
        """Waits until its threads sleep, for a quarter of a second at most: those of OpenBLAS spin for a tenth after a call."""
        spent = [self.cpu_time()]
        while len(spent) < 25 and (len(spent) < 2 or spent[-1] - spent[-2] > 1e6):
            time.sleep(0.01)
            spent.append(self.cpu_time())

    def cpu_time(self) -> int:
        """What its threads have spent, in nanoseconds; 0 where the system does not say."""
        folder = Path(f"/proc/{self.process.pid}/task") if self.process else None
        with contextlib.suppress(OSError):
            return sum(int((task / "schedstat").read_text().split()[0]) for task in folder.iterdir()) if folder else 0
        return 0

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


def measure(works: Sequence[Workload], settings: Settings) -> Iterator[Row]:
    """A row for each workload, as soon as it is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        oracle = Process("numpy", settings, folder)
        # NumPy first: the others are compared with it.
        names = sorted([*settings.peers, OURS], key=lambda peer: peer != "numpy")
        processes = {peer: oracle if peer == "numpy" else Process(peer, settings, folder) for peer in names}
        try:
            for work in works:
                yield measure_one(work, settings, processes, oracle, folder / "reference")
        finally:
            for process in [oracle, *processes.values()]:
                process.stop()


def measure_one(work: Workload, settings: Settings, processes: dict[str, Process], oracle: Process, path: Path) -> Row:
    row = Row(work.name, work.family, {})
    try:
        problem = oracle.ask("reference", name=work.name, path=str(path)).get("error")
    except Gone as gone:
        problem = str(gone)
    if problem:
        row.cells = {peer: Cell(problem=f"reference: {problem}") for peer in processes}
        return row
    moved = None
    path.with_suffix(".numpy").unlink(missing_ok=True)
    for peer, process in processes.items():
        row.cells[peer], answer = prepare(work, peer, process, settings, path)
        moved, row.tolerance = moved or answer.get("moved"), row.tolerance or answer.get("tolerance")
    for _ in range(settings.rounds):
        for peer, process in processes.items():
            take_turn(row.cells[peer], process, settings)
            process.rest()
    for process in processes.values():
        with contextlib.suppress(Gone):
            if process.process:
                process.ask("release")
    if moved and not work.numpy_in_and_out:
        read, write = moved
        answer = oracle.ask("limit", flops=work.flops, peak=work.peak, read=read, write=write)
        row.limit, row.by = answer.get("limit"), answer.get("by", "")
    return row


def prepare(work: Workload, peer: str, process: Process, settings: Settings, path: Path) -> tuple[Cell, dict[str, Any]]:
    """Runs the workload once and checks the result."""
    skipped = why_not(work, peer)
    if skipped:
        return Cell(problem=f"skipped: {skipped}"), {}
    names = {"name": work.name, "path": str(path), "numpy_path": str(path.with_suffix(".numpy"))}
    try:
        answer = process.ask("prepare", settings.patience, **names)
    except Gone as gone:
        return Cell(problem=f"error: {gone}"), {}
    if "error" in answer:
        return Cell(problem=f"error: {answer['error']}"), {}
    cell = Cell(
        first=answer["first"], cached=answer.get("cached"), memory=answer["memory"], difference=answer["difference"]
    )
    cell.problem = answer["wrong"] and f"wrong: {answer['wrong']}"
    return cell, answer


def take_turn(cell: Cell, process: Process, settings: Settings) -> None:
    # One turn is enough to know a time in seconds.
    if cell.problem or (cell.seconds or 0) > 1:
        return
    try:
        answer = process.ask("time", seconds=settings.seconds, cpu=settings.cpu)
    except Gone as gone:
        answer = {"error": str(gone)}
    if "error" in answer:
        cell.problem, cell.seconds = f"error: {answer['error']}", None
    else:
        cell.seconds = min(cell.seconds or float("inf"), answer["seconds"])
