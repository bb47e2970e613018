"""Collectives within programs: compiled, interpreted, read from text, saved; against NumPy, and bitwise against those of plain arrays."""

import re
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
from test_distributed import combined, groups_for, mine, same
from test_stablehlo import forms_of_jaxlib

import weftwork as wf
from weftwork import _core

D = wf.distributed
DTYPES = [bool, np.int8, np.uint32, np.int64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64]


def array_of(rank, shape, dtype):
    values = np.random.default_rng([rank, *shape]).integers(-3, 5, shape) * 0.75
    return (
        (values + 1j * values[..., ::-1]).astype(dtype)
        if np.dtype(dtype).kind == "c"
        else values.astype(np.float32).astype(dtype)
    )


def every(x, groups, root, pairs, ops):
    """Each collective, along each axis."""
    found = [D.all_reduce(x, op, groups) for op in ops]
    found += [D.reduce_scatter(x, op, groups, axis=axis) for op in ops for axis in (0, 2)]
    found += [D.all_gather(x, groups, axis=axis) for axis in (0, 1, -1)]
    found += [D.all_to_all(x, groups, split_axis=s, concat_axis=c) for s in (0, 2) for c in (0, 1, 2)]
    found += [D.broadcast(x, root, groups), D.all_reduce(x.sum(), ops[-1], groups), D.all_gather(x[0, 0, 0], groups)]
    return (*found, D.collective_permute(x, pairs))


def bitwise_same(got, wanted):
    assert len(got) == len(wanted)
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), i


def in_programs(dtype):
    rank, size = D.rank(), D.size()
    pairs = [(r, (r + 1) % size) for r in range(size - 1)]
    kind = np.dtype(dtype).kind
    # Programs do not order complex numbers: such a call runs plainly.
    ops = ["sum", "prod"] + ["max", "min"] * (kind != "c") + ["mean"] * (kind in "fcV")
    for groups in groups_for(size):
        members = mine(groups, size)
        shape = (2 * len(members), 3, len(members))
        arrays = {r: array_of(r, shape, dtype) for r in members}
        f = wf.jit(lambda x, groups=groups, root=members[-1]: every(x, groups, root, pairs, ops), strict=True)
        eager = every(arrays[rank], groups, members[-1], pairs, ops)
        bitwise_same(f(arrays[rank]), eager)
        # Some ranks run the program, some the function itself.
        bitwise_same(f(arrays[rank]) if rank % 2 else every(arrays[rank], groups, members[-1], pairs, ops), eager)
        for op, got in zip(ops, eager, strict=False):
            same(got, combined(op, [arrays[r] for r in members]))
    bitwise_same(
        wf.simulate(lambda x: every(x, None, size - 1, pairs, ops))(arrays[rank]),
        every(arrays[rank], None, size - 1, pairs, ops),
    )


@pytest.mark.parametrize(
    ("dtype", "size"),
    [(dtype, 4) for dtype in DTYPES] + [(dtype, size) for dtype in (np.float32, ml_dtypes.bfloat16) for size in (1, 2)],
    ids=lambda value: str(value) if isinstance(value, int) else np.dtype(value).name,
)
def test_programs_exchange_as_plain_calls_do(dtype, size):
    D.spawn(in_programs, size, (dtype,), method="thread")


def test_processes_exchange_in_programs():
    D.spawn(in_programs, 2, (np.float32,), method="fork")


def test_what_has_no_elements_and_what_is_written():
    def step(x, empty):
        x[:] = D.all_reduce(x)
        return D.all_gather(empty, axis=1), D.all_reduce(empty, "max"), D.all_reduce(2.5)

    def run():
        x, empty = np.arange(4.0) + D.rank(), np.zeros((0, 3), np.int16)
        gathered, reduced, number = wf.jit(step, strict=True)(x, empty)
        return x.tolist(), gathered.shape, reduced.shape, float(number), type(number)

    assert D.spawn(run, 2, method="thread") == [([1.0, 3.0, 5.0, 7.0], (0, 6), (0, 3), 5.0, np.float64)] * 2


