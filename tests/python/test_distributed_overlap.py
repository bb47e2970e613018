"""Collectives of a program go on beside its computations where they mostly wait: the same values, order and errors."""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf
import weftwork.distributed as D
from weftwork import _core
from weftwork.distributed import ranks
from weftwork.errors import ExecutionError

SIZE = 2


class Mail:
    """A carrier of ranks that are threads. A letter may take its time, and the ``fails``-th is never read."""

    runs_beside = True

    def __init__(self, boxes: Any, rank: int, delay: float, fails: int) -> None:
        self.boxes, self.rank, self.delay, self.fails = boxes, rank, delay, fails
        self.threads: set[int] = set()
        self.calls = 0

    def exchange(self, is_message: bool, sent: Any, received: Any) -> tuple[int, bool] | None:
        self.threads.add(threading.get_ident())
        self.calls += 1
        if self.calls == self.fails:
            return received[0][0], False
        time.sleep(self.delay)
        for rank, memory in sent:
            self.boxes[self.rank, rank, is_message].put(bytes(memory))
        for rank, memory in received:
            try:
                memory[:] = self.boxes[rank, self.rank, is_message].get(timeout=10)
            except queue.Empty:
                return rank, False
        return None

    def close(self) -> None:
        pass


def by_mail(function: Callable[[int], Any], delay: float = 0.0, fails: int = 0) -> tuple[list[Any], list[Mail]]:
    """What the function gives on each rank, or raises."""
    boxes: Any = defaultdict(queue.Queue)
    mails = [Mail(boxes, rank, delay, fails) for rank in range(SIZE)]
    found: list[Any] = [None] * SIZE

    def run(rank: int) -> None:
        ranks.set_for_thread(_core.carried_communicator(mails[rank], rank, SIZE, 10.0))
        try:
            found[rank] = function(rank)
        except Exception as error:
            found[rank] = error
        finally:
            ranks.set_for_thread(None)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(SIZE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found, mails


def beside(a: Any, b: Any) -> Any:
    """A sum of ranks that what follows does not need, but for the last line."""
    total = D.all_reduce(a @ b)
    other = np.tanh(b @ a)
    return np.sum(other @ b) + total


def updates(x: Any, weights: Any) -> Any:
    """Each weight changes by a sum of ranks, beside the sums of the next ones."""
    return [w - 0.1 * D.all_reduce(x.T @ (x @ w), op="mean") for w in weights]


def in_place(x: Any) -> Any:
    """What was sent is written afterwards, and what was received is, too."""
    y = x * 2
    first = D.all_reduce(y)
    y[1:] = y[:-1] + 1
    second = D.all_reduce(y)
    first[0] += y[-1]
    return first, second, D.all_gather(first[:2])


def in_loop(x: Any, m: Any) -> Any:
    for _ in range(12):
        total = D.all_reduce(x, op="max")
        x = np.tanh(x @ m) @ m + total * 0.1
    return x


def mixed(x: Any, w: Any) -> Any:
    total = D.all_reduce(x @ w)
    other = np.tanh(w @ w.T) @ w.T
    gathered = D.all_gather(other.sum(0))
    return total * 2 + other.sum(), gathered, D.all_reduce(total[0], "max")


def layers(x: Any) -> Any:
    """The memory of what goes on is that of no other value."""
    sums = []
    for i in range(6):
        sums.append(D.all_reduce(np.sin(x + i)[:, ::-1]))
        x = np.cos(x @ x.T / 8) + i
    return sum(sums), x


RNG = np.random.default_rng(3)
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], bool]] = [
    (beside, (RNG.standard_normal((40, 40)), RNG.standard_normal((40, 40))), True),
    (updates, (RNG.standard_normal((30, 20)), [RNG.standard_normal((20, 5)) for _ in range(4)]), True),
    (in_place, (RNG.standard_normal((9, 4)),), True),
    (in_loop, (RNG.standard_normal((8, 30)), RNG.standard_normal((30, 30))), True),
    (mixed, (RNG.standard_normal((8, 8)), RNG.standard_normal((8, 8))), True),
    (layers, (RNG.standard_normal((8, 8)),), True),
    (lambda x: D.all_reduce(D.all_reduce(x) + 1), (RNG.standard_normal(5),), False),
]


@pytest.mark.parametrize(("function", "args", "overlaps"), CASES)
def test_values_are_those_of_calls_in_turn(function: Callable[..., Any], args: Any, overlaps: bool) -> None:
    def run(rank: int) -> Any:
        own = [np.asarray(a) + rank if not isinstance(a, list) else [w + rank for w in a] for a in args]
        fast = wf.jit(function, strict=True)
        wanted = function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in own])
        got = [fast(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in own]) for _ in range(3)]
        return wanted, got, threading.get_ident()

    found, mails = by_mail(run)
    for (wanted, got, own), mail in zip(found, mails, strict=True):
        for each in got:
            for g, w in zip(
                each if isinstance(each, (tuple, list)) else [each],
                wanted if isinstance(wanted, (tuple, list)) else [wanted],
                strict=True,
            ):
                np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-11)
        assert bool(mail.threads - {own}) == overlaps


def test_ranks_that_share_memory_agree_too() -> None:
    def run() -> bool:
        rng = np.random.default_rng(D.rank())
        a, b = rng.standard_normal((2, 40, 40))
        return np.allclose(wf.jit(beside)(a, b), beside(a, b))

    assert D.spawn(run, SIZE, method="thread") == [True] * SIZE


@pytest.mark.parametrize("fails", [1, 2, 3, 4])
def test_an_error_beside_is_raised_with_its_line(fails: int) -> None:
    def run(rank: int) -> Any:
        x = np.ones((20, 20)) * rank
        return wf.jit(updates, strict=True)(x, [x, x + 1, x + 2])

    found, _ = by_mail(run, fails=fails)
    for error in found:
        assert (
            isinstance(error, ExecutionError)
            and "test_distributed_overlap.py" in str(error)
            and "all_reduce" in str(error)
        )


def test_calls_that_do_not_agree_are_named_with_both_lines() -> None:
    def run(rank: int) -> Any:
        def other(x: Any, w: Any) -> Any:
            total = D.all_reduce(x @ w, "sum" if rank else "max")
            return total, np.tanh(w @ w.T) @ w.T

        return wf.jit(other, strict=True)(np.ones((8, 8)), np.ones((8, 8)))

    for error in by_mail(run)[0]:
        assert error.label == "collective_mismatch" and str(error).count("test_distributed_overlap.py") >= 2


def test_an_error_of_the_program_waits_for_what_goes_on() -> None:
    def refuse(x: Any) -> Any:
        raise ZeroDivisionError("on purpose")

    fails = wf.custom_op("test.overlap_fails", lambda x: wf.spec(x.shape, x.dtype), reference=refuse)

    def program(x: Any) -> Any:
        total = D.all_reduce(x + 1)
        return fails(np.sin(x)) + total

    def run(rank: int) -> Any:
        x = np.ones(1000)
        with pytest.raises(Exception, match="on purpose"):
            wf.jit(program, strict=True)(x)
        return float(D.all_reduce(x)[0])

    assert by_mail(run, delay=0.05)[0] == [2.0, 2.0]
