"""The process group ``"weftwork"`` of ``torch.distributed``: its collectives on this library's communicators."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from .. import _core
from ..distributed.carriers import gloo_group, over_gloo
from ..distributed.ranks import host_name
from ..errors import ArgumentValueError, UnsupportedError
from . import device
from .exchanged import array_of, into, name_of, of_bits, split, tensor_of, write, wrong
from .works import Lane, Work

__all__ = ["ProcessGroup", "register"]


def register() -> None:
    """Has torch know the backend; the ones that it takes by itself stay as they are."""
    known = dict(dist.Backend.default_device_backend_map)
    dist.Backend.register_backend(device.NAME, created, devices=["cpu", device.NAME])
    dist.Backend.default_device_backend_map.clear()
    dist.Backend.default_device_backend_map.update(known)


def created(store: Any, rank: int, size: int, timeout: timedelta) -> ProcessGroup:
    return ProcessGroup(store, rank, size, timeout)


#: Its methods are called by position, and say less of their types than torch's stubs.
Base: Any = dist.ProcessGroup


class ProcessGroup(Base):
    """Ranks of ``torch.distributed.init_process_group("weftwork")``, or some of them; functions of ``torch.distributed`` take it."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        self._store, self._rank, self._size, self._timeout = store, rank, size, timeout
        self._ends: dict[Any, tuple[Any, Lane]] = {}
        self._coalesced: list[Work] | None = None
        if rank == 0:
            store.set("key", os.urandom(16).hex())
        self._key = store.get("key").decode()
        store.set(f"host {rank}", host_name())
        is_one_host = len({store.get(f"host {each}") for each in range(size)}) == 1
        self._gloo = (
            None if is_one_host else gloo_group(dist.PrefixStore("gloo/", store), rank, size, timeout.total_seconds())
        )
        self.communicator = self._joined(self._key, rank, size)
        self._lane = Lane(f"collectives of rank {rank}")

    # -- what it is ------------------------------------------------------------------------------------------------

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    def getBackendName(self) -> str:
        return device.NAME

    def _get_backend_name(self) -> str:
        return device.NAME

    @property
    def pg_name(self) -> str:
        """The name that torch has given the group."""
        return dist.distributed_c10d._world.pg_names[self]

    @property
    def group_name(self) -> str:
        return self.pg_name

    @property
    def supports_splitting(self) -> bool:
        return False

    @property
    def supports_coalescing(self) -> bool:
        return False

    def _get_backend(self, device: Any) -> ProcessGroup:
        return self

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu")]

    def get_group_store(self) -> Any:
        return self._store

    def settle(self) -> None:
        """Waits until the calls that were given so far are made, or have failed."""
        if self._lane.last is not None:
            self._lane.last.exception()

    def shutdown(self) -> None:
        """Makes no more calls; ranks that wait for this one raise."""
        self.communicator.close()
        for end, _ in list(self._ends.values()):
            end.close()

    abort = shutdown

    def __repr__(self) -> str:
        return f"<weftwork.torch.ProcessGroup, rank {self._rank} of {self._size}>"

    # -- collectives -------------------------------------------------------------------------------------------------

    def allreduce(self, tensors: Any, opts: Any = None) -> Work:
        opts = opts or dist.AllreduceOptions()

        def run() -> None:
            for t in tensors:
                self._reduced(t, t, opts.reduceOp)

        return self._call(run, tensors, opts)

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Any, opts: Any) -> Work:
        def run() -> None:
            for t in tensors:
                self._reduced(t, t if opts.rootRank == self._rank else None, opts.reduceOp)

        return self._call(run, tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = None) -> Work:
        root = opts.rootRank if opts else 0

        def run() -> None:
            for t in tensors:
                into(t, lambda out, t=t: self.communicator.run("broadcast", array_of(t), root=root, out=out))

        return self._call(run, tensors, opts)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        def run() -> None:
            for results, t in zip(outputs, inputs, strict=True):
                self._gathered(results, t)

        return self._call(run, [t for results in outputs for t in results], opts)

    def allgather_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        return self.allgather([list(one) for one in zip(*outputs, strict=True)], inputs, opts)

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        def run() -> None:
            for result, t in zip(outputs, inputs, strict=True):
                if result.numel() != t.numel() * self._size:
                    raise wrong("all_gather: the result", result, f"{self._size} times that of {tuple(t.shape)}")
                own = array_of(t)
                rows, *rest = own.shape or (1,)
                call = lambda out, own=own: self.communicator.run("all_gather", own, out=out)
                into(result, call, (rows * self._size, *rest))

        return self._call(run, outputs, opts)

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> Work:
        return self.all_gather_single_coalesced([output], [input], opts)

    _allgather_base = all_gather_single

    def gather(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        def run() -> None:
            for place, t in enumerate(inputs):
                got = self.communicator.run("all_gather", array_of(t)[None])
                if opts.rootRank == self._rank:
                    for result, part in zip(outputs[place], got, strict=True):
                        write(result, part)

        return self._call(run, [t for results in outputs for t in results], opts)

    def scatter(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        def run() -> None:
            for place, result in enumerate(outputs):
                own = array_of(result)
                parts = np.empty((self._size, *own.shape), own.dtype)
                if opts.rootRank == self._rank:
                    for each, t in enumerate(inputs[place]):
                        parts[each] = array_of(t)
                write(result, self.communicator.run("broadcast", parts, root=opts.rootRank)[self._rank])

        return self._call(run, outputs, opts)

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        op = opts.reduceOp if opts else dist.ReduceOp.SUM

        def run() -> None:
            for result, parts in zip(outputs, inputs, strict=True):
                self._scattered(result, parts, op)

        return self._call(run, outputs, opts)

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        op = opts.reduceOp if opts else dist.ReduceOp.SUM

        def run() -> None:
            for result, t in zip(outputs, inputs, strict=True):
                if t.numel() != result.numel() * self._size:
                    raise wrong("reduce_scatter: the operand", t, f"{self._size} times that of {tuple(result.shape)}")
                if not name_of(op):
                    self._scattered(result, list(t.reshape(self._size, result.numel())), op)
                    continue
                own = array_of(t)
                has_parts = own.ndim and own.shape[0] % self._size == 0
                self._rows_scattered(result, own if has_parts else own.reshape(self._size, -1), op)

        return self._call(run, outputs, opts)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any = None) -> Work:
        return self.reduce_scatter_single_coalesced([output], [input], opts)

    _reduce_scatter_base = reduce_scatter_single

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        return self._call(lambda: self._exchanged(outputs, inputs), outputs, opts)

    def all_to_all_single(self, output: Any, input: Any, output_sizes: Any, input_sizes: Any, opts: Any = None) -> Work:
        results, parts = (split(t, sizes, self._size) for t, sizes in ((output, output_sizes), (input, input_sizes)))
        return self._call(lambda: self._exchanged(results, parts), [output], opts)

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> Work:
        return self._call(lambda: self.communicator.run("barrier", np.empty(0, np.uint8)), [], opts)

    # -- messages ----------------------------------------------------------------------------------------------------

    def send(self, tensors: Any, target: int, tag: int = 0) -> Work:
        communicator, lane = self._end(self._rank, target, tag)
        root = 1 if self._gloo is None else target
        return lane.call(lambda: [communicator().run("send", array_of(t), root=root) for t in tensors], tensors)

    def recv(self, tensors: Any, source: int, tag: int = 0) -> Work:
        communicator, lane = self._end(source, self._rank, tag)
        root = 0 if self._gloo is None else source

        def run() -> None:
            for t in tensors:
                into(t, lambda out, t=t: communicator().run("recv", array_of(t), root=root, out=out))

        return lane.call(run, tensors)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        raise UnsupportedError("recv must say which rank it receives from  [any_source]")

    def _end(self, source: int, target: int, tag: int) -> tuple[Callable[[], Any], Lane]:
        """This rank's end of the messages from one rank to one other with a tag, which wait for no others."""
        if source == target:
            raise ArgumentValueError(f"the other rank must not be this one, which is {self._rank}  [rank]")
        place = (source, target, tag)
        if place not in self._ends:
            key, end = f"{self._key} {place}", int(target == self._rank)
            self._ends[place] = Joining(lambda: self._joined(key, end, 2, tag + 1)), Lane(f"messages {place}")
        joining, lane = self._ends[place]
        return joining.end, lane

    def _joined(self, key: str, rank: int, size: int, tag: int = 0) -> Any:
        """A communicator of ranks of the group: memory where they are on one host, else gloo."""
        seconds = self._timeout.total_seconds()
        if self._gloo is not None:
            return over_gloo(self._gloo, self._rank, self._size, seconds, tag)
        if size == 1:
            return _core.local_communicators(1, seconds)[0]
        return _core.shared_memory_communicator(key, rank, size, seconds)

    # -- several at once ---------------------------------------------------------------------------------------------

    def _start_coalescing(self, device: Any) -> None:
        self._coalesced = []

    def _end_coalescing(self, device: Any) -> Work:
        works, self._coalesced = self._coalesced or [], None
        tensors = [t for work in works for t in work.tensors]
        return self._lane.call(lambda: [work.wait() for work in works], tensors)

    def _call(self, run: Callable[[], Any], tensors: Sequence[torch.Tensor], opts: Any) -> Work:
        work = self._lane.call(run, list(tensors), getattr(opts, "asyncOp", True))
        if self._coalesced is not None:
            self._coalesced.append(work)
        return work

    # -- how they are done -------------------------------------------------------------------------------------------

    def _reduced(self, t: torch.Tensor, result: torch.Tensor | None, op: Any) -> None:
        if name := name_of(op):
            call = lambda out: self.communicator.run("all_reduce", array_of(t), name, out=out)
            if result is None:
                call(None)
            else:
                into(result, call)
            return
        gathered = [tensor_of(part, t) for part in self.communicator.run("all_gather", array_of(t)[None])]
        if result is not None:
            write(result, array_of(of_bits(op, gathered)))

    def _gathered(self, results: Sequence[torch.Tensor], t: torch.Tensor) -> None:
        if len(results) != self._size:
            raise ArgumentValueError(f"all_gather: there must be {self._size} results, got {len(results)}  [parts]")
        if all(result.shape == results[0].shape for result in results):
            for result, part in zip(results, self.communicator.run("all_gather", array_of(t)[None]), strict=True):
                write(result, part)
            return
        for root, result in enumerate(results):
            own = t if root == self._rank else result
            write(result, self.communicator.run("broadcast", array_of(own), root=root))

    def _scattered(self, result: torch.Tensor, parts: Sequence[torch.Tensor], op: Any) -> None:
        if len(parts) != self._size:
            raise ArgumentValueError(f"reduce_scatter: there must be {self._size} parts, got {len(parts)}  [parts]")
        sizes = [part.numel() for part in parts]
        if name_of(op) and len(set(sizes)) == 1:
            self._rows_scattered(result, np.concatenate([array_of(part).reshape(1, -1) for part in parts]), op)
            return
        whole = torch.cat([part.detach().reshape(-1) for part in parts])
        self._reduced(whole, whole, op)
        write(result, array_of(whole.split(sizes)[self._rank]))

    def _rows_scattered(self, result: torch.Tensor, rows: np.ndarray, op: Any) -> None:
        name, shape = name_of(op), (len(rows) // self._size, *rows.shape[1:])
        into(result, lambda out: self.communicator.run("reduce_scatter", rows, name, out=out), shape)

    def _exchanged(self, results: Sequence[torch.Tensor], parts: Sequence[torch.Tensor]) -> None:
        """Part i of every rank becomes result i of rank i; parts of several sizes go in places as large as the largest."""
        if len(results) != self._size or len(parts) != self._size:
            raise ArgumentValueError(
                f"all_to_all: there must be {self._size} parts and results, got {len(parts)} and {len(results)}  [parts]"
            )
        most = max(part.numel() for part in [*parts, *results])
        most = int(self.communicator.run("all_reduce", np.array(most), "max"))
        first = array_of(parts[0])
        outgoing = np.zeros((self._size, most), first.dtype)
        for place, part in zip(outgoing, parts, strict=True):
            place[: part.numel()] = array_of(part).reshape(-1)
        for result, got in zip(results, self.communicator.run("all_to_all", outgoing), strict=True):
            write(result, got[: result.numel()])


# What torch.compile has no functional form for it calls between two graphs, as it does with groups in C++.
for _name, _function in list(vars(ProcessGroup).items()):
    if getattr(_function, "__annotations__", {}).get("return") == "Work":
        setattr(ProcessGroup, _name, torch._dynamo.disable(_function))


class Joining:
    """A communicator that is made when the first message goes through it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.made = make, None

    def end(self) -> Any:
        if self.made is None:
            self.made = self.make()
        return self.made

    def close(self) -> None:
        if self.made is not None:
            self.made.close()
