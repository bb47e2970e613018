"""All-reduces of two ranks on this host, ours beside gloo's of torch and those of MPI: `python -m bench.collectives`.

All take turns in the same two processes, so that what else the machine does meets them alike; the least time of a call counts. Each
works in place, as gloo always does. Threads are two of the first process, while the second one waits. MPI is there where mpi4py is, and
mpiexec beside this Python.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SIZES = [16, 256, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
ROUNDS = 15
Reduce = Callable[[np.ndarray], object]


def seconds(call: Reduce, x: np.ndarray) -> float:
    """Of a call: the mean of a burst."""
    calls = max(2, min(200, (8 << 20) // x.nbytes))
    begin = time.perf_counter()
    for _ in range(calls):
        call(x)
    return (time.perf_counter() - begin) / calls


def pin(rank: int) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[rank % len(cpus)]})


def in_threads(cpus: set[int], x: np.ndarray) -> float:
    """The same burst, by two threads."""
    import weftwork as wf

    def burst() -> float:
        os.sched_setaffinity(0, {sorted(cpus)[wf.distributed.rank() % len(cpus)]})
        own = x.copy()
        wf.distributed.all_reduce(own, "sum", out=own)
        return seconds(lambda x: wf.distributed.all_reduce(x, "sum", out=x), own)

    return max(wf.distributed.spawn(burst, 2, method="thread"))


def ways(rank: int, folder: str) -> dict[str, Reduce]:
    import torch

    import weftwork as wf

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder}/gloo", rank=rank, world_size=2)
    wf.distributed.init(rank=rank, size=2, key=folder)
    total = torch.distributed.ReduceOp.SUM
    found: dict[str, Reduce] = {
        "shared memory": lambda x: wf.distributed.all_reduce(x, "sum", out=x),
        "gloo": lambda x: torch.distributed.all_reduce(torch.from_numpy(x), total),
    }
    if "mpi4py" in sys.modules:
        from mpi4py import MPI

        found["MPI"] = lambda x: MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, x, MPI.SUM)
    return found


def measure(rank: int, folder: str) -> None:
    cpus = os.sched_getaffinity(0)
    pin(rank)
    import weftwork as wf

    calls = ways(rank, folder)
    rows: list[tuple[int, dict[str, float]]] = []
    for size in SIZES:
        x = np.zeros(size // 4, np.float32)
        times: dict[str, float] = {}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                wf.distributed.barrier()
                times[name] = min(times.get(name, 1e9), seconds(call, x))
            wf.distributed.barrier()
            if rank == 0:
                times["threads"] = min(times.get("threads", 1e9), in_threads(cpus, x))
        rows.append((size, times))
    wf.distributed.barrier()
    if rank == 0:
        names = list(rows[0][1])
        print("| bytes | " + " us | ".join(names) + " us |\n" + "|---" * (1 + len(names)) + "|")
        for size, times in rows:
            print(f"| {size} | " + " | ".join(f"{times[name] * 1e6:.1f}" for name in names) + " |", flush=True)


def main() -> None:
    mpiexec = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    with tempfile.TemporaryDirectory() as folder:
        rank = [sys.executable, "-m", "bench.collectives"]
        if mpiexec and importlib.util.find_spec("mpi4py"):
            subprocess.run([mpiexec, "--bind-to", "none", "-n", "2", *rank, folder, "mpi"], check=True)
            return
        ranks = [subprocess.Popen([*rank, folder, str(each)]) for each in range(2)]
        if any([process.wait() for process in ranks]):
            sys.exit("a rank failed")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[2] == "mpi":
        from mpi4py import MPI

        measure(MPI.COMM_WORLD.Get_rank(), sys.argv[1])
    else:
        measure(int(sys.argv[2]), sys.argv[1])
