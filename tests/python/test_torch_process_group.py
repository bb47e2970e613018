"""The process group "weftwork" of torch.distributed: every collective against what torch computes of the same tensors, training in parallel."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.distributed as dist
import torch.distributed._functional_collectives as functional

import weftwork as wf
import weftwork.torch

ReduceOp = dist.ReduceOp
DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.uint32, torch.float8_e4m3fn,
]  # fmt: skip
SHAPES = [(4, 3), (0, 2), (), (1,)]


def run(check: Callable[[], Any], size: int = 2) -> None:
    """Calls it in so many processes, which are ranks of a group."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "weftwork.torch"])
    with tempfile.TemporaryDirectory() as folder:
        pipes = [context.Pipe(duplex=False) for _ in range(size)]
        processes = [
            context.Process(target=in_rank, args=(pipes[rank][1], folder, rank, size, check)) for rank in range(size)
        ]
        for process, (_, end) in zip(processes, pipes, strict=True):
            process.start()
            end.close()
        told = [pipe.recv() for pipe, _ in pipes]
        for process in processes:
            process.join(60)
    assert told == [""] * size, "\n".join(told)


def in_rank(pipe: Any, folder: str, rank: int, size: int, check: Callable[[], Any]) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # names that torch has new ones for
    told = ""
    try:
        store = dist.FileStore(os.path.join(folder, "store"), size)
        dist.init_process_group(
            "weftwork", store=store, rank=rank, world_size=size, timeout=datetime.timedelta(seconds=60)
        )
        check()
        dist.destroy_process_group()
    except BaseException:
        told = f"rank {rank}\n{traceback.format_exc()}"
    pipe.send(told)


def tensor_of(rank: int, shape: tuple[int, ...], dtype: Any) -> Any:
    generator = torch.Generator().manual_seed(1 + rank)
    values = torch.randint(-3 if dtype.is_signed else 0, 5, shape, generator=generator)
    return (values * 0.75).to(dtype) if dtype.is_floating_point else values.to(dtype)


def tensors(shape: tuple[int, ...], dtype: Any) -> list[Any]:
    return [tensor_of(rank, shape, dtype) for rank in range(dist.get_world_size())]


def same(got: Any, wanted: Any) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert torch.equal(wide(got), wide(wanted)), (got, wanted)


def wide(t: Any) -> Any:
    """What torch can combine and compare: float8 has no arithmetic, unsigned integers little."""
    return t.float() if t.dtype.itemsize < 4 and t.is_floating_point() else t.long() if t.dtype == torch.uint32 else t


def combined(op: Any, parts: list[Any]) -> Any:
    functions = {
        ReduceOp.SUM: torch.add,
        ReduceOp.AVG: torch.add,
        ReduceOp.PRODUCT: torch.mul,
        ReduceOp.MAX: torch.maximum,
        ReduceOp.MIN: torch.minimum,
    }
    result = wide(parts[0])
    for part in parts[1:]:
        result = functions[op](result, wide(part))
    return (result / len(parts) if op == ReduceOp.AVG else result).to(parts[0].dtype)


def ops_of(dtype: Any) -> list[Any]:
    if dtype.is_complex:
        return [ReduceOp.SUM]  # torch refuses the others itself
    ops = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MAX, ReduceOp.MIN]
    return [*ops, ReduceOp.AVG] if dtype.is_floating_point else ops


# -- collectives ------------------------------------------------------------------------------------------------------


