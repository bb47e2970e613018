"""Ranks that exchange arrays: every collective, dtype and group against NumPy, on every communicator; failures and mismatches."""

import hashlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.util import Finalize as finalize

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork.distributed.launch import Launch, launched

SIZES = [1, 2, 3, 4, 8]
METHODS = ["thread", "fork"]
DTYPES = [
    bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64, np.complex64,
    np.complex128, ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz,
]  # fmt: skip
#: Extents whose first is twice the ranks, so that they divide: without elements, odd, and more than a slot of shared memory holds.
REST = [(3,), (0,), (5, 1)]
OPS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "mean": np.add}


def array_of(rank, shape, dtype):
    values = np.random.default_rng([rank, *shape]).integers(-3, 5, shape) * 0.75
    with np.errstate(all="ignore"):
        array = (
            values.astype(np.float32).astype(dtype)
            if np.dtype(dtype).kind != "c"
            else (values + 1j * values[..., ::-1]).astype(dtype)
        )
    if np.dtype(dtype).name in ("float32", "float64", "float16", "bfloat16") and array.size > 4:
        array.flat[rank % 4] = np.nan
    return array


def combined(op, arrays):
    """What NumPy makes of the arrays from the first to the last; narrow floats are combined in float32 and rounded once."""
    dtype = arrays[0].dtype
    narrow = dtype.name.startswith(("float8", "bfloat", "float16"))
    small = dtype.name in ("int4", "uint4")
    if narrow:
        arrays = [array.astype(np.float32) for array in arrays]
    if small:
        arrays = [array.astype(np.int8) for array in arrays]
    result = arrays[0]
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            result = OPS[op](result, array)
        if op == "mean":
            result = (result / result.dtype.type(len(arrays))).astype(result.dtype)
        if small:
            bits = result.astype(np.int64) & 15
            result = np.where((bits > 7) & (dtype.name == "int4"), bits - 16, bits).astype(np.int8)
        return result.astype(dtype)


