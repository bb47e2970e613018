"""Work of a process group: calls that are made one after the other by a thread, and what torch waits for."""

from __future__ import annotations

import concurrent.futures
import datetime
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from ..errors import ExecutionError

__all__ = ["Lane", "Work", "done"]


class Work(dist.Work):
    """A call that a thread makes: torch's handle on it, whose ``wait`` raises what the call raised."""

    def __init__(self, outcome: concurrent.futures.Future, tensors: list[torch.Tensor]) -> None:
        super().__init__()
        self.outcome, self.tensors = outcome, tensors

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        """Until it is done; ``timeout`` of nothing: for as long as the group waits."""
        seconds = timeout.total_seconds() if timeout else 0
        try:
            self.outcome.result(seconds if seconds > 0 else None)
        except concurrent.futures.TimeoutError:
            raise ExecutionError(f"the collective was not done within {seconds} s  [work_timeout]") from None
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return self.outcome.done()

    def is_success(self) -> bool:
        return self.outcome.done() and self.outcome.exception() is None

    def exception(self) -> Any:
        return self.outcome.exception() if self.outcome.done() else None

    def result(self) -> list[torch.Tensor]:
        return self.tensors

    def get_future(self) -> torch.futures.Future:
        """A future of torch, whose value are the tensors."""
        future: torch.futures.Future = torch.futures.Future()
        self.outcome.add_done_callback(lambda outcome: future.set_result(outcome.exception() or self.tensors))
        return future.then(value_of)


def value_of(future: torch.futures.Future) -> Any:
    value = future.value()
    if isinstance(value, BaseException):
        raise value
    return value


def done(tensors: list[torch.Tensor]) -> Work:
    """What is done already."""
    outcome: concurrent.futures.Future = concurrent.futures.Future()
    outcome.set_result(None)
    return Work(outcome, tensors)


class Lane:
    """Calls in the order in which they are given: by this thread where it will wait at once and nothing is before, else by one of the lane's own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: queue.SimpleQueue = queue.SimpleQueue()
        self.last: concurrent.futures.Future | None = None
        self.thread: threading.Thread | None = None
        # A thread that is no daemon would keep the process until a rank that is gone was waited for.
        weakref.finalize(self, self.calls.put, None)

    def call(self, function: Callable[[], None], tensors: list[torch.Tensor], is_async: bool = True) -> Work:
        if not is_async and (self.last is None or self.last.done()):
            function()
            return done(tensors)
        if self.thread is None:
            self.thread = threading.Thread(target=work_through, args=(self.calls,), name=self.name, daemon=True)
            self.thread.start()
        self.last = concurrent.futures.Future()
        self.calls.put((function, self.last))
        return Work(self.last, tensors)


def work_through(calls: queue.SimpleQueue) -> None:
    while (call := calls.get()) is not None:
        function, outcome = call
        try:
            function()
        except BaseException as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(None)
        del call, function, outcome  # what they hold is the caller's again
