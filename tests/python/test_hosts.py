"""Ranks of several hosts, which are network namespaces of this one with names and addresses of their own: torchrun and MPI over TCP."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_carriers import MPIEXEC, digest, environment, needs_mpi, needs_torch, program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make network namespaces"),
    pytest.mark.skipif(
        not all(map(shutil.which, ("ip", "unshare", "mount"))), reason="needs ip and unshare: apt install iproute2"
    ),
]

#: One for each launch: those of the last may not be free yet.
PORTS = itertools.count(29511)

#: What launchers call as they would ssh: options, a host, a command.
ENTER = """#!/bin/sh
while case "$1" in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts --mount sh -c "hostname $host; mount --bind {names} /etc/hosts; $*"
"""


class Hosts:
    """Two hosts, joined by a link."""

    def __init__(self, folder: Path) -> None:
        self.names = [f"weft-{os.getpid()}-{i}" for i in range(2)]
        self.enter = folder / "enter"
        addresses = [f"10.231.77.{i + 1}" for i in range(2)]
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(map("{} {}\n".format, addresses, self.names)))
        self.enter.write_text(ENTER.format(names=folder / "hosts"))
        self.enter.chmod(0o755)
        for name in self.names:
            ip("netns", "add", name)
        ip(
            "link",
            "add",
            "weft0",
            "netns",
            self.names[0],
            "type",
            "veth",
            "peer",
            "name",
            "weft1",
            "netns",
            self.names[1],
        )
        for i, (name, address) in enumerate(zip(self.names, addresses, strict=True)):
            ip("-n", name, "address", "add", f"{address}/24", "dev", f"weft{i}")
            for link in ("lo", f"weft{i}"):
                ip("-n", name, "link", "set", link, "up")

    def close(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def on_each(self, command: Callable[[int], str], fails: tuple[int, ...] = (), **variables: str) -> str:
        """What a command of each host writes, all at once."""
        processes = [
            subprocess.Popen(
                [str(self.enter), name, command(i)],
                env=environment(**variables),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for i, name in enumerate(self.names)
        ]
        try:
            told = [process.communicate(timeout=200) for process in processes]
        finally:
            for process in processes:
                process.terminate()
        for i, (process, (out, err)) in enumerate(zip(processes, told, strict=True)):
            assert i in fails or process.returncode == 0, out + err
        return "".join(out for out, _ in told)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    try:
        made = Hosts(tmp_path_factory.mktemp("hosts"))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr}")
    yield made
    made.close()


# -- in each rank -----------------------------------------------------------------------------------------------------


def check_group() -> None:
    """The process group of torch, whose ranks are on both hosts."""
    import test_torch_process_group as group

    group.dist.init_process_group("weftwork")
    assert group.dist.group.WORLD._gloo is not None
    for check in (group.check_sizes, group.check_several, group.check_messages, group.check_objects):
        check()
    group.check_compiled((group.torch.float32,))
    group.dist.destroy_process_group()


# -- on both hosts ----------------------------------------------------------------------------------------------------


def with_torchrun(hosts: Hosts, tmp_path: Path, module: str, call: str) -> str:
    script = tmp_path / "script.py"
    script.write_text(f"import {module}; {module}.{call}")
    run = f"{sys.executable} -m torch.distributed.run --nnodes 2 --nproc-per-node 2 --master-addr {hosts.names[0]}"
    port = next(PORTS)
    return hosts.on_each(lambda host: f"exec {run} --master-port {port} --node-rank {host} {script}")


@needs_torch
@pytest.mark.parametrize(
    "module, call", [("test_carriers", "check_disagreement('auto')"), ("test_carriers", "check_late('auto')"), ("test_hosts", "check_group()")]
)  # fmt: skip
def test_checks_pass_under_torchrun(hosts: Hosts, tmp_path: Path, module: str, call: str) -> None:
    with_torchrun(hosts, tmp_path, module, call)


@needs_torch
def test_collectives_under_torchrun_have_the_same_bits(hosts: Hosts, tmp_path: Path) -> None:
    told = with_torchrun(hosts, tmp_path, "test_carriers", "check_everything('auto', 3)")
    assert told.split() == [digest(4)] * 4


@needs_torch
def test_a_killed_rank_is_named_on_the_other_host(hosts: Hosts) -> None:
    variables = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_PORT": str(next(PORTS))}
    [python, option, code] = program("check_killed('torch')")
    command = lambda host: f'RANK={host} exec {python} {option} "{code}"'
    hosts.on_each(command, fails=(1,), MASTER_ADDR=hosts.names[0], **variables)


@needs_mpi
@pytest.mark.parametrize("call", ["check_everything('auto', 3)", "check_disagreement('auto')", "check_late('auto')"])
def test_checks_pass_under_mpi(hosts: Hosts, call: str) -> None:
    version = subprocess.run([str(MPIEXEC), "--version"], capture_output=True, text=True).stdout
    mpich = f"-launcher ssh -launcher-exec {hosts.enter} -hosts"
    open_mpi = f"--prtemca plm_ssh_agent {hosts.enter} -x PYTHONPATH --map-by ppr:2:node --host"
    options = open_mpi if "Open MPI" in version else mpich
    places = ",".join(f"{name}:2" for name in hosts.names)
    [python, option, code] = program(call)
    code = f"from weftwork.distributed.launch import launched; assert launched().local_size == 2; {code}"
    command = [str(hosts.enter), hosts.names[0], f'exec {MPIEXEC} {options} {places} -n 4 {python} {option} "{code}"']
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "everything" not in call or done.stdout.split() == [digest(4)] * 4