def same(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    with np.errstate(all="ignore"):
        as_wide = lambda a: a if a.dtype.kind in "biufc" else a.astype(np.float64)
        if got.dtype.kind == "c":  # NumPy's products of complex numbers may fuse a product and a sum
            return np.testing.assert_allclose(got, wanted, rtol=8 * np.finfo(got.dtype).eps)
        np.testing.assert_array_equal(as_wide(got), as_wide(wanted))


def groups_for(size):
    yield None
    if size >= 3:
        yield [[0, 2], [1, *range(3, size)]]
        yield [list(range(size))[::-1]]


def mine(groups, size):
    groups = [list(range(size))] if groups is None else groups
    return next(group for group in groups if wf.distributed.rank() in group)


def check_collectives(dtype):
    """In each rank: every collective, for every group and shape."""
    d, rank, size = wf.distributed, wf.distributed.rank(), wf.distributed.size()
    for groups in groups_for(size):
        members = mine(groups, size)
        n, place = len(members), members.index(rank)
        for rest in REST:
            shape = (2 * n, *rest)
            arrays = {r: array_of(r, shape, dtype) for r in members}
            own, listed = arrays[rank], [arrays[r] for r in members]
            for op in OPS:
                if op == "mean" and (np.dtype(dtype).kind in "bui" or np.dtype(dtype).name in ("int4", "uint4")):
                    with pytest.raises(wf.errors.ArgumentTypeError, match="mean_dtype"):
                        d.all_reduce(own, op, groups)
                    continue
                wanted = combined(op, listed)
                same(d.all_reduce(own, op, groups), wanted)
                same(d.reduce_scatter(own, op, groups), np.split(wanted, n)[place])
            same(d.all_gather(own, groups), np.concatenate(listed))
            same(d.all_to_all(own, groups), np.concatenate([np.split(a, n)[place] for a in listed]))
            same(d.broadcast(own, members[-1], groups), arrays[members[-1]])
            moved = [np.moveaxis(a, 0, 1) for a in listed]
            same(d.all_gather(moved[place], groups, axis=-1), np.concatenate(moved, -1))
            same(d.reduce_scatter(moved[place], "sum", groups, axis=1), np.split(combined("sum", moved), n, 1)[place])
            same(
                d.all_to_all(moved[place], groups, split_axis=1),
                np.concatenate([np.split(a, n, 1)[place] for a in moved]),
            )
            check_out(groups, own, members)
        d.barrier(groups)
    check_points(dtype)


def check_out(groups, own, members):
    """``out=``: an array of its own, one that is not dense, the operand's memory, some of it, and memory that holds both."""
    d, n = wf.distributed, len(members)
    calls = [
        lambda x, out=None: d.all_reduce(x, "max", groups, out=out),
        lambda x, out=None: d.broadcast(x, members[-1], groups, out=out),
        lambda x, out=None: d.all_to_all(x, groups, out=out),
        lambda x, out=None: d.all_gather(x, groups, out=out),
        lambda x, out=None: d.reduce_scatter(x, "max", groups, out=out),
        lambda x, out=None: d.all_gather(x, groups, axis=1, out=out),
    ]
    for call in calls:
        wanted = call(own)
        both = np.zeros((n + 1) * own.size + wanted.size + 2, own.dtype)
        within = both[1 : own.size + 1].reshape(own.shape)
        for out in (
            np.empty_like(wanted),
            np.empty((*wanted.shape, 2), own.dtype)[..., 0],
            both[: wanted.size].reshape(wanted.shape),
            both[1 : wanted.size + 1].reshape(wanted.shape),
        ):
            within[...] = own
            assert call(within, out) is out
            same(out, wanted)


def test_out_is_an_array_of_the_results_type():
    d, x = wf.distributed, np.ones((2, 3))
    fixed = np.zeros((2, 3))
    fixed.flags.writeable = False
    for out in (np.ones(6), np.ones((2, 3), np.float32), fixed, wf.Tensor(x), [1.0]):
        assert outcome(lambda out=out: d.all_reduce(x, out=out))[0] == "out"
    assert outcome(lambda: d.all_gather(x, axis=1, out=np.ones((3, 2))))[0] == "out"

    @wf.jit(strict=True)
    def step(x):
        total = np.zeros_like(x)
        assert d.all_reduce(x, out=total) is total
        return d.broadcast(x, out=x) + total

    assert step(x).tolist() == [[2.0] * 3] * 2
    assert outcome(lambda: wf.jit(lambda x: d.all_reduce(x, out=np.zeros_like(x)[0]), strict=True)(x))[0] == "out"


def check_points(dtype):
    """What goes from one rank to another, scalars, and what is larger than a slot."""
    d, rank, size = wf.distributed, wf.distributed.rank(), wf.distributed.size()
    own = array_of(rank, (7,), dtype)
    pairs = [(r, r + 1) for r in range(size - 1)]
    same(d.collective_permute(own, pairs), array_of(rank - 1, (7,), dtype) if rank else np.zeros(7, dtype))
    same(d.collective_permute(own, [(0, 0)]), own if rank == 0 else np.zeros(7, dtype))
    if rank + 1 < size:
        d.send(own, rank + 1)
    if rank:
        same(d.recv(wf.spec((7,), dtype), rank - 1), array_of(rank - 1, (7,), dtype))
    same(d.all_reduce(own[3], "max"), combined("max", [array_of(r, (7,), dtype)[3] for r in range(size)]))
    same(d.all_gather(own[3]), np.stack([array_of(r, (7,), dtype)[3] for r in range(size)]))


def check_large():
    """More than slots hold; every rank has the same bits, which are those of NumPy's additions in order."""
    d, rank, size = wf.distributed, wf.distributed.rank(), wf.distributed.size()
    for count in (4097, 100_003):
        arrays = [np.random.default_rng(r).standard_normal(count * size, np.float32) for r in range(size)]
        total = arrays[0]
        for array in arrays[1:]:
            total = total + array
        assert d.all_reduce(arrays[rank]).tobytes() == total.tobytes()
        assert d.all_reduce(own := arrays[rank].copy(), out=own).tobytes() == total.tobytes()
        assert d.reduce_scatter(arrays[rank]).tobytes() == np.split(total, size)[rank].tobytes()
        same(d.all_gather(arrays[rank]), np.concatenate(arrays))
        same(d.all_to_all(arrays[rank]), np.concatenate([np.split(a, size)[rank] for a in arrays]))
        same(d.broadcast(arrays[rank], size - 1), arrays[-1])
        same(d.collective_permute(arrays[rank], [((r + 1) % size, r) for r in range(size)]), arrays[(rank + 1) % size])
        if size > 1 and rank == 0:
            d.send(arrays[0], size - 1)
        if size > 1 and rank == size - 1:
            same(d.recv(arrays[0], 0), arrays[0])
    return hashlib.sha256(total.tobytes()).hexdigest()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", SIZES)
def test_every_collective_gives_what_numpy_gives(size, method):
    def check():
        for dtype in DTYPES:
            check_collectives(dtype)

    wf.distributed.spawn(check, size, method=method, timeout=60)


@pytest.mark.parametrize("size", [*SIZES[:-1], pytest.param(SIZES[-1], marks=pytest.mark.slow)])
def test_large_arrays_have_the_same_bits_on_every_communicator(size):
    results = [wf.distributed.spawn(check_large, size, method=method, timeout=60) for method in METHODS]
    assert len({bits for result in results for bits in result}) == 1


def test_a_process_of_its_own_is_a_rank():
    # By "spawn", which finds the function by its name.
    assert wf.distributed.spawn(wf.distributed.all_reduce, 2, (np.float64(1.5),)) == [3.0, 3.0]


def test_tensors_and_buffers_come_back_as_they_are():
    def check():
        rank = wf.distributed.rank()
        total = wf.distributed.all_reduce(wf.Tensor(np.arange(3.0)) + rank)
        gathered = wf.distributed.all_gather(wf.Buffer(np.full(2, rank, np.int32)))
        column = wf.distributed.all_gather(np.arange(12).reshape(3, 4)[:, ::2][::-1], axis=1)
        return (
            type(total),
            total.tolist(),
            type(gathered),
            gathered.numpy().tolist(),
            column.tolist(),
            wf.distributed.all_reduce([1, 2]).tolist(),
        )

    part = [[8, 10], [4, 6], [0, 2]]
    wanted = (wf.Tensor, [1.0, 3.0, 5.0], wf.Buffer, [0, 0, 1, 1], [row * 2 for row in part], [2, 4])
    assert wf.distributed.spawn(check, 2, method="thread") == [wanted] * 2


# -- what does not fit -------------------------------------------------------------------------------------------------


def outcome(f):
    """The label and text of the error that it raises."""
    try:
        f()
    except wf.Error as error:
        return error.label, str(error)
    return "", ""


MISMATCHES = {
    "shape": (
        lambda d: d.all_reduce(np.ones(3)),
        lambda d: d.all_reduce(np.ones(4)),
        "all_reduce sum of float64[3]",
        "all_reduce sum of float64[4]",
    ),
    "dtype": (
        lambda d: d.broadcast(np.ones(3)),
        lambda d: d.broadcast(np.ones(3, int)),
        "broadcast of float64[3]",
        "broadcast of int64[3]",
    ),
    "op": (
        lambda d: d.all_reduce(1.0, "max"),
        lambda d: d.all_reduce(1.0, "min"),
        "all_reduce max of float64[]",
        "all_reduce min of float64[]",
    ),
    "kind": (lambda d: d.barrier(), lambda d: d.all_gather(1.0), "barrier", "all_gather of float64[]"),
    "root": (lambda d: d.broadcast(1.0, 0), lambda d: d.broadcast(1.0, 1), "from rank 0", "from rank 1"),
    "order": (
        lambda d: d.barrier([0, 1]),
        lambda d: d.barrier([1, 0]),
        "barrier among [0, 1]",
        "the order of the group",
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MISMATCHES)
def test_calls_that_do_not_agree_are_named_with_both_lines(name, method):
    first, second, *texts = MISMATCHES[name]

    def check():
        return outcome(lambda: (first if wf.distributed.rank() == 0 else second)(wf.distributed))

    for label, text in wf.distributed.spawn(check, 2, method=method, timeout=20):
        assert label == "collective_mismatch"
        assert all(each in text for each in ["rank 0:", "rank 1:", *texts])
        assert text.count(os.path.basename(__file__)) >= 2


WRONG = {
    "groups": lambda d: d.all_reduce(1.0, group=[[0, 0]]),
    "rank": lambda d: d.all_reduce(1.0, group=[0, 7]),
    "parts": lambda d: d.reduce_scatter(np.ones(3)),
    "pairs": lambda d: d.collective_permute(1.0, [(0, 1), (1, 1)]),
    "reduction": lambda d: d.all_reduce(1.0, "median"),
    "dtype": lambda d: d.all_reduce(np.array(["a"])),
    "axis": lambda d: d.all_gather(np.ones(3), axis=1),
    "array_subclass": lambda d: d.all_gather(np.ma.ones(3)),
}


@pytest.mark.parametrize("label", WRONG)
def test_arguments_that_do_not_fit_raise_at_their_line(label):
    def check():
        got, text = outcome(lambda: WRONG[label](wf.distributed))
        wf.distributed.barrier()
        return got, os.path.basename(__file__) in text

    assert wf.distributed.spawn(check, 2, method="thread", timeout=20) == [(label, True)] * 2


def test_programs_have_no_messages_within():
    with pytest.raises(wf.errors.UnsupportedError, match="barrier is no part of a program"):
        wf.trace(lambda x: (wf.distributed.barrier(), x)[1], np.ones(3))
    with pytest.raises(wf.errors.UnsupportedError, match="send is no part of a program"):
        wf.trace(lambda x: wf.distributed.send(x, 0), np.ones(3))
    with pytest.raises(wf.errors.UnsupportedError, match="spawn is no part of a program"):
        wf.trace(lambda x: wf.distributed.spawn(np.sin, 1, (x,), method="thread")[0], np.ones(3))

    def step(x):
        wf.distributed.barrier()
        return wf.distributed.all_reduce(x * 2) + 1

    assert wf.jit(step, strict=False)(np.ones(3)).tolist() == [3.0, 3.0, 3.0]
    wf.distributed.shutdown()


# -- ranks that fail -----------------------------------------------------------------------------------------------


#: What joblib names, and keeps for minutes, in tests that run beside this one.
NAMES_OF_JOBLIB = ("sem.loky-", "joblib_memmapping_folder_")


def shared_names():
    return {name for name in os.listdir("/dev/shm") if not name.startswith(NAMES_OF_JOBLIB)}


def left_over(before):
    """Names that stay; those of other tests' processes go with them."""
    end = time.monotonic() + 30
    while (names := shared_names() - before) and time.monotonic() < end:
        time.sleep(0.1)
    return names


def work_until_killed(size, victim, delay, key, rank, results):
    wf.distributed.init(rank=rank, size=size, key=key, timeout=30)
    if rank == victim:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, delay)
    x = np.ones(70_000, np.float32)
    begin = time.monotonic()
    try:
        while True:
            wf.distributed.all_reduce(x)
            wf.distributed.all_gather(x[:5])
    except wf.Error as error:
        results.put((rank, error.label, str(error), time.monotonic() - begin))


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed > 5 else ()) for seed in range(206)]
)
def test_a_rank_that_is_killed_is_named_by_all_others(seed):
    draw = random.Random(seed)
    size, before = draw.choice([2, 3, 4]), shared_names()
    victim, context = draw.randrange(size), multiprocessing.get_context("fork")
    results, key = context.Queue(), f"{os.getpid()} {seed}"
    processes = [
        context.Process(target=work_until_killed, args=(size, victim, draw.uniform(1e-4, 0.05), key, rank, results))
        for rank in range(size)
    ]
    for process in processes:
        process.start()
    told = [results.get(timeout=60) for _ in range(size - 1)]
    for process in processes:
        process.join(60)
    assert processes[victim].exitcode == -signal.SIGKILL
    for _, label, text, seconds in told:
        assert label == "rank_ended" and f"rank {victim} has ended" in text and seconds < 20
    assert not left_over(before)