def check_reductions() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for dtype in DTYPES:
        for op in ops_of(dtype):
            for shape in SHAPES:
                parts = tensors(shape, dtype)
                wanted = combined(op, parts)
                for own in (parts[rank].clone(), torch.stack([parts[rank]] * 2, -1)[..., 0]):
                    dist.all_reduce(own, op)
                    same(own, wanted)
                own = parts[rank].clone()
                dist.reduce(own, size - 1, op)
                same(own, wanted if rank == size - 1 else parts[rank])
            wholes = tensors((size * 2, 3), dtype)
            out = torch.empty(2, 3, dtype=dtype)
            dist.reduce_scatter_tensor(out, wholes[rank], op)
            same(out, combined(op, wholes)[2 * rank : 2 * rank + 2])
            out.zero_()
            dist.reduce_scatter(out, list(wholes[rank].split(2)), op)
            same(out, combined(op, wholes)[2 * rank : 2 * rank + 2])
    for op, function in (
        (ReduceOp.BAND, torch.bitwise_and),
        (ReduceOp.BOR, torch.bitwise_or),
        (ReduceOp.BXOR, torch.bitwise_xor),
    ):
        parts = tensors((5,), torch.int32)
        wanted = parts[0]
        for part in parts[1:]:
            wanted = function(wanted, part)
        dist.all_reduce(own := parts[rank].clone(), op)
        same(own, wanted)


def check_moves() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for dtype in [*DTYPES, torch.float8_e5m2fnuz]:
        shapes = SHAPES if dtype in DTYPES else []
        for shape in shapes:
            parts = tensors(shape, dtype)
            outs = [torch.empty(shape, dtype=dtype) for _ in range(size)]
            dist.all_gather(outs, parts[rank])
            for out, part in zip(outs, parts, strict=True):
                same(out, part)
            dist.gather(parts[rank], outs if rank == 1 else None, 1)
            dist.broadcast(own := parts[rank].clone(), size - 1)
            same(own, parts[-1])
            dist.scatter(own, parts if rank == 1 else None, 1)
            same(own, parts[rank])
            dist.all_to_all(outs, [part.clone() for part in parts])
            for out in outs:
                same(out, parts[rank])
            dist.all_gather_into_tensor(whole := torch.empty(size, *shape, dtype=dtype), parts[rank])
            same(whole, torch.stack(parts))
        wholes = tensors((size * 2, 3), torch.float32) if dtype not in DTYPES else tensors((size * 2, 3), dtype)
        wholes = [whole.to(dtype) for whole in wholes]
        dist.all_to_all_single(out := torch.empty_like(wholes[rank]), wholes[rank])
        same(out, torch.cat([wide(whole)[2 * rank : 2 * rank + 2].to(dtype) for whole in wholes]))


def check_sizes() -> None:
    """Parts of several sizes, none, and those that do not fit."""
    rank, size = dist.get_rank(), dist.get_world_size()
    rows = [[(source + 2 * target) % 4 for target in range(size)] for source in range(size)]
    inputs = [torch.arange(float(sum(row) * 2)).reshape(-1, 2) + 100 * source for source, row in enumerate(rows)]
    out_sizes = [rows[source][rank] for source in range(size)]
    wanted = torch.cat([inputs[source].split(rows[source])[rank] for source in range(size)])
    dist.all_to_all_single(out := torch.empty(sum(out_sizes), 2), inputs[rank], out_sizes, rows[rank])
    same(out, wanted)
    outs = [torch.empty(n, 2) for n in out_sizes]
    dist.all_to_all(outs, list(inputs[rank].split(rows[rank])))
    same(torch.cat(outs), wanted)
    outs = [torch.empty(each + 1) for each in range(size)]
    dist.all_gather(outs, torch.full((rank + 1,), float(rank)))
    assert [out.tolist() for out in outs] == [[float(each)] * (each + 1) for each in range(size)]
    dist.reduce_scatter(out := torch.empty(rank + 1), [torch.ones(each + 1) for each in range(size)])
    assert out.tolist() == [float(size)] * (rank + 1)
    for wrong in (
        lambda: dist.all_to_all_single(torch.empty(2 * size + 1), torch.empty(2 * size + 1)),
        lambda: dist.all_gather_into_tensor(torch.empty(2 * size + 1), torch.empty(2)),
        lambda: dist.all_reduce(torch.ones(2, dtype=torch.int32), ReduceOp.AVG),
        lambda: dist.all_reduce(torch.eye(2).to_sparse()),
        lambda: dist.recv(torch.ones(1)),
    ):
        with pytest.raises((ValueError, TypeError, NotImplementedError, wf.Error)):
            wrong()


