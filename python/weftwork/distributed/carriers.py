"""What moves bytes between ranks that share no memory: MPI, by mpi4py, and torch.distributed, by gloo over TCP."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .. import _core
from .._core import Communicator
from ..errors import ArgumentValueError, UnsupportedError
from .launch import Launch

__all__ = ["gloo", "gloo_group", "mpi", "over_gloo"]

#: A rank, and memory that is sent to it or filled by it.
Parcels = Sequence[tuple[int, memoryview]]
#: MPI counts bytes in 31 bits, and so does gloo in places.
PIECE = 1 << 30


def pieces(parcels: Parcels) -> list[tuple[int, memoryview]]:
    return [(rank, memory[begin : begin + PIECE]) for rank, memory in parcels for begin in range(0, len(memory), PIECE)]


class MpiCarrier:
    """Messages of MPI on a communicator of our own."""

    def __init__(self, timeout: float) -> None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise UnsupportedError(f"the carrier 'mpi' needs mpi4py and an MPI library: {error}  [mpi]") from error
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise UnsupportedError("the carrier 'mpi' needs an MPI library that takes calls of several threads  [mpi]")
        self.mpi, self.timeout = MPI, timeout
        self.world = MPI.COMM_WORLD.Dup()
        self.world.Set_errhandler(MPI.ERRORS_RETURN)

    def exchange(self, is_message: bool, sent: Parcels, received: Parcels) -> tuple[int, bool] | None:
        """The first rank that was waited for in vain, and whether it has ended."""
        tag = int(is_message)
        outgoing, incoming = pieces(sent), pieces(received)
        peers = [rank for rank, _ in (*incoming, *outgoing)]
        requests: list[Any] = []
        try:
            for start, parcels in ((self.world.Irecv, incoming), (self.world.Isend, outgoing)):
                for rank, memory in parcels:
                    requests.append(start([memory, self.mpi.BYTE], rank, tag))
            return self.waited(requests, peers)
        except self.mpi.Exception:
            return peers[len(requests)], True
        finally:
            for request in requests:
                if request != self.mpi.REQUEST_NULL:
                    request.Cancel()
                    request.Free()

    def waited(self, requests: list[Any], peers: list[int]) -> tuple[int, bool] | None:
        end, turn = time.monotonic() + self.timeout, 0
        states = [self.mpi.Status() for _ in requests]
        while True:
            try:
                if self.mpi.Request.Testall(requests, states):
                    return None
                if time.monotonic() > end:
                    # A request that is no more is done.
                    return next((rank for request, rank in zip(requests, peers) if not request.Test()), peers[0]), False
            except self.mpi.Exception:
                fine = (self.mpi.SUCCESS, self.mpi.ERR_PENDING)
                failed = [rank for state, rank in zip(states, peers) if state.Get_error() not in fine]
                return (failed or peers)[0], True
            turn += 1
            if turn > 200:  # who waits for longer leaves the CPU to others
                time.sleep(min(turn * 1e-7, 1e-3))

    def close(self) -> None:
        """Nothing: MPI ends with the process, and a communicator is freed only by all its ranks together."""


class GlooCarrier:
    """Messages of one of gloo's groups, by tags that are this communicator's."""

    #: Threads of gloo's move the bytes while programs compute.
    runs_beside = True

    def __init__(self, group: Any, timeout: float, tag: int) -> None:
        import torch

        self.torch, self.group, self.timeout, self.tag = torch, group, timeout, tag

    def exchange(self, is_message: bool, sent: Parcels, received: Parcels) -> tuple[int, bool] | None:
        """The first rank that was waited for in vain, and whether it has ended."""
        tag, end = 2 * self.tag + is_message, time.monotonic() + self.timeout
        works, late = [], -1
        try:
            for start, parcels in ((self.group.recv, received), (self.group.send, sent)):
                for late, memory in pieces(parcels):
                    works.append((late, start([self.torch.frombuffer(memory, dtype=self.torch.uint8)], late, tag)))
            for each, work in works:
                late = each
                work.wait(timedelta(seconds=max(end - time.monotonic(), 1e-3)))
        except RuntimeError:
            return late, time.monotonic() < end
        return None

    def close(self) -> None:
        self.group = None


def mpi(launch: Launch, timeout: float) -> Communicator:
    """Ranks of ``mpiexec``, on any hosts."""
    carrier = MpiCarrier(timeout)
    rank, size = carrier.world.Get_rank(), carrier.world.Get_size()
    if (rank, size) != (launch.rank, launch.size):
        raise ArgumentValueError(
            f"mpi4py has rank {rank} of {size} where the launcher says {launch.rank} of {launch.size}: "
            "its MPI library must be that of mpiexec  [launch]"
        )
    return _core.carried_communicator(carrier, rank, size, timeout)


def gloo(launch: Launch, timeout: float) -> Communicator:
    """Ranks of ``torchrun``, or of any launcher that sets MASTER_ADDR and MASTER_PORT, on any hosts."""
    try:
        import torch.distributed as dist
    except ImportError as error:
        raise UnsupportedError(f"the carrier 'torch' needs torch: {error}  [torch]") from error
    store = launch_store(launch.rank, launch.size, timeout)
    turn = store.add(f"weftwork {launch.rank}", 1)  # ranks that join anew find nothing of before
    group = gloo_group(dist.PrefixStore(f"weftwork {turn}/", store), launch.rank, launch.size, timeout)
    return over_gloo(group, launch.rank, launch.size, timeout)


@functools.cache
def launch_store(rank: int, size: int, timeout: float) -> Any:
    """What the processes of the launch write for each other; kept, as others may still read what this one is done with."""
    import torch.distributed as dist

    if dist.is_initialized():
        return dist.distributed_c10d._get_default_store()
    return next(iter(dist.rendezvous("env://", rank, size, timeout=timedelta(seconds=timeout))))[0]


def gloo_group(store: Any, rank: int, size: int, timeout: float) -> Any:
    """Ranks that have a store in common, connected."""
    from torch.distributed import ProcessGroupGloo

    return ProcessGroupGloo(store, rank, size, timeout=timedelta(seconds=timeout))


def over_gloo(group: Any, rank: int, size: int, timeout: float, tag: int = 0) -> Communicator:
    """A communicator on a group of gloo, of which communicators with other tags are independent."""
    return _core.carried_communicator(GlooCarrier(group, timeout, tag), rank, size, timeout)