def test_a_rank_that_comes_late_is_named_in_time():
    def check():
        begin = time.monotonic()
        if wf.distributed.rank() == 2:
            time.sleep(1)
        return (*outcome(lambda: wf.distributed.all_reduce(1.0)), time.monotonic() - begin)

    for label, text, seconds in wf.distributed.spawn(check, 3, method="fork", timeout=0.3):
        assert label == "rank_timeout" and "rank 2 did not come within 0.3 s" in text and seconds < 10


def test_the_child_of_a_fork_is_told_that_it_is_no_rank_also_while_another_thread_waits():
    def check():
        if wf.distributed.rank() == 1:
            time.sleep(1)
            return wf.distributed.barrier()
        waiting = threading.Thread(target=wf.distributed.barrier)
        waiting.start()
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(7 if "not its fork's" in outcome(lambda: wf.distributed.barrier())[1] else 3)
        waiting.join()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert wf.distributed.spawn(check, 2, method="fork", timeout=60) == [7, None]


def leave_a_file_at_exit(path):
    finalize(None, lambda: (time.sleep(0.3), path.write_text("left")), exitpriority=1)


def test_processes_put_away_what_they_leave(tmp_path):
    wf.distributed.spawn(leave_a_file_at_exit, 2, [tmp_path / "end"], method="fork")
    assert (tmp_path / "end").read_text() == "left"