def test_calls_stay_in_order_and_are_all_made():
    def many(x):
        a = D.all_reduce(x, "sum")
        D.all_reduce(x, "max")  # which nobody needs
        b = D.all_reduce(x, "sum")  # the same once more
        c = D.all_gather(a[:1] * 0 + x[:1])
        return c.sum() + x, b

    def run():
        fast = wf.jit(many, strict=False)
        x = np.arange(3.0) + D.rank()
        # One rank runs the function itself, in whatever order Python has.
        results = [fast(x) if D.rank() else many(x) for _ in range(3)]
        return [(a.tolist(), b.tolist()) for a, b in results], fast.ways["compiled"]

    found = D.spawn(run, 2, method="thread")
    assert found[0][0] == [([1, 2, 3], [1, 3, 5])] * 3 and found[1] == ([([2, 3, 4], [1, 3, 5])] * 3, 3)
    text = wf.trace(many, np.ones(3)).stablehlo()
    assert text.count("stablehlo.all_reduce") == 3 and text.count("stablehlo.all_gather") == 1


def random_program(seed):
    """Sums, products and exchanges of what came before, in loops too, some of which nothing comes of."""
    draw = np.random.default_rng(seed)
    kinds = ["add", "multiply", "exchange", "exchange", "exchange", "unused", "sum", "loop", "lost loop"]
    steps = [
        (str(draw.choice(kinds)), *draw.random(2).tolist(), str(draw.choice(["sum", "max", "min", "prod"])))
        for _ in range(draw.integers(3, 14))
    ]

    def function(*values):
        found = list(values)
        for kind, first, second, op in steps:
            a, b = found[int(first * len(found))], found[int(second * len(found))]
            if kind == "add":
                found.append(a + b)
            elif kind == "multiply":
                found.append(a * 3 + b)
            elif kind == "exchange":
                found.append(D.all_reduce(a + b, op))
            elif kind == "unused":
                D.all_reduce(a, op)
            elif kind == "sum":
                found.append(a + b.sum())
            else:
                for _ in range(11):
                    a = a + D.all_reduce(a ^ b, op)
                    D.all_gather(b)
                found += [a] * (kind == "loop")
        return tuple(found[len(values) :])

    return function


def test_random_programs_exchange_in_order():
    def run():
        for seed in range(6):
            x = np.arange(24).reshape(4, 6) * (D.rank() + 2) + seed
            f = random_program(seed)
            plain = f(x, x[::-1])
            for mode in (wf.jit, wf.simulate):
                # The other rank runs the function itself, now and then.
                got = mode(f)(x, x[::-1]) if D.rank() == 0 or seed % 2 else f(x, x[::-1])
                bitwise_same(got, plain)
        return True

    assert D.spawn(run, 2, method="thread") == [True, True]


def test_extents_that_vary_and_arrays_that_are_not_dense():
    def several(x):
        return D.all_gather(x), D.reduce_scatter(x), D.all_to_all(x, concat_axis=1), D.all_gather(x, axis=1)

    def run():
        f = wf.jit(several, dynamic={"x": {0: wf.Dim("n", 1, 8, 64)}}, strict=True)
        for n in (2, 4, 6):
            x = np.arange(n * 6.0).reshape(3, n * 2).T[::2] + D.rank()
            bitwise_same(f(x), several(x))
        with pytest.raises(ValueError, match="axis 0 must divide into 2 parts"):
            f(np.ones((3, 3), order="F"))
        return len(f.executables)

    assert D.spawn(run, 2, method="thread") == [1, 1]


def averaged(x, turns):
    for _ in range(turns):
        x = x + D.all_reduce(np.sin(x), "mean")
        x = x * 0.5
    return x


def until_small(x):
    return wf.while_loop(
        lambda v: D.all_reduce(np.abs(v).sum(), "max") > 1e-3, lambda v: v - 0.5 * D.all_reduce(v, "mean") - v * 0.25, x
    )


def test_loops_exchange_in_each_turn():
    def run():
        x = np.linspace(0, 1, 5) + D.rank()
        kept = wf.jit(averaged, static_argnames=("turns",), strict=True)
        got = kept(x, turns=40)
        assert np.allclose(got, averaged(x, 40), rtol=1e-14)
        assert wf.trace(averaged, x, 40).stablehlo().count("stablehlo.all_reduce") == 1
        y = np.array([1.0, -0.5]) * (1 + D.rank())
        plain = until_small(y)
        assert np.allclose(wf.jit(until_small, strict=True)(y), plain, rtol=1e-12)
        return True

    assert D.spawn(run, 2, method="thread") == [True, True]


