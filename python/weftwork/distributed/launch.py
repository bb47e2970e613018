"""What launchers tell the processes that they begin: torchrun, Open MPI, MPICH, Slurm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ArgumentValueError

__all__ = ["Launch", "launched"]


@dataclass(frozen=True)
class Launch:
    """Which of how many processes this is; ``key`` is the same in all processes of one launch, and in no other."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    #: Processes on this host.
    local_size: int = 1
    key: str = ""
    launcher: str = "none"


@dataclass(frozen=True)
class Variables:
    """The names of a launcher's variables; of several the first that is set counts."""

    launcher: str
    rank: str
    size: str
    local_rank: tuple[str, ...]
    local_size: tuple[str, ...]
    #: All that are set make the key; where none is, the parent process does, which started the others too.
    key: tuple[str, ...]


LAUNCHERS = (
    Variables(
        "torchrun", "RANK", "WORLD_SIZE", ("LOCAL_RANK",), ("LOCAL_WORLD_SIZE",),
        ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"),
    ),
    Variables(
        "openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ("OMPI_COMM_WORLD_LOCAL_RANK",), ("OMPI_COMM_WORLD_LOCAL_SIZE",),
        ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    ),
    Variables("mpich", "PMI_RANK", "PMI_SIZE", ("MPI_LOCALRANKID", "PMI_LOCAL_RANK"), ("MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"), ("PMI_JOBID",)),
    Variables("slurm", "SLURM_PROCID", "SLURM_NTASKS", ("SLURM_LOCALID",), (), ("SLURM_JOB_ID", "SLURM_STEP_ID")),
)  # fmt: skip


def launched(environment: Mapping[str, str] | None = None) -> Launch:
    """What the variables of the environment say; one process where none of a launcher is set.

    >>> from weftwork.distributed.launch import launched
    >>> launched({"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4", "MASTER_PORT": "29500"}).rank
    1
    """
    environment = os.environ if environment is None else environment
    for names in LAUNCHERS:
        if names.rank in environment and names.size in environment:
            return launch_of(names, environment)
    return Launch()


def launch_of(names: Variables, environment: Mapping[str, str]) -> Launch:
    rank, size = number(environment, names.rank), number(environment, names.size)
    local_rank = next((number(environment, name) for name in names.local_rank if name in environment), rank)
    # Slurm writes "4(x2)", or "4,3": how many on each host; one host has all where it says one number.
    tasks = environment.get("SLURM_TASKS_PER_NODE", str(size))
    local_size = int(tasks) if tasks.isdecimal() and names.launcher == "slurm" else size
    local_size = next((number(environment, name) for name in names.local_size if name in environment), local_size)
    if not 0 <= rank < size:
        raise ArgumentValueError(f"{names.rank} must be from 0 to {names.size} - 1, got {rank} of {size}  [launch]")
    said = [f"{name}={environment[name]}" for name in names.key if name in environment]
    return Launch(
        rank,
        size,
        local_rank,
        local_size,
        " ".join([names.launcher, *said] if said else [names.launcher, f"parent={os.getppid()}"]),
        names.launcher,
    )


def number(environment: Mapping[str, str], name: str) -> int:
    """A variable that holds a number."""
    if not environment[name].strip().isdecimal():
        raise ArgumentValueError(f"{name} must be a number, got {environment[name]!r}  [launch]")
    return int(environment[name])
