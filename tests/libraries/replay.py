"""Replays the cases of a library in worker processes, which may crash or hang, and writes what was found."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

START_SECONDS = 120  # importing a library
ALONE = ("crash", "wrong")  # outcomes that are tried again in a process without a past
AGAIN = 20  # such trials of a library: each imports it anew


class Worker:
    """A worker process and the pipe that it answers through."""

    def __init__(self, file: Path, timed: bool, jit: str, elements: int = 0) -> None:
        self.end, out = os.pipe()
        command = [
            sys.executable,
            "-m",
            "tests.libraries.worker",
            str(file),
            str(out),
            "time" if timed else "-",
            jit,
            str(elements),
        ]
        defaults = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "WEFT_CACHE": "off"}
        defaults["WEFT_THREADS"] = str(
            len(os.sched_getaffinity(0))
        )  # which OMP_NUM_THREADS says where nothing else does
        self.log = file.with_suffix(".worker.log")
        with self.log.open("w") as log:
            pipes = {"stdin": subprocess.PIPE, "stdout": log, "stderr": log}
            self.process = subprocess.Popen(command, pass_fds=[out], env={**defaults, **os.environ}, **pipes)
        os.close(out)
        self.buffer = b""

    def starts(self) -> bool:
        """Whether it could import what it needs."""
        with contextlib.suppress(TimeoutError):
            return self.line(START_SECONDS) == {"ready": True}
        return False

    def line(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None when the process is gone, a timeout where none came."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            if not select.select([self.end], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError
            got = os.read(self.end, 1 << 16)
            if not got:
                return None
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(text)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.end)

    def ask(self, what: str, number: int, seconds: float) -> dict[str, Any]:
        """What was found of a case; the worker is gone after a crash or a timeout."""
        stage, end = "plain", time.monotonic() + seconds
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{what} {number}\n".encode())
            self.process.stdin.flush()
        while True:
            try:
                message = self.line(end - time.monotonic())
            except TimeoutError:
                return died("timeout", stage, f"more than {seconds:.0f} s")
            if message is None:
                return died("crash", stage, f"ended with {self.process.wait()}")
            if "stage" not in message:
                return message
            stage, end = message["stage"], (end if stage != "plain" else time.monotonic() + seconds)


def died(outcome: str, stage: str, text: str) -> dict[str, Any]:
    """A worker that is gone while plain Python ran says nothing about jit."""
    if stage == "plain":
        return {"outcome": "left out", "text": f"{outcome} in plain Python"}
    return {"outcome": outcome, "text": f"{text} in {stage}", "in": stage}


def spread(numbers: list[int], limit: int | None) -> list[int]:
    """So many of the numbers, evenly."""
    if limit is None or limit >= len(numbers):
        return numbers
    return [numbers[i * len(numbers) // limit] for i in range(limit)]


class Workers:
    """One worker after the other."""

    def __init__(self, file: Path, given: Namespace) -> None:
        self.file, self.given = file, given
        self.worker: Worker | None = None
        self.trials = 0

    def check(self, number: int) -> dict[str, Any]:
        """What was found of a case; what goes wrong is tried again in a process without a past."""
        found = self.once("check", number)
        if found["outcome"] in ALONE and self.trials < AGAIN:
            self.trials += 1
            self.close()
            steady = self.once("steady", number)
            if steady["outcome"] == "left out":
                return steady
            self.close()
            found["alone"] = self.once("check", number)["outcome"]
        return found

    def once(self, what: str, number: int) -> dict[str, Any]:
        worker = self.worker = self.worker or self.started()
        found = worker.ask(what, number, self.given.timeout)
        if found["outcome"] in ("crash", "timeout") or found.get("text", "").endswith("in plain Python"):
            self.close()
        return found

    def started(self) -> Worker:
        """A worker that is ready; a tree that is being built may be whole a little later."""
        for wait in (0, 10, 60):
            time.sleep(wait)
            worker = Worker(self.file, self.given.time, self.given.jit, self.given.elements)
            if worker.starts():
                return worker
            worker.close()
        raise SystemExit(f"no worker starts: {worker.log.read_text()[-2000:]}")

    def close(self) -> None:
        if self.worker:
            self.worker.close()
        self.worker = None


def replay(name: str, given: Namespace) -> None:
    """Replays a library's cases into FOLDER/NAME.results.json."""
    file = given.cases / f"{name}.cases"
    if not file.exists():
        print(f"{name}: no cases, record them first")
        return
    cases = pickle.loads(file.read_bytes())
    numbers = [i for i, case in enumerate(cases) if given.only in f"{case['module']}.{case['qualname']}"]
    begun, workers, results = time.monotonic(), Workers(file, given), []
    for number in spread(numbers, given.limit):
        found, case = workers.check(number), cases[number]
        results.append(
            {"function": f"{case['module']}.{case['qualname']}", "number": number, "key": case["key"], **found}
        )
        if found["outcome"] in ("wrong", "crash", "timeout"):
            print(f"  {results[-1]['function']} #{number}: {found['outcome']}: {found['text']}", flush=True)
    workers.close()
    (given.cases / f"{name}.results.json").write_text(json.dumps(results, indent=0))
    counts = ", ".join(f"{count} {outcome}" for outcome, count in Counter(r["outcome"] for r in results).most_common())
    print(f"{name}: {counts} in {time.monotonic() - begun:.0f} s", flush=True)