def decided(x):
    return wf.cond(D.all_reduce(x).sum() > 3, lambda v: D.all_reduce(v, "max"), lambda v: v - D.all_gather(v).sum(), x)


def for_nobody(x):
    y = x
    for _ in range(20):
        D.all_reduce(x)
    for _ in range(20):
        y = y + D.all_reduce(y)
    return x + 1


def test_branches_and_loops_of_which_nothing_comes_exchange():
    def run():
        x = np.ones(2) + D.rank()
        for f, compiled in ((decided, wf.jit(decided, strict=True)), (for_nobody, wf.jit(for_nobody, strict=True))):
            for scale in (0.1, 1.0):
                plain = f(x * scale)
                bitwise_same([compiled(x * scale)], [plain])
                bitwise_same([compiled(x * scale) if D.rank() else f(x * scale)], [plain])
        return wf.trace(for_nobody, x).stablehlo().count("stablehlo.all_reduce")

    assert D.spawn(run, 2, method="thread") == [21, 21]


def test_ranks_share_a_function():
    fast = wf.jit(lambda x: (D.all_reduce(x * (D.rank() + 1)), D.rank(), D.size()), strict=False)
    run = lambda: [(a.tolist(), rank, size) for a, rank, size in (fast(np.ones(2)) for _ in range(3))]
    assert D.spawn(run, 2, method="thread") == [[([3.0, 3.0], rank, 2)] * 3 for rank in range(2)]
    assert D.spawn(run, 3, method="thread") == [[([6.0, 6.0], rank, 3)] * 3 for rank in range(3)]
    assert fast(np.ones(2))[1:] == (0, 1) and fast.ways["plain"] == 0


def test_values_that_were_exchanged_may_decide():
    def step(x):
        total = D.all_reduce(x).sum()
        return x * 2 if total > 3 else x - 1

    def run():
        fast = wf.jit(step, strict=False)
        return [fast(np.full(2, scale) + D.rank()).tolist() for scale in (0.0, 1.0, 0.0)]

    assert D.spawn(run, 2, method="thread") == [[[-1, -1], [2, 2], [-1, -1]], [[0, 0], [4, 4], [0, 0]]]


def test_values_before_may_decide():
    def step(x):
        y = D.all_reduce(x)
        return y * 2 if x.sum() > 1 else y - 1

    def run():
        fast = wf.jit(step, strict=False)
        return [fast(np.full(2, scale + 0.0)).tolist() for scale in (0, 1, 0)], fast.ways["plain"]

    assert D.spawn(run, 2, method="thread") == [([[-1, -1], [4, 4], [-1, -1]], 0)] * 2


def test_tensors_exchange():
    def run():
        x = wf.asarray(np.arange(3.0)) + D.rank()
        y = D.all_reduce(x * 2)
        assert type(y) is wf.Tensor and y.is_computed
        return (y + 1).numpy().tolist()

    assert D.spawn(run, 2, method="thread") == [[3.0, 7.0, 11.0]] * 2


@pytest.mark.parametrize("mode", [wf.jit, wf.simulate, lambda f: lambda x: wf.compile(f, x)(x)])
def test_mismatches_name_both_lines(mode):
    def disagree():
        first = D.rank()
        f = (lambda x: D.all_reduce(x)) if first else (lambda x: D.all_gather(x))
        with pytest.raises(wf.errors.ExecutionError) as caught:
            mode(f)(np.ones(3))
        assert caught.value.label == "collective_mismatch"
        return str(caught.value)

    for text in D.spawn(disagree, 2, method="thread"):
        assert "all_gather of float64[3]" in text and "all_reduce sum of float64[3]" in text
        assert text.count("test_distributed_programs.py:") >= 2