def check_several() -> None:
    """Many in flight, in one call, and as futures."""
    rank, size = dist.get_rank(), dist.get_world_size()
    given = [torch.full((n,), float(rank + n)) for n in range(1, 40)]
    works = [dist.all_reduce(t, async_op=True) for t in given]
    works[-1].wait()
    assert all(work.is_completed() and work.is_success() for work in works)
    assert [t[0].item() for t in given] == [sum(r + n for r in range(size)) for n in range(1, 40)]
    future = dist.all_reduce(t := torch.ones(3), async_op=True).get_future().then(lambda done: done.value()[0] * 2)
    assert future.wait().tolist() == [2.0 * size] * 3
    with dist._coalescing_manager(device=torch.device("cpu"), async_ops=True) as manager:
        few = [torch.full((n,), float(rank)) for n in (1, 2)]
        for t in few:
            dist.all_reduce(t)
    manager.wait()
    assert [t[0].item() for t in few] == [sum(range(size))] * 2
    with dist._coalescing_manager() as manager:
        outs = [torch.empty(size * n) for n in (1, 2)]
        for n, out in zip((1, 2), outs, strict=True):
            dist.all_gather_into_tensor(out, torch.full((n,), float(rank)))
    assert outs[1].tolist() == [float(r) for r in range(size) for _ in range(2)]


def check_messages() -> None:
    """Large ones both ways at once, and tags that are received in another order than sent."""
    rank, size = dist.get_rank(), dist.get_world_size()
    after, before = (rank + 1) % size, (rank - 1) % size
    sent, got = torch.full((300_000,), float(rank)), torch.empty(300_000)
    works = [dist.isend(sent, after), dist.irecv(got, before)]
    for work in works:
        work.wait()
    assert got.unique().tolist() == [before]
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, sent + 1, before), dist.P2POp(dist.irecv, got, after)]):
        work.wait()
    assert got.unique().tolist() == [after + 1]
    works = [dist.isend(torch.full((50_000,), float(tag)), after, tag=tag) for tag in (1, 2)]
    outs = {tag: torch.empty(50_000) for tag in (2, 1)}
    for tag, out in outs.items():
        dist.recv(out, before, tag=tag)
        assert out.unique().tolist() == [tag]
    for work in works:
        work.wait()


def check_objects() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    dist.all_gather_object(every := [None] * size, {"rank": rank, "text": "x" * rank})
    assert every == [{"rank": r, "text": "x" * r} for r in range(size)]
    dist.broadcast_object_list(some := [rank, None] if rank else ["a", 7], 0)
    assert some == ["a", 7]
    dist.scatter_object_list(own := [None], list(range(10, 10 + size)) if rank == 0 else None, 0)
    assert own == [10 + rank]
    dist.gather_object(rank * 2, every if rank == 0 else None, 0)
    assert rank or every == [2 * r for r in range(size)]


def check_groups() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    few = dist.new_group([0, 2])
    dist.new_group([1])
    if rank in (0, 2):
        dist.all_reduce(t := torch.tensor(float(rank + 1)), group=few)
        assert t.item() == 4 and dist.get_rank(few) == rank // 2
        dist.broadcast(t := torch.tensor([rank]), 2, group=few)
        assert t.item() == 2
        (dist.send if rank == 2 else dist.recv)(t := torch.tensor([float(rank)]), 2 - rank, group=few)
        assert t.item() == 2
    assert dist.get_backend() == "weftwork" and dist.get_process_group_ranks(dist.group.WORLD) == list(range(size))


