"""Numba: the workload as loops, compiled for as many threads."""

from __future__ import annotations

from typing import Any

from bench import loops
from bench.prepared import Prepared, Weights, with_written
from bench.workload import Workload

# What compilers of C call fast, less that values are finite: NumPy's NaN and infinities stay.
FAST = {"nsz", "arcp", "contract", "reassoc", "afn"}


class Numba:
    def __init__(self, threads: int) -> None:
        import numba

        numba.set_num_threads(threads)
        self.numba = numba
        loops.prange = numba.prange

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        compiled: Any = self.numba.njit(parallel=True, fastmath=FAST, error_model="numpy")(loops.LOOPS[work.name])
        return Prepared(lambda: compiled(*args), with_written(work, args))