def test_errors_of_calls():
    f = wf.jit(lambda x: D.all_reduce(x, group=[0, 7]))
    for call in (f, lambda x: wf.compile(lambda x: D.all_reduce(x, group=[0, 7]), x)(x)):
        with pytest.raises(ValueError, match="must be a rank from 0 to 0, got 7") as caught:
            call(np.ones(2))
        assert "test_distributed_programs.py" in str(caught.value)
    with pytest.raises(TypeError, match="mean_dtype"):
        wf.jit(lambda x: D.all_reduce(x, "mean"))(np.ones(2, int))
    with pytest.raises(ValueError, match="op must be"):
        wf.jit(lambda x: D.all_reduce(x, "median"))(np.ones(2))
    with pytest.raises(ValueError, match="the root must be a rank of the group"):
        wf.jit(lambda x: D.broadcast(x, 3))(np.ones(2))
    with pytest.raises(ValueError, match="axis must be one of 1"):
        wf.jit(lambda x: D.all_gather(x, axis=2))(np.ones(2))


def test_a_rank_that_ends_is_named():
    def run():
        f = wf.jit(lambda x: D.all_reduce(x) + D.all_reduce(x * 2))
        if D.rank() == 1:
            return "gone"
        with pytest.raises(wf.errors.ExecutionError, match="rank 1") as caught:
            f(np.ones(2))
        return caught.value.label

    assert D.spawn(run, 2, method="thread", timeout=20) == ["rank_ended", "gone"]


# -- text --------------------------------------------------------------------------------------------------------------

TEXTS = {
    "all_reduce": '%0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>, use_global_device_ids}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.maximum %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<4x2xf32>',
    "ragged": '%0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<4x2xf32>',
    "of all": '%0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<4x2xf32>',
    "by a body": '%0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[2, 0, 1, 3]]> : tensor<1x4xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %d = stablehlo.subtract %b, %a : tensor<f32> %s = stablehlo.multiply %d, %a : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<4x2xf32>',
    "scattered by a body": '%0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.subtract %b, %a : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<4x1xf32>',
    "reduce_scatter": '%0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = stablehlo.add %a, %b : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<4x2xf32>) -> tensor<1x2xf32>',
    "all_gather": '%0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x2xf32>) -> tensor<4x4xf32>',
    "all_to_all": '%0 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x2xf32>) -> tensor<1x8xf32>',
    "permute": '%0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 2], [3, 3]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>',
    "broadcast": '%0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[2, 1], [0, 3]]> : tensor<2x2xi64>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>',
}  # fmt: skip


def body(a, b):
    return (b - a) * a


def joined(op, rows, each):
    found = {}
    for row in rows:
        found.update({rank: op([each[r] for r in row], row.index(rank)) for rank in row})
    return found


def folded(op):
    def run(arrays, _):
        result = arrays[0]
        for array in arrays[1:]:
            result = op(result, array)
        return result

    return run


#: By text: what rank r has of the arrays of all.
WANTED = {
    "all_reduce": lambda a: joined(folded(np.maximum), [[0, 1], [3, 2]], a),
    "ragged": lambda a: joined(folded(np.add), [[0, 1, 2], [3]], a),
    "of all": lambda a: joined(folded(np.add), [[0, 1, 2, 3]], a),
    "by a body": lambda a: joined(folded(body), [[2, 0, 1, 3]], a),
    "scattered by a body": lambda a: joined(
        lambda arrays, i: np.split(folded(lambda x, y: y - x)(arrays, i), 2, 1)[i], [[1, 0], [2, 3]], a
    ),
    "reduce_scatter": lambda a: joined(lambda arrays, i: folded(np.add)(arrays, i)[i : i + 1], [[0, 1, 2, 3]], a),
    "all_gather": lambda a: joined(lambda arrays, i: np.concatenate(arrays, 1), [[0, 3], [1, 2]], a),
    "all_to_all": lambda a: joined(
        lambda arrays, i: np.concatenate([x[i : i + 1] for x in arrays], 1), [[0, 1, 2, 3]], a
    ),
    "permute": lambda a: {0: np.zeros_like(a[0]), 1: a[0], 2: a[1], 3: a[3]},
    "broadcast": lambda a: joined(lambda arrays, i: arrays[0], [[2, 1], [0, 3]], a),
}


