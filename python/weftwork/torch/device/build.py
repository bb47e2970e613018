"""Builds the native part of the device, once for a user, a torch and a Python.

torch.utils.cpp_extension knows where torch's headers are and how they want to be compiled. Its loader is not used: it keys what it
built by a name alone, and its lock stays where a process is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ... import cache
from ...errors import ExecutionError, FileError, UnsupportedError
from ..state import current, settings

__all__ = ["compiler", "load"]

NAME = "weftwork_device"
SOURCES = Path(__file__).with_name("native")
FLAGS = ["-std=c++20", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden", f"-DTORCH_EXTENSION_NAME={NAME}"]
LIBRARIES = ["torch_python", "torch", "torch_cpu", "c10"]


def compiler() -> list[str] | None:
    """The command of a C++ compiler: what CXX names, else one that is found; None where there is none."""
    given = shlex.split(os.environ.get("CXX", ""))
    for command in [given] if given else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(command[0]):
            return command
    return None


def command(to: Path) -> list[str]:
    """What compiles the native part."""
    from torch.utils import cpp_extension  # 30 ms, which nobody pays who does not build

    found = compiler()
    if found is None:
        named = os.environ.get("CXX")
        lacks = (
            f"CXX names {named!r}, which is not found"
            if named
            else "none of c++, g++, clang++ is found, and CXX names none"
        )
        raise UnsupportedError(
            f'the device "weftwork" is built at its first use, with a C++ compiler: {lacks}; torch.compile(backend="weftwork") '
            "on the CPU needs none  [torch_device_compiler]"
        )
    headers = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]]
    folders = cpp_extension.library_paths()
    return [
        *found,
        *FLAGS,
        *(f"-isystem{p}" for p in headers),
        str(SOURCES / "device.cpp"),
        "-o",
        str(to),
        *(f"-L{p}" for p in folders),
        *(f"-l{name}" for name in LIBRARIES),
    ]


def key() -> str:
    """Names what is built: by its sources and by what it is built for."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.read_bytes())
    about = [
        torch.__version__,
        torch.version.git_version,
        sys.implementation.cache_tag,
        sysconfig.get_platform(),
        *FLAGS,
    ]
    digest.update("\0".join(map(str, about)).encode())
    return digest.hexdigest()[:32]


def load() -> Any:
    """The native part as a module; built where no process of the user has done so."""
    built = key()
    with folder() as place, alone(place / f"{built}.lock"):
        path = place / f"{NAME}_{built}.so"
        if path.exists():
            with contextlib.suppress(ImportError):
                return imported(path)
            path.unlink()  # not what was built
        build(path)
        return imported(path)


def build(path: Path) -> None:
    """Compiles to a path; under another name until it is whole."""
    draft = path.with_suffix(f".{os.getpid()}.draft")
    try:
        done = subprocess.run(command(draft), capture_output=True, text=True, errors="replace")
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            told = [line for line in lines if "error" in line][:5] or lines[-5:]
            raise ExecutionError(
                f'the device "weftwork" could not be built with {shlex.join(done.args[:1])}  [torch_device_build]\n  '
                + "\n  ".join(told)
            )
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def imported(path: Path) -> Any:
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(path))
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    loader.exec_module(module)
    return module


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Where what is built lies: with the compile cache, or for this process where that is off."""
    with settings(current().options):
        found = cache.info().directory
    if found:
        place = Path(found) / "torch"
        try:
            place.mkdir(0o700, exist_ok=True)
        except OSError as error:
            raise FileError(f"{place}: {error.strerror}  [torch_device_folder]") from error
        yield place
    else:
        with tempfile.TemporaryDirectory(prefix="weftwork-") as made:
            yield Path(made)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