def check_functional() -> None:
    rank, size, world = dist.get_rank(), dist.get_world_size(), dist.group.WORLD
    assert (functional.all_reduce(torch.ones(3) * rank, "sum", world) + 0).tolist() == [float(sum(range(size)))] * 3
    assert (functional.all_gather_tensor(torch.ones(1) * rank, 0, world) + 0).tolist() == [
        float(r) for r in range(size)
    ]
    assert (functional.reduce_scatter_tensor(torch.arange(size * 1.0), "avg", 0, world) + 0).tolist() == [float(rank)]
    turned = functional.all_to_all_single(torch.arange(size) + 10 * rank, None, None, world) + 0
    assert turned.tolist() == [10 * r + rank for r in range(size)]
    assert (functional.broadcast(torch.tensor([rank]), 1, world) + 0).item() == 1


def each_functional(x: Any, group: Any, ops: list[str]) -> list[Any]:
    found = [functional.all_reduce(x * 2, op, group) + 1 for op in ops]
    found += [functional.reduce_scatter_tensor(x, op, dim, group) * 2 for op in ops for dim in (0, 1)]
    found += [functional.all_gather_tensor(x + 1, dim, group) for dim in (0, 1)]
    return [
        *found,
        functional.broadcast(x, dist.get_world_size(group) - 1, group),
        functional.all_reduce(x.sum(), ops[-1], group),
    ]


def natively(function: Any) -> Any:
    """Compiled, without calls of torch."""
    torch._dynamo.reset()
    return torch.compile(function, backend="weftwork", options={"fallback": False})


#: Under sanitizers torch compiles for minutes; there check_all has every dtype.
COMPILED = [torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.float16]
COMPILED = COMPILED[:2] if "asan" in os.environ.get("LD_PRELOAD", "") else COMPILED


def check_compiled(dtypes: Sequence[Any] = COMPILED) -> None:
    rank, size, world = dist.get_rank(), dist.get_world_size(), dist.group.WORLD
    groups = [(world, True)] + [(dist.new_group(few), rank in few) for few in ([size - 2, size - 1],)]
    for dtype in dtypes:
        ops = ["sum", "product", "max", "min"] + ["avg"] * dtype.is_floating_point
        for group, is_member in groups:
            if not is_member:
                continue
            n = dist.get_world_size(group)
            x = tensor_of(rank, (2 * n, 3 * n), dtype)
            wanted = each_functional(x, group, ops)
            for got, one in zip(natively(each_functional)(x, group, ops), wanted, strict=True):
                same(got, one)
            # One rank runs the program, others each call; after what has not been waited for.
            work = dist.all_reduce(before := torch.ones(100_000), async_op=True, group=group)
            mixed = natively(each_functional)(x, group, ops) if rank == size - 1 else each_functional(x, group, ops)
            for got, one in zip(mixed, wanted, strict=True):
                same(got, one)
            work.wait()
            assert before[0] == n

    def of_two_groups(x: Any) -> Any:  # the second one's are torch's
        return functional.all_reduce(x, "sum", world) + functional.all_reduce(x, "max", both)

    def in_place(x: Any) -> Any:
        dist.all_reduce(x)
        dist.all_gather_into_tensor(y := torch.empty(size * x.shape[0], 3), x * 2)
        dist.broadcast(y, 1)  # has no functional form: between two graphs
        return x + y[-1]

    for rows in (2, 5):
        x = torch.ones(rows, 3) * rank
        wanted = in_place(own := x.clone())
        same(torch.compile(in_place, backend="weftwork", dynamic=True)(x), wanted)
        same(x, own)
    both = dist.new_group(list(range(size)))
    x = torch.arange(3.0) + rank
    for _ in range(2):
        same(torch.compile(of_two_groups, backend="weftwork")(x), of_two_groups(x))
    with pytest.raises(Exception, match="torch_native"):
        natively(of_two_groups)(x)
    with pytest.raises(wf.errors.ExecutionError, match=r"float32\[3\][\s\S]*float32\[4\]"):
        natively(lambda x: functional.all_reduce(x * 2, "sum", both) + 1)(torch.ones(3 + rank // (size - 1)))


@pytest.mark.slow
def test_functional_collectives_are_calls_of_compiled_programs() -> None:
    run(check_compiled, 3)  # ranks on both sides of one


def check_mismatch() -> None:
    rank = dist.get_rank()
    for _ in range(2):  # once it has failed, it is of no more use
        with pytest.raises(wf.errors.ExecutionError, match=r"float32\[3\][\s\S]*float32\[4\]") as raised:
            dist.all_reduce(torch.ones(3 + rank), async_op=bool(rank)).wait() if rank else dist.all_reduce(
                torch.ones(3)
            )
        assert raised.value.label == "collective_mismatch"
    with pytest.raises(RuntimeError, match=r"float32\[4\]"):
        dist.all_reduce(torch.ones(3), async_op=True).get_future().wait()


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_collectives_give_what_torch_computes(size: int) -> None:
    run(check_all, size)


def check_all() -> None:
    for check in (
        check_reductions,
        check_moves,
        check_sizes,
        check_several,
        check_messages,
        check_objects,
        check_functional,
    ):
        check()


def check_hosts() -> None:
    """As on hosts of their own."""
    from weftwork.torch import process_group

    rank = dist.get_rank()
    process_group.host_name = lambda: f"host {rank}"
    group = dist.new_group()
    assert group._gloo is not None
    for check in (check_sizes, check_several, check_messages, check_objects):
        dist.distributed_c10d.GroupMember.WORLD = group  # the group of calls that say none
        check()


@pytest.mark.slow
def test_ranks_of_several_hosts_use_gloo() -> None:
    run(check_hosts, 3)


@pytest.mark.slow
def test_groups_of_some_ranks() -> None:
    run(check_groups, 3)


# -- training ---------------------------------------------------------------------------------------------------------


def model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))