def module_of(name):
    call = TEXTS[name]
    result = call.rsplit("-> ", 1)[1]
    return f"func.func @main(%x: tensor<4x2xf32>) -> {result} {{\n  {call}\n  return %0 : {result}\n}}\n"


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_printed_and_run(name):
    graph = wf.stablehlo.parse(module_of(name))
    printed = graph.stablehlo(locations=False)
    assert wf.stablehlo.parse(printed).stablehlo(locations=False) == printed
    arrays = [np.random.default_rng(r).integers(-4, 5, (4, 2)).astype(np.float32) for r in range(4)]
    run = lambda: (wf.compile(graph)(arrays[D.rank()]), wf.simulate(graph)(arrays[D.rank()]))
    wanted = WANTED[name](arrays)
    for rank, found in enumerate(D.spawn(run, 4, method="thread")):
        for got in found:
            np.testing.assert_array_equal(got, wanted[rank])


@pytest.mark.parametrize("name", TEXTS)
def test_other_tools_read_what_is_printed(name):
    unnamed = lambda text: re.sub(r'weft.name = "\w+"', "", wf.stablehlo.parse(text).stablehlo(locations=False))
    wanted = unnamed(module_of(name))
    for text in (module_of(name), wf.stablehlo.parse(module_of(name)).stablehlo()):
        assert [unnamed(form) for form in forms_of_jaxlib(text)] == [wanted] * 4


#: Runs programs of a file among four devices of XLA's, and writes what each gives.
BY_XLA = """
import os, sys
os.environ.update(XLA_FLAGS="--xla_force_host_platform_device_count=4", JAX_PLATFORMS="cpu")
import jax, numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jaxlib import xla_client
from jaxlib.mlir import ir

devices = jax.devices("cpu")
given = np.load(sys.argv[1])
rows = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), "x"), jax.sharding.PartitionSpec("x"))
whole = jax.make_array_from_single_device_arrays((16, 2), rows, [jax.device_put(a, d) for a, d in zip(given["arrays"], devices)])
found = {}
for name in given:
    if name == "arrays":
        continue
    with mlir.make_ir_context():
        options = compiler.get_compile_options(num_replicas=4, num_partitions=1)
        module = ir.Module.parse(str(given[name]))
        executable = devices[0].client.compile_and_load(module, xla_client.DeviceList(tuple(devices)), options)
    found[name] = [np.asarray(out) for out in executable.execute_sharded([whole]).disassemble_into_single_device_arrays()[0]]
np.savez(sys.argv[2], **found)
"""
#: What XLA does not run on CPUs.
NOT_BY_XLA = {"by a body", "scattered by a body", "broadcast"}


def test_xla_gives_the_same_among_four_devices(tmp_path):
    arrays = [np.random.default_rng(r).integers(-4, 5, (4, 2)).astype(np.float32) for r in range(4)]
    texts = {name: wf.stablehlo.parse(module_of(name)).stablehlo() for name in TEXTS if name not in NOT_BY_XLA}
    np.savez(tmp_path / "given.npz", arrays=arrays, **texts)
    subprocess.run([sys.executable, "-c", BY_XLA, tmp_path / "given.npz", tmp_path / "found.npz"], check=True)
    found = np.load(tmp_path / "found.npz")
    for name in texts:
        for rank, got in enumerate(found[name]):
            np.testing.assert_array_equal(got, WANTED[name](arrays)[rank], name)


def test_a_mean_is_a_sum_for_other_tools():
    f = lambda x: D.all_reduce(x, "mean", [[0, 1]])
    graph = wf.trace(f, np.ones(3, ml_dtypes.bfloat16))
    assert '"weft.all_reduce"' in graph.mlir() and "mean=true" in wf.stablehlo.parse(graph.mlir()).text("flat")
    text = graph.stablehlo()
    assert '"stablehlo.all_reduce"' in text and '"weft.all_reduce"' not in text
    assert forms_of_jaxlib(text)
    run = lambda: wf.compile(wf.stablehlo.parse(text))(np.full(3, 1.37, ml_dtypes.bfloat16) * (1 + D.rank())).tobytes()
    eager = lambda: D.all_reduce(np.full(3, 1.37, ml_dtypes.bfloat16) * (1 + D.rank()), "mean").tobytes()
    assert D.spawn(run, 2, method="thread") == D.spawn(eager, 2, method="thread")


def test_every_operation_among_ranks_is_tried():
    ops = {row["name"] for row in _core.op_table() if row["family"] == "collective"}
    assert ops == {re.search(r"stablehlo\.(\w+)", text)[1] for text in TEXTS.values()} | {"partition_id", "replica_id"}


