"""AWS Neuron: the HLO of a program handed to ``neuronx-cc``, the executable file (NEFF) that it makes, and NEFFs on devices."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _core
from .device import Device
from .errors import ArgumentValueError, ExecutionError
from .graph import Graph, Io

__all__ = ["Neff", "compile_neff", "is_neuron"]

FAMILIES = ("trn1", "trn1n", "inf2", "trn2", "trn3")
WEFT_MAGIC = b"\x89WEFT\r\n\x1a"
PRODUCT_NAME = Path("/sys/devices/virtual/dmi/id/product_name")


def is_neuron(target: str) -> bool:
    """Whether a target is "neuron", or "neuron:FAMILY"."""
    return target.partition(":")[0] == "neuron"


def family_of(target: str) -> str:
    """The instance family of a target: the one it names, else that of this machine, else trn2."""
    named = target.partition(":")[2]
    if ":" not in target:
        try:
            named = PRODUCT_NAME.read_text().partition(".")[0].strip()
        except OSError:
            named = ""
        return named if named in FAMILIES else "trn2"
    if named not in FAMILIES:
        raise ArgumentValueError(f"the Neuron family must be one of {list(FAMILIES)}, got {named!r}  [neuron_family]")
    return named


@dataclass(frozen=True)
class Neff:
    """A program that ``neuronx-cc`` compiled: what :func:`weftwork.load` loads on a Neuron device."""

    name: str
    #: The bytes of the NEFF file.
    content: bytes = field(repr=False)
    inputs: list[Io]
    outputs: list[Io]
    #: The instance family it is for, such as "trn2".
    family: str
    #: What the compiler wrote to its standard output and error.
    log: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the NEFF file."""
        _core.write_file(path, self.content)

    def __call__(self, *arrays: Any) -> Any:
        """Raises an :class:`ExecutionError`: it has to be on a device first."""
        raise ExecutionError(
            f"'{self.name}' is compiled for {self.family} and needs a Neuron device: save(path) writes the NEFF, which "
            "wf.load(path, device='neuron:0') runs, and nrt_load of libnrt, Spike (SpikeModel) and neuron-profile take  [neuron_device]"
        )


def on_device(graph: Graph, device: Device, target: str = "neuron") -> Any:
    """The native executable of a program compiled for a Neuron device and loaded there."""
    neff = compile_neff(graph, target if is_neuron(target) else "neuron")
    return _core.load_neff(neff.content, device, graph.core)


def load_on_device(path: str | os.PathLike[str], device: Device) -> Any:
    """The native executable of a NEFF, or of a file that :meth:`weftwork.Executable.save` wrote, on a Neuron device."""
    content = Path(path).read_bytes()
    if content.startswith(WEFT_MAGIC):
        return on_device(Graph(_core.read_package(os.fspath(path)).graph()), device)
    return _core.load_neff(content, device)


def compiler_path() -> str:
    """The compiler that WEFT_NEURONX_CC names, or ``neuronx-cc`` of PATH."""
    import shutil  # here, as below: few programs are for Neuron, and every process would pay

    named = _core.knob("neuronx_cc")
    path = shutil.which(named or "neuronx-cc")
    if path is None:
        where = (
            f"WEFT_NEURONX_CC names '{named}', which is"
            if named
            else "'neuronx-cc' is not on PATH, nor is WEFT_NEURONX_CC"
        )
        raise ExecutionError(
            f"target 'neuron' needs the Neuron compiler: {where} {'no executable file' if named else 'set'}; install it with "
            "`pip install neuronx-cc --extra-index-url https://pip.repos.neuron.amazonaws.com` (Linux, x86-64; no Neuron "
            "device is needed to compile), or save graph.hlo_proto() and compile it elsewhere  [neuron_compiler]"
        )
    return path


def compile_neff(graph: Graph, target: str) -> Neff:
    """Writes the HLO of a program, runs ``neuronx-cc compile`` on it and reads the NEFF. Options in NEURON_CC_FLAGS are
    passed on. Raises an :class:`ArgumentValueError` for extents that are symbolic, an :class:`UnsupportedError` for
    operations that HLO lacks, and an :class:`ExecutionError` when the compiler is missing or refuses the program."""
    import shlex
    import subprocess
    import tempfile

    family, compiler = family_of(target), compiler_path()
    proto = graph.hlo_proto()
    with tempfile.TemporaryDirectory(prefix="weft-neuron-") as folder:
        hlo, output = Path(folder, "hlo_module.pb"), Path(folder, "file.neff")
        hlo.write_bytes(proto)
        flags = shlex.split(os.environ.get("NEURON_CC_FLAGS", ""))
        command = [
            compiler,
            "compile",
            "--framework",
            "XLA",
            str(hlo),
            "--target",
            family,
            "--output",
            str(output),
            *flags,
        ]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise ExecutionError(f"'{compiler}' could not be run: {error}  [neuron_compiler]") from error
        log = done.stdout + done.stderr
        if done.returncode != 0 or not output.is_file():
            what = f"ended with {done.returncode}" if done.returncode else "wrote no NEFF"
            said = "\n".join(log.strip().splitlines()[-20:])
            raise ExecutionError(
                f"neuronx-cc {what} for '{graph.core.name}' and {family}; its last lines:\n{said}  [neuron_refused]"
            )
        return Neff(graph.core.name, output.read_bytes(), graph.inputs, graph.outputs, family, log)