def test_the_error_that_began_it_is_raised():
    def fail_in_one():
        if wf.distributed.rank() == 1:
            raise KeyError("mine")
        wf.distributed.barrier()

    for method in METHODS:
        with pytest.raises(KeyError, match="mine"):
            wf.distributed.spawn(fail_in_one, 3, method=method, timeout=20)

    def end_in_one():
        if wf.distributed.rank() == 1:
            os._exit(3)
        wf.distributed.barrier()

    with pytest.raises(wf.errors.ExecutionError, match="rank 1 ended with exit code 3"):
        wf.distributed.spawn(end_in_one, 3, method="fork", timeout=20)
    with pytest.raises(wf.errors.ExecutionError, match="cannot be pickled"):
        wf.distributed.spawn(lambda: lambda: 0, 2, method="fork", timeout=20)


def test_ctrl_c_ends_a_wait_and_tells_the_others():
    def check():
        if wf.distributed.rank() == 1:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                wf.distributed.barrier([1, 2])
            except KeyboardInterrupt:
                return "interrupted", ""
        if wf.distributed.rank() == 2:
            time.sleep(1)
        return outcome(lambda: wf.distributed.barrier())

    first, second, third = wf.distributed.spawn(check, 3, method="fork", timeout=60)
    assert second[0] == "interrupted"
    for label, text in (first, third):
        assert label == "rank_interrupted" and "rank 1 was interrupted" in text