def test_numbers_of_ranks():
    text = "func.func @main() -> (tensor<ui32>, tensor<ui32>) {\n  %0 = stablehlo.replica_id : tensor<ui32>\n  %1 = stablehlo.partition_id : tensor<ui32>\n  return %0, %1 : tensor<ui32>, tensor<ui32>\n}"
    graph = wf.stablehlo.parse(text)
    run = lambda: [int(value) for value in (*wf.compile(graph)(), *wf.simulate(graph)())]
    assert D.spawn(run, 3, method="thread") == [[rank] * 4 for rank in range(3)]


@pytest.mark.parametrize(
    ("call", "label"),
    [
        ('"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>', "all_gather_replica_groups"),
        ('"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>', "all_gather_replica_groups"),
        ('"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "tensor<8xf32>"),
        ('"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4xf32>) -> tensor<8xf32>', "two dimensions"),
        ('"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, use_global_device_ids, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>', "all_gather_channel_handle"),
        ('"stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "all_to_all_c2"),
        ('"stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "all_to_all_c4"),
        ('"stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "collective_permute_c2"),
        ('"stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "collective_permute_c3"),
        ('"stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>', "collective_permute_c4"),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit_are_refused(call, label):
    result = call.rsplit("-> ", 1)[1]
    with pytest.raises((TypeError, ValueError), match=re.escape(label)):
        wf.stablehlo.parse(
            f"func.func @main(%x: tensor<4xf32>) -> {result} {{\n  %0 = {call}\n  return %0 : {result}\n}}"
        )


# -- programs that travel ----------------------------------------------------------------------------------------------


def test_saved_programs_exchange(tmp_path):
    def save():
        exe = wf.compile(lambda x: D.all_reduce(x, "mean") * 2, np.ones(3, np.float32))
        if D.rank() == 0:
            exe.save(tmp_path / "mean.weft")

    D.spawn(save, 2, method="thread")
    exe = wf.load(tmp_path / "mean.weft")

    def run():
        x = np.full(3, 1.0 + D.rank(), np.float32)
        return exe(x).tolist(), exe.run_async(x).wait().tolist()

    assert D.spawn(run, 2, method="thread") == [([3.0] * 3, [3.0] * 3)] * 2
    with pytest.raises(ValueError, match="must be a rank from 0 to 0"):
        exe(np.ones(3, np.float32))


def test_programs_in_c_exchange_nothing(tmp_path):
    with pytest.raises(wf.errors.UnsupportedError, match="collective"):
        wf.compile(lambda x: D.all_reduce(x), np.ones(3)).export(tmp_path, "f")


# -- training ----------------------------------------------------------------------------------------------------------


def gradient(w, x, y):
    h = np.tanh(x @ w[0])
    error = h @ w[1] - y
    return [x.T @ ((error @ w[1].T) * (1 - h * h)) / len(x), h.T @ error / len(x)]


def sgd_step(w0, w1, x, y):
    steps = gradient((w0, w1), x, y)
    return [w - 0.1 * D.all_reduce(step, "mean") for w, step in zip((w0, w1), steps, strict=True)]


def trained(turns=10):
    rng = np.random.default_rng(3)
    w = [rng.normal(size=(6, 8)), rng.normal(size=(8, 2))]
    x, y = rng.normal(size=(16, 6)), rng.normal(size=(16, 2))
    part = 16 // D.size()
    own = slice(part * D.rank(), part * (D.rank() + 1))
    step = wf.jit(sgd_step)
    for _ in range(turns):
        w = step(*w, x[own], y[own])
    return w, step.ways


@pytest.mark.parametrize("method", ["thread", "fork"])
def test_two_ranks_train_as_one_process_with_all_data(method):
    alone, _ = trained()
    (first, ways), (second, _) = D.spawn(trained, 2, method=method)
    assert ways["compiled"] == 10
    for a, b, c in zip(first, second, alone, strict=True):
        assert a.tobytes() == b.tobytes()
        np.testing.assert_allclose(a, c, rtol=1e-12, atol=1e-13)


def test_threads_that_are_no_ranks_are_ranks_alone():
    found = []
    thread = threading.Thread(target=lambda: found.append(wf.jit(lambda x: D.all_reduce(x))(np.ones(2)).tolist()))
    thread.start()
    thread.join()
    assert found == [[1.0, 1.0]]
