"""Rounds of calls with pauses, in one process after the other: does a thread that should be there stay away?

``python -m bench.bursts`` prints, for each process, the median time of a call in its quickest and in its slowest round.
A round whose median is more than 1.5 times that of the quickest is a slow burst; the exit status is 1 where one is seen.
Two threads that share one CPU take twice as long. Nothing else must run on the machine.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time

SLOW = 1.5


def rounds(seconds, seed):
    """Medians of the calls' times in rounds of 60 to 300 ms, with pauses of 200 ms, of a layer in bfloat16."""
    import ml_dtypes
    import numpy as np

    import weftwork as wf

    def layer(x, w, b):
        h = x @ w + b
        return h * (1 / (1 + np.exp(-1.702 * h)))

    draw, f = np.random.default_rng(seed), wf.jit(layer, strict=True)
    x, w, b = (draw.normal(size=size).astype(ml_dtypes.bfloat16) for size in [(256, 768), (768, 3072), (3072,)])
    for _ in range(20):
        f(x, w, b)
    lengths, end, medians = random.Random(seed), time.perf_counter() + seconds, []
    while time.perf_counter() < end:
        stop, times = time.perf_counter() + lengths.uniform(0.06, 0.3), []
        while (start := time.perf_counter()) < stop:
            f(x, w, b)
            times.append(time.perf_counter() - start)
        medians.append(statistics.median(times))
        time.sleep(0.2)
    return medians


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.bursts", description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=8, help="of each process")
    parser.add_argument("--seed", type=int, help="runs the rounds of one process here, and prints their medians")
    options = parser.parse_args()
    if options.seed is not None:
        print(*rounds(options.seconds, options.seed))
        return 0
    slow = 0
    for seed in range(options.processes):
        command = [sys.executable, "-m", "bench.bursts", "--seed", str(seed), "--seconds", str(options.seconds)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        medians = [float(word) for word in found.split()]
        bursts = sum(median > SLOW * min(medians) for median in medians)
        slow += bursts > 0
        least, most = min(medians) * 1e3, max(medians) * 1e3
        print(f"process {seed}: {len(medians)} rounds, {least:.3f} to {most:.3f} ms a call, {bursts} slow", flush=True)
    print(f"{slow} of {options.processes} processes had a slow burst")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