def batches() -> Any:
    torch.manual_seed(1)
    return [(torch.randn(8, 6), torch.randn(8, 3)) for _ in range(4)]


def trained(module: Any, shard: Callable[[Any], Any] = lambda t: t, parameters: Any = None) -> Any:
    optimizer = torch.optim.SGD(parameters or module.parameters(), 0.1, momentum=0.9)
    for x, y in batches():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(module(shard(x)), shard(y)).backward()
        optimizer.step()
    return module


def check_training() -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    rank, size = dist.get_rank(), dist.get_world_size()
    wanted = list(trained(model()).parameters())
    own = lambda t: t.chunk(size)[rank]
    for options in ({}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 1e-4}, {"static_graph": True}):
        parallel = torch.nn.parallel.DistributedDataParallel(model(), **options)
        torch.testing.assert_close(list(trained(parallel, own).module.parameters()), wanted)
    mesh = init_device_mesh("cpu", (size,))
    sharded = fully_shard(model(), mesh=mesh)
    torch.testing.assert_close([p.full_tensor() for p in trained(sharded, own).parameters()], wanted)
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    for form in (lambda module: module, natively):
        tensor_parallel = parallelize_module(model(), mesh, plan)
        trained(form(tensor_parallel), parameters=tensor_parallel.parameters())
        torch.testing.assert_close([p.full_tensor() for p in tensor_parallel.parameters()], wanted)
    whole = torch.arange(12.0).reshape(6, 2)
    for placed in ([Shard(0)], [Shard(1)], [Replicate()]):
        spread = distribute_tensor(whole, mesh, placed)
        same(spread.full_tensor(), whole)
        same(spread.redistribute(mesh, [Shard(1)]).to_local(), whole.chunk(size, 1)[rank])


@pytest.mark.slow
def test_parallel_training_equals_training_in_one_process() -> None:
    run(check_training)


# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_calls_that_do_not_agree_raise_on_every_rank() -> None:
    run(check_mismatch)
