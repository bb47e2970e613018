"""Collectives of programs that go on while kernels compute."""

import queue
import threading

import numpy as np
import pytest

import weftwork as wf
from weftwork import _core
from weftwork.distributed import ranks

D = wf.distributed


class Threads:
    """Moves bytes between ranks that are threads; notes which threads did it."""

    runs_beside = True

    def __init__(self, rank, mail, last=None):
        self.rank, self.mail, self.last, self.movers = rank, mail, last, []

    def exchange(self, is_message, sent, received):
        self.movers.append(threading.get_ident())
        if self.last is not None and len(self.movers) > self.last:
            return received[0][0] if received else 1 - self.rank, True
        for rank, memory in sent:
            self.mail[self.rank, rank].put(bytes(memory))
        for rank, memory in received:
            memory[:] = self.mail[rank, self.rank].get(timeout=20)
        return None

    def close(self):
        pass


def run(program, size=2, last=None):
    """What the program gives on each rank, or raises, and the carriers."""
    mail = {(a, b): queue.Queue() for a in range(size) for b in range(size)}
    carriers = [Threads(rank, mail, last) for rank in range(size)]
    results = [None] * size

    def main(rank):
        ranks.set_for_thread(_core.carried_communicator(carriers[rank], rank, size, 20.0))
        try:
            results[rank] = program(rank), threading.get_ident()
        except wf.errors.ExecutionError as error:
            results[rank] = error, threading.get_ident()
        finally:
            ranks.set_for_thread(None)

    threads = [threading.Thread(target=main, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, carriers


def steps(x, w):
    total = D.all_reduce(x @ w)
    other = np.tanh(w @ w.T) @ w.T  # needs nothing of the ranks
    gathered = D.all_gather(other.sum(0))
    return total * 2 + other.sum(), gathered, D.all_reduce(total[0], "max")


def arrays(rank):
    return np.random.default_rng(rank).normal(size=(8, 8)), np.random.default_rng(9 + rank).normal(size=(8, 8))


@pytest.mark.parametrize("size", [2, 3])
def test_kernels_run_while_ranks_exchange_and_give_what_plain_calls_give(size):
    fast = wf.jit(steps, strict=True)

    def program(rank):
        plain = steps(*arrays(rank))
        return [(plain, fast(*arrays(rank))) for _ in range(5)]

    results, carriers = run(program, size)
    for (pairs, own), carrier in zip(results, carriers, strict=True):
        assert set(carrier.movers) - {own}  # another thread than the caller's
        for plain, got in pairs:
            for a, b in zip(plain, got, strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-12)


def test_the_memory_of_an_exchange_is_no_other_values_before_its_end():
    def layers(x):
        sums = []
        for i in range(6):
            sums.append(D.all_reduce(np.sin(x + i)[:, ::-1]))
            x = np.cos(x @ x.T / 8) + i
        return sum(sums), x

    fast = wf.jit(layers, strict=True)

    def program(rank):
        return layers(arrays(rank)[0]), fast(arrays(rank)[0])

    for (plain, got), _ in run(program)[0]:
        for a, b in zip(plain, got, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9)


def test_an_error_of_the_other_thread_names_the_line_of_the_collective():
    line = steps.__code__.co_firstlineno + 1
    for error, _ in run(lambda rank: wf.jit(steps, strict=True)(*arrays(rank)), last=0)[0]:
        assert error.label == "rank_ended"
        assert f"test_distributed_overlap.py:{line}" in str(error)


def test_calls_that_do_not_agree_are_named_with_both_lines():
    def program(rank):
        def other(x, w):
            total = D.all_reduce(x @ w, "sum" if rank else "max")
            return total, np.tanh(w @ w.T) @ w.T

        return wf.jit(other, strict=True)(*arrays(rank))

    for error, _ in run(program)[0]:
        assert error.label == "collective_mismatch"
        assert str(error).count("test_distributed_overlap.py") >= 2
