"""Ranks begun by a program itself: processes of this host, or threads."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from ..errors import ArgumentValueError, Error, ExecutionError
from ..knobs import set_num_threads
from . import ranks
from .launch import Launch

__all__ = ["spawn"]

#: Labels of errors that tell of another rank's end.
CONSEQUENCES = ("rank_ended", "rank_timeout", "rank_interrupted")

#: Seconds for a process to end once its function has: what it leaves behind is put away then.
PATIENCE = 10.0


def spawn(
    f: Callable[..., Any], n: int, args: Sequence[Any] = (), *, method: str = "spawn", timeout: float = ranks.TIMEOUT
) -> list[Any]:
    """Calls ``f(*args)`` in ``n`` ranks at once, and returns what each returns, by rank.

    ``method`` is ``"spawn"``, ``"fork"`` or ``"forkserver"``, for processes as :mod:`multiprocessing` begins them, which share the CPUs
    of this one, or ``"thread"`` for threads of this process. ``timeout``: as for :func:`init`. Where ranks raise, the error that began
    it is raised here; a process that is killed is an :class:`ExecutionError` with the label ``"rank_ended"``.

    >>> import weftwork as wf
    >>> wf.distributed.spawn(lambda: wf.distributed.all_reduce(wf.distributed.rank()).item(), 3, method="thread")
    [3, 3, 3]
    """
    if n < 1:
        raise ArgumentValueError(f"there must be one rank at least, got {n}  [rank]")
    outcomes = in_threads(f, n, args, timeout) if method == "thread" else in_processes(f, n, args, method, timeout)
    raise_first([error for _, error in outcomes])
    return [value for value, _ in outcomes]


Outcome = tuple[Any, BaseException | None]


def raise_first(errors: list[BaseException | None]) -> None:
    """Raises the error that is no consequence of another, if there is one at all."""
    is_consequence = lambda error: (
        isinstance(error, Error) and error.label in CONSEQUENCES and not getattr(error, "is_first", False)
    )
    raised = [(rank, error) for rank, error in enumerate(errors) if error is not None]
    for rank, error in sorted(raised, key=lambda each: is_consequence(each[1])):
        if hasattr(error, "add_note"):
            error.add_note(f"raised by rank {rank} of {len(errors)}")
        raise error


# -- threads -----------------------------------------------------------------------------------------------------


def in_threads(f: Callable[..., Any], n: int, args: Sequence[Any], timeout: float) -> list[Outcome]:
    communicators = _core.local_communicators(n, timeout)
    outcomes: list[Outcome] = [(None, None)] * n

    def run(rank: int) -> None:
        ranks.set_for_thread(communicators[rank])
        try:
            outcomes[rank] = f(*args), None
        except BaseException as error:
            outcomes[rank] = None, error
        finally:
            communicators[rank].close()
            ranks.set_for_thread(None)

    threads = [threading.Thread(target=run, args=(rank,), name=f"rank {rank}", daemon=True) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# -- processes -----------------------------------------------------------------------------------------------------


def in_processes(f: Callable[..., Any], n: int, args: Sequence[Any], method: str, timeout: float) -> list[Outcome]:
    import multiprocessing

    if method not in multiprocessing.get_all_start_methods():
        raise ArgumentValueError(
            f"method must be 'thread' or one of {multiprocessing.get_all_start_methods()}, got {method!r}  [method]"
        )
    context = multiprocessing.get_context(method)
    key = os.urandom(16).hex()
    pipes = [context.Pipe(duplex=False) for _ in range(n)]
    processes = [
        context.Process(
            target=run_rank,
            args=(pipes[rank][1], f, tuple(args), Launch(rank, n, rank, n, key, "spawn"), timeout),
            name=f"rank {rank}",
        )
        for rank in range(n)
    ]
    patience = 0.0
    try:
        for process, (_, write) in zip(processes, pipes):
            process.start()
            write.close()
        sent = received([read for read, _ in pipes])
        patience = PATIENCE
        return [outcome_of(rank, processes[rank], result) for rank, result in sorted(sent.items())]
    finally:
        give_up = time.monotonic() + patience
        for process in processes:
            if process.pid is not None:
                process.join(max(0.0, give_up - time.monotonic()))
            if process.is_alive():
                process.terminate()
        for process in processes:
            if process.pid is not None:
                process.join()


def received(pipes: list[Any]) -> dict[int, bytes | None]:
    """What each process sent, in whatever order; None of those that ended without."""
    from multiprocessing import connection

    got: dict[int, bytes | None] = {}
    while len(got) < len(pipes):
        pipe: Any
        for pipe in connection.wait([pipe for rank, pipe in enumerate(pipes) if rank not in got]):
            try:
                got[pipes.index(pipe)] = pipe.recv_bytes()
            except EOFError:
                got[pipes.index(pipe)] = None
    return got


def outcome_of(rank: int, process: Any, sent: bytes | None) -> Outcome:
    if sent is not None:
        value, error, trace = pickle.loads(sent)
        if error is not None:
            error.__cause__ = ExecutionError(f"rank {rank} raised\n\n{trace}")
        return value, error
    process.join()
    code = process.exitcode
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    ended = ExecutionError(f"rank {rank} ended {how} before its function did  [rank_ended]")
    ended.label, ended.is_first = "rank_ended", True  # type: ignore[attr-defined]
    return None, ended


def run_rank(pipe: Any, f: Callable[..., Any], args: tuple, launch: Launch, timeout: float) -> None:
    """What a process does that is a rank."""
    if "WEFT_THREADS" not in os.environ:
        set_num_threads(max(1, len(os.sched_getaffinity(0)) // launch.size))
    value, raised, trace = None, None, ""
    try:
        ranks.begin(launch, timeout)
        value = f(*args)
    except Exception as error:
        raised, trace = error, traceback.format_exc()
    ranks.shutdown()
    pipe.send_bytes(outcome_as_bytes(value, raised, trace))


def outcome_as_bytes(value: Any, raised: Exception | None, trace: str) -> bytes:
    try:
        data = pickle.dumps((value, raised, trace))
        pickle.loads(data)
        return data
    except Exception as error:
        what = f"raised {type(raised).__name__}: {raised}" if raised else f"returned a {type(value).__name__}"
        problem = ExecutionError(f"a rank {what}, which cannot be pickled: {error}  [rank_result]")
        problem.label = "rank_result"
        return pickle.dumps((None, problem, trace))
