"""One peer's process: reads requests as lines of JSON, answers each with one line."""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from bench import limits, workload
from bench.peers import OURS, PEERS, Prepared
from bench.workload import Workload


def resident(what: str) -> int:
    """Bytes of memory of this process: VmRSS is held, VmHWM the most since the mark was set."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))
    except (OSError, StopIteration):
        return 0


def mark_memory() -> int:
    """Starts counting the most memory held anew, from what is held."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return resident("VmRSS")


def save(path: str, arrays: list[np.ndarray]) -> None:
    """Writes arrays to a file; bfloat16 as such."""
    with open(path, "wb") as file:
        pickle.dump(arrays, file, protocol=5)


def load(path: str) -> list[np.ndarray]:
    with open(path, "rb") as file:
        return pickle.load(file)


def moved(arrays: list[Any], found: list[np.ndarray]) -> tuple[int, int]:
    """Bytes that a call has to read and to write: its arguments, its results."""
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray)), sum(a.nbytes for a in found)


class Worker:
    def __init__(self, peer: str, threads: int, extra: list[str]) -> None:
        self.works = workload.load(extra)
        self.threads = threads
        self.peer = PEERS[peer][0](threads)
        self.name = peer
        self.prepared: Prepared | None = None
        self.alive: Any = None

    def reference(self, name: str, path: str) -> dict[str, Any]:
        """Writes what the workload gives in float64."""
        save(path, workload.reference(self.works[name]))
        return {}

    def limit(self, flops: float, peak: str, read: int, write: int) -> dict[str, Any]:
        return limits.measure(flops, peak, read, write, self.threads)

    def prepare(self, name: str, path: str, numpy_path: str) -> dict[str, Any]:
        """Runs the workload once and compares its results with the reference, and with NumPy's where those are known."""
        work = self.works[name]
        self.prepared = self.alive = None
        gc.collect()
        weights, args = workload.make(work)
        before = mark_memory()
        start = time.perf_counter()
        self.prepared = self.peer.prepare(work, weights, args)
        result = self.prepared.run()
        first = time.perf_counter() - start
        memory = resident("VmHWM") - before if before else 0
        self.alive = weights, args  # tensors may be over their memory
        found = self.prepared.arrays(result)
        arrays = [*args, *(weights or {}).values()]
        answer = {"first": first, "memory": memory, "moved": work.moved or moved(arrays, found)}
        answer["tolerance"] = workload.tolerance(work, [*arrays, *found])
        answer["difference"] = workload.difference(found, load(path))
        if self.name == "numpy":
            # In narrow dtypes NumPy may be far from the reference; it is right all the same.
            save(numpy_path, found)
            return {**answer, "wrong": None}
        if Path(numpy_path).exists() and answer["difference"] > answer["tolerance"]:
            answer["difference"] = min(answer["difference"], workload.difference(found, load(numpy_path)))
        wrong = self.wrong(work, found, answer, numpy_path)
        if self.name == OURS and not wrong:
            answer["cached"] = self.again(work, weights, args)
        return {**answer, "wrong": wrong}

    def again(self, work: Workload, weights: Any, args: list[Any]) -> float:
        """Seconds to the first result of a function that knows of no earlier call but by what is on disk."""
        start = time.perf_counter()
        self.peer.prepare(work, weights, args).run()
        return time.perf_counter() - start

    def wrong(self, work: Workload, found: list[np.ndarray], answer: dict[str, Any], numpy_path: str) -> str | None:
        if not answer["difference"] <= answer["tolerance"]:
            return f"differs from NumPy by {answer['difference']:.1e} (allowed {answer['tolerance']:.0e})"
        if self.name != OURS:
            return None
        if Path(numpy_path).exists():
            dtypes = [[a.dtype.name for a in arrays] for arrays in (found, load(numpy_path))]
            if dtypes[0] != dtypes[1]:
                return f"gives {', '.join(dtypes[0])}, NumPy {', '.join(dtypes[1])}"
        again = self.peer.on_one_thread(work, workload.make(work)[1])
        if self.threads > 1 and any(a.tobytes() != b.tobytes() for a, b in zip(found, again)):
            return "differs between one thread and several"
        return None

    def time(self, seconds: float, cpu: bool) -> dict[str, Any]:
        """The least time of a call: of single calls, or of runs of calls where a call takes less than 20 us."""
        run, clock = self.prepared.run, time.process_time if cpu else time.perf_counter  # type: ignore[union-attr]
        start = clock()
        run()
        once = max(clock() - start, 1e-9)
        count = max(1, min(1000, int(2e-5 / once)))
        best, end = once, time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = clock()
            for _ in range(count):
                run()
            best = min(best, (clock() - start) / count)
        return {"seconds": best}

    def release(self) -> dict[str, Any]:
        self.prepared = self.alive = None
        gc.collect()
        return {}


def main() -> None:
    # The answers go where stdout went; what libraries print goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer, threads, *extra = sys.argv[1:]
    worker = Worker(peer, int(threads), extra)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
