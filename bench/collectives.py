"""All-reduces between two processes of this host, ours beside gloo's of torch: `python -m bench.collectives`.

Both run in the same two processes, turn by turn, so that what else the machine does meets both; the least time of a call counts.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable

import numpy as np

SIZES = [16, 256, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
ROUNDS = 15


def least(call: Callable[[], object], calls: int) -> float:
    """Seconds of a call: the mean of a burst."""
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def measure(rank: int, folder: str, results: "multiprocessing.Queue[list[tuple[int, float, float]]]") -> None:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank % os.cpu_count()]})
    import torch

    import weftwork as wf

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder}/gloo", rank=rank, world_size=2)
    wf.distributed.init(rank=rank, size=2, key=folder)
    rows = []
    for size in SIZES:
        ours, theirs = np.ones(size // 4, np.float32), torch.ones(size // 4)
        calls = max(2, min(200, (8 << 20) // size))
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            wf.distributed.barrier()
            times[0].append(least(lambda x=ours: wf.distributed.all_reduce(x), calls))
            wf.distributed.barrier()
            times[1].append(
                least(lambda x=theirs: torch.distributed.all_reduce(x, torch.distributed.ReduceOp.MAX), calls)
            )
        rows.append((size, min(times[0]), min(times[1])))
    if rank == 0:
        results.put(rows)
    wf.distributed.barrier()
    torch.distributed.destroy_process_group()


def main() -> None:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        results = context.Queue()
        processes = [context.Process(target=measure, args=(rank, folder, results)) for rank in range(2)]
        for process in processes:
            process.start()
        rows = results.get()
        for process in processes:
            process.join()
    print("| bytes | weftwork us | gloo us | ratio |\n|---|---|---|---|")
    for size, ours, theirs in rows:
        print(f"| {size} | {ours * 1e6:.1f} | {theirs * 1e6:.1f} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
