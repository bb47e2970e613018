"""The communicator that functions of this process, or of this thread, use."""

from __future__ import annotations

import atexit
import os
import socket
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from .._core import Communicator
from ..errors import ArgumentValueError, UnsupportedError
from ..knobs import num_threads, set_num_threads
from ..numpy.tracer import current_trace
from . import carriers
from .launch import Launch, launched

__all__ = ["Communicator", "current", "init", "rank", "shutdown", "size"]

#: Seconds that a rank waits for another.
TIMEOUT = 300.0
#: That Linux numbers where nobody says otherwise.
MOST_CPUS = 1024

_process: Communicator | None = None
_owner = 0  # the process that it is a rank of; a fork's child is another
_beginning = threading.Lock()


class State(threading.local):
    """What a thread has of its own."""

    communicator: Communicator | None = None


_thread = State()


def init(
    *,
    rank: int | None = None,
    size: int | None = None,
    key: str | None = None,
    timeout: float = TIMEOUT,
    carrier: str = "auto",
) -> Communicator:
    """Joins the other processes of a launch; the first collective does it where nobody has.

    ``rank`` and ``size`` are those that the launcher says by its variables (``torchrun``, ``mpiexec``, ``srun``), or one process
    alone; processes that start otherwise pass both, and a ``key`` that is theirs alone. ``timeout``: the seconds that a rank waits
    for others, here and in each call; those that it then names have every rank raise. ``carrier`` is what moves the bytes:
    ``"shared_memory"``, for processes of one host and user, ``"mpi"`` (mpi4py) or ``"torch"`` (torch.distributed), for those of several
    hosts; ``"auto"`` is the first where it can be, else that of the launcher. Processes that a launcher began on one host divide its
    CPUs, where neither ``WEFT_THREADS`` nor ``OMP_NUM_THREADS`` says how many threads each has.

    Returns the :class:`Communicator`, which the functions of this module use until :func:`shutdown`. Raises an
    :class:`ExecutionError` with the label ``"rendezvous"`` that names the ranks which did not come.
    """
    launch = launched() if rank is None and size is None else Launch(rank or 0, size or 1, rank or 0, size or 1)
    if key is not None:
        launch = replace(launch, key=key)
    if (rank is None) != (size is None) or (size is not None and size > 1 and not key):
        raise ArgumentValueError("rank, size and key are given together, or left to the launcher  [launch]")
    with _beginning:
        if _process is not None and _owner == os.getpid():
            raise ArgumentValueError("this process is a rank already: call shutdown() first  [launch]")
        communicator = joined(launch, float(timeout), carrier)
        use_in_process(communicator)
    if launch.launcher != "none":
        take_share(communicator)
    return communicator


def begin(launch: Launch, timeout: float) -> None:
    """Joins a launch in a process that was begun for it; what it has of its parent's is not its own."""
    use_in_process(joined(launch, timeout, "auto"))


def use_in_process(communicator: Communicator | None) -> None:
    """Has functions and programs of this process use it, but for threads that have their own."""
    global _process, _owner
    # Programs use it no more before it may go.
    _core.set_process_communicator(communicator)
    _process, _owner = communicator, os.getpid()


def joined(launch: Launch, timeout: float, carrier: str) -> Communicator:
    """The communicator of a launch."""
    if timeout <= 0:
        raise ArgumentValueError(f"timeout must be more than 0 seconds, got {timeout}  [timeout]")
    if carrier not in CARRIERS and carrier != "auto":
        raise ArgumentValueError(
            f"carrier must be 'auto' or one of {', '.join(map(repr, CARRIERS))}, got {carrier!r}  [carrier]"
        )
    if carrier == "auto" and launch.size == 1:
        return _core.local_communicators(1, timeout)[0]
    if carrier == "auto":
        is_one_host = launch.local_size == launch.size
        carrier = "shared_memory" if is_one_host else "torch" if launch.launcher == "torchrun" else "mpi"
    return CARRIERS[carrier](launch, timeout)


def shared_memory(launch: Launch, timeout: float) -> Communicator:
    if launch.local_size != launch.size:
        raise UnsupportedError(
            f"shared memory joins the processes of one host, of which this one has {launch.local_size} of {launch.size}  [several_hosts]"
        )
    return _core.shared_memory_communicator(launch.key, launch.rank, launch.size, timeout)


CARRIERS: dict[str, Any] = {"shared_memory": shared_memory, "mpi": carriers.mpi, "torch": carriers.gloo}


def take_share(communicator: Communicator) -> None:
    """Sets this rank's threads: of each CPU that it may use an equal part with the other ranks of the host that may."""
    own = os.sched_getaffinity(0)
    said = np.zeros(MOST_CPUS + 1, np.uint32)
    said[sorted(own)] = 1
    said[MOST_CPUS] = zlib.crc32(host_name().encode())
    ranks = communicator.run("all_gather", said[None])
    if "WEFT_THREADS" in os.environ or "OMP_NUM_THREADS" in os.environ:
        return
    users = ranks[ranks[:, MOST_CPUS] == said[MOST_CPUS], :MOST_CPUS].sum(axis=0)
    share = sum(1 / users[cpu] for cpu in own)
    set_num_threads(max(1, min(int(share + 1e-6), num_threads())))


def host_name() -> str:
    """The same for all processes of this host that can reach each other by its sockets, and no others."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return f"{socket.gethostname()} {file.read().strip()} {os.stat('/proc/self/ns/net').st_ino}"


def current() -> Communicator:
    """The communicator of this thread, else of this process, which joins the launch where it has not."""
    own = _thread.communicator or _process
    return own if own is not None else init()


def set_for_thread(communicator: Communicator | None) -> Communicator | None:
    """Has functions that this thread calls use it, and no other; gives the one before."""
    _core.set_thread_communicator(communicator)
    before, _thread.communicator = _thread.communicator, communicator
    return before


def shutdown() -> None:
    """Leaves the launch: ranks that wait for this one raise. Nothing where this process is no rank; a later :func:`init` joins anew."""
    with _beginning:
        if _process is not None:
            _process.close()
        use_in_process(None)


def rank() -> int:
    """The number of this rank, from 0.

    >>> import weftwork as wf
    >>> wf.distributed.rank(), wf.distributed.size()
    (0, 1)
    """
    return required(this_rank)


def size() -> int:
    """How many ranks there are."""
    return required(number_of_ranks)


def this_rank() -> int:
    return current().rank


def number_of_ranks() -> int:
    return current().size


def required(function: Callable[[], int]) -> int:
    """A number that a program is recorded for where a function is traced: calls by other ranks record another."""
    value, trace = function(), current_trace()
    if trace is not None and trace.recorder is not None and not trace.recorder.bakes:
        trace.recorder.steps.require(function, value)
    return value


_core.set_joining()


atexit.register(shutdown)