# -- launchers -----------------------------------------------------------------------------------------------------

ENVIRONMENTS = [
    ({}, Launch()),
    (
        {
            "RANK": "3",
            "WORLD_SIZE": "4",
            "LOCAL_RANK": "1",
            "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "h",
            "MASTER_PORT": "5",
        },
        Launch(3, 4, 1, 2, "torchrun MASTER_ADDR=h MASTER_PORT=5", "torchrun"),
    ),
    (
        {
            "OMPI_COMM_WORLD_RANK": "1",
            "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_RANK": "1",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
            "PMIX_NAMESPACE": "j7",
        },
        Launch(1, 2, 1, 2, "openmpi PMIX_NAMESPACE=j7", "openmpi"),
    ),
    (
        {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2"},
        Launch(0, 2, 0, 2, f"mpich parent={os.getppid()}", "mpich"),
    ),
    (
        {
            "SLURM_PROCID": "5",
            "SLURM_NTASKS": "8",
            "SLURM_LOCALID": "1",
            "SLURM_JOB_ID": "9",
            "SLURM_STEP_ID": "0",
            "SLURM_TASKS_PER_NODE": "4(x2)",
        },
        Launch(5, 8, 1, 8, "slurm SLURM_JOB_ID=9 SLURM_STEP_ID=0", "slurm"),
    ),
]


@pytest.mark.parametrize(
    "environment, launch", ENVIRONMENTS, ids=lambda value: value.launcher if isinstance(value, Launch) else ""
)
def test_launchers_are_understood(environment, launch):
    assert launched(environment) == launch


def test_variables_that_are_no_numbers_are_named():
    with pytest.raises(wf.errors.ArgumentValueError, match="RANK must be a number, got 'x'"):
        launched({"RANK": "x", "WORLD_SIZE": "2"})
    with pytest.raises(wf.errors.ArgumentValueError, match="got 2 of 2"):
        launched({"RANK": "2", "WORLD_SIZE": "2"})


def test_a_program_under_a_launcher_needs_no_more_than_a_call(tmp_path):
    program = "import weftwork as wf; print(wf.distributed.all_gather(wf.distributed.rank() * 1.5).tolist())"
    package = os.path.dirname(os.path.dirname(wf.__file__))
    processes = []
    for rank in range(3):
        variables = {
            "RANK": str(rank),
            "WORLD_SIZE": "3",
            "LOCAL_RANK": str(rank),
            "MASTER_PORT": str(os.getpid()),
            "PYTHONPATH": package,
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", program], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
            )
        )
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == ["[0.0, 1.5, 3.0]"] * 3


def test_what_init_is_given_is_checked():
    wf.distributed.shutdown()
    for arguments in ({"rank": 0}, {"rank": 0, "size": 2}, {"timeout": 0}, {"carrier": "pigeon"}):
        with pytest.raises(wf.errors.ArgumentValueError):
            wf.distributed.init(**arguments)
    with pytest.raises(wf.errors.ExecutionError, match=r"ranks \[1\] of 2 did not come within 0.05 s"):
        wf.distributed.init(rank=0, size=2, key=f"{os.getpid()} nobody", timeout=0.05)


def test_threads_hand_pythons_lock_to_each_other_while_a_third_one_computes():
    done = threading.Event()
    busy = threading.Thread(target=lambda: [sum(range(100)) for _ in iter(done.is_set, True)])
    busy.start()

    def program():
        rank, sums = wf.distributed.rank(), []
        for i in range(200):
            x = np.full((4, 2000, 40_000)[i % 3], rank + i, np.float32)
            wf.distributed.all_reduce(x, out=x)
            sums.append((x == 3 * i + 3).all())
            if i % 50 == rank:
                time.sleep(0.001)
        return all(sums)

    try:
        assert wf.distributed.spawn(program, 3, method="thread", timeout=60) == [True] * 3
    finally:
        done.set()
        busy.join()
