"""Programs and executables as Python sees them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .device import Device, PendingRun, to_device
from .errors import ArgumentTypeError, ArgumentValueError
from .knobs import report_problems, target_name
from .travel import reduced_executable, reduced_graph

if TYPE_CHECKING:
    from .explain import RunProfile

__all__ = ["Executable", "Graph", "Io", "Kernel", "load"]


@dataclass(frozen=True)
class Io:
    """An input or output: name, dtype, shape (ints and symbolic extents), and for an output the number of the input whose
    memory it lands in, if any."""

    name: str
    dtype: np.dtype
    shape: tuple[Any, ...]
    alias: int | None = None


def _ios(infos: Any) -> list[Io]:
    return [Io(name, dtype, shape, None if alias < 0 else alias) for name, dtype, shape, alias in infos]


class Graph:
    """A tensor program."""

    def __init__(self, core: Any) -> None:
        self.core = core

    @property
    def inputs(self) -> list[Io]:
        """Its inputs, in order."""
        return _ios(self.core.input_infos)

    @property
    def outputs(self) -> list[Io]:
        """Its outputs, in order."""
        return _ios(self.core.output_infos)

    @property
    def aliases(self) -> dict[str, str]:
        """Output name → name of the input that it is written to."""
        inputs = self.inputs
        return {output.name: inputs[output.alias].name for output in self.outputs if output.alias is not None}

    def text(self, level: str = "trace") -> str:
        """A line for each call with dtype, shape and the user's line; level 'trace' or 'flat'."""
        return self.core.short_text(level)

    def stablehlo(self, *, locations: bool = True, **extents: int) -> str:
        """StableHLO text; symbolic extents are replaced by the values given: ``g.stablehlo(n=16)``."""
        return self.core.mlir("flat", extents, locations)

    def mlir(self, *, locations: bool = True) -> str:
        """The text of the program at its own level; :func:`weftwork.stablehlo.parse` reads it back."""
        return self.core.mlir(self.core.level, {}, locations)

    def hlo_proto(self, **extents: int) -> bytes:
        """A serialized ``xla.HloModuleProto``, which XLA and the compilers built on it read; symbolic extents are replaced
        by the values given: ``g.hlo_proto(n=16)``. The root is the output, or a tuple of several; parameters and outputs
        keep their names, aliases and the user's lines are in it. Raises a :class:`ValueError` for extents that stay symbolic
        and a :class:`NotImplementedError` naming the operation or element type that HLO lacks."""
        return _core.hlo_proto(self.core.substitute(extents) if extents else self.core)

    def function(self, name: str = "main") -> Graph:
        """The function of that name, of a module with several."""
        candidates = [self.core, *self.core.functions]
        for core in candidates:
            if core.name == name or (name == "main" and core is self.core):
                return Graph(core)
        raise ArgumentValueError(
            f"no function '{name}', there are {[core.name for core in candidates]}  [function_name]"
        )

    def interpret(self, *arrays: Any) -> Any:
        """Runs by the reference interpreter; one output, or a tuple of them."""
        results = [array.copy() for array in self.core.interpret([np.asarray(a) for a in arrays])]
        return results[0] if len(results) == 1 else tuple(results)

    def __reduce__(self) -> Any:
        return reduced_graph(self)

    def __copy__(self) -> Graph:
        return self  # as a text's copy is: nothing changes it

    def __deepcopy__(self, memo: Any) -> Graph:
        return self

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return self.text(self.core.level)


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel: its symbol, the user's line of what it stores, the ops it does, how often a run launches it, and the
    user's lines of all that it does."""

    name: str
    source: str
    ops: tuple[str, ...]
    launches: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Exported:
    """The files of an exported program: object file, C header, and the library to link with it."""

    object: str
    header: str
    library: str


def support_library() -> str:
    """The library that exported programs are linked with."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "libweft_support.a")


class Executable:
    """A compiled program; call it with an array for each input."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def inputs(self) -> list[Io]:
        """Its inputs, in order."""
        return _ios(self._core.input_infos)

    @property
    def outputs(self) -> list[Io]:
        """Its outputs, in order."""
        return _ios(self._core.output_infos)

    @property
    def target(self) -> str:
        """The kind of CPU that its machine code is for: 'native', 'avx512', 'avx2' or 'x86-64'."""
        return self._core.target

    @property
    def device(self) -> Device:
        """Where it runs."""
        return self._core.device

    @property
    def kernels(self) -> list[Kernel]:
        """Its kernels, in the order of their first launch."""
        return [Kernel(*info) for info in self._core.kernel_infos]

    @property
    def memory(self) -> dict[str, Any]:
        """Bytes: 'arena' for a run, 'persistent' for constants prepared once, 'code'."""
        return self._core.memory

    @property
    def times(self) -> dict[str, float]:
        """Milliseconds that each stage of compiling took, of the code that the first run used."""
        return self._core.times

    @property
    def cuts(self) -> list[str]:
        """Why fusion stopped where it did."""
        return [f"{op} ({source}): {reason}" for op, source, reason, _ in self._core.cut_infos]

    def __call__(self, *arrays: Any) -> Any:
        """Runs with an array for each input: NumPy arrays, buffers, and whatever has ``__dlpack__`` or the buffer protocol, used
        where they lie where they are dense. One result, or a tuple of them: buffers where any argument is a
        :class:`weftwork.Buffer`, else NumPy arrays; an input that the program writes is itself the result."""
        return _core.call(self._core, arrays)

    def run_async(self, *arrays: Any) -> PendingRun:
        """Begins a run, after those begun before on the same device, and returns at once; ``wait()`` of what it returns, or
        ``await``, gives what the call gives. The arrays are held until then and must not be written meanwhile; those that the
        program writes must be dense. Wrong arguments raise here, a run that fails raises where it is waited for. Threads that a
        scope of :class:`weftwork.knobs` sets hold for the run. Runs that have not begun when Python exits are dropped."""
        return _core.run_async(self._core, arrays)

    def benchmark(self, *arrays: Any, warmup: int = 5, iters: int = 50) -> dict[str, float]:
        """Seconds for a run with these arrays (zeros where none are given and no extent is symbolic): 'min', 'mean', 'median',
        'p90', 'p99' and 'max'. Measured outside of Python, into results that there are, with the GIL released."""
        return _core.benchmark(self._core, self._measured(arrays, warmup, iters), warmup, iters)

    def profile(self, *arrays: Any, warmup: int = 2, iters: int = 10) -> RunProfile:
        """Runs with these arrays (zeros where none are given and no extent is symbolic) and tells what each kernel took: a
        table by ``str()``, its rows as ``.kernels``."""
        from .explain import run_profile

        return run_profile(self, self._measured(arrays, warmup, iters), warmup, iters)

    def _measured(self, arrays: tuple[Any, ...], warmup: int, iters: int) -> tuple[Any, ...]:
        """Arrays to measure runs with."""
        if not (isinstance(iters, int) and isinstance(warmup, int)):
            raise ArgumentTypeError(f"iters and warmup must be integers, got {iters!r} and {warmup!r}  [benchmark]")
        if not (1 <= iters < 1 << 31 and 0 <= warmup < 1 << 31):
            raise ArgumentValueError(
                f"iters must be at least 1 and warmup at least 0, below 2**31, got {iters} and {warmup}  [benchmark]"
            )
        if not arrays:
            if any(not isinstance(extent, int) for io in self.inputs for extent in io.shape):
                raise ArgumentTypeError("a program with symbolic extents needs arrays to be measured with  [benchmark]")
            arrays = tuple(np.zeros(io.shape, io.dtype) for io in self.inputs)
        return arrays

    def save(self, path: str | os.PathLike[str], *, targets: Sequence[str] = ()) -> None:
        """Writes it to a file that :func:`weftwork.load` reads, named ``….weft`` by custom: signature, machine code,
        constants, and the program as StableHLO. The file appears whole or not at all. Raises an :class:`OSError` where it
        cannot be written.

        ``targets`` are the kinds of CPU to have machine code for: "avx512", "avx2", "x86-64" (any CPU), "native"; this machine
        need be none of them. The constants are in the file once. Without ``targets`` there is the code for :attr:`target`.
        """
        if isinstance(targets, str):
            raise ArgumentTypeError(f"targets must be a sequence of names, got {targets!r}  [target_names]")
        self._core.save(os.fspath(path), list(targets))

    def export(self, folder: str | os.PathLike[str], name: str, *, target: str | None = None) -> Exported:
        """Compiles it into an object file and a C header, ``name.o`` and ``name.h`` in the folder, for programs that have
        neither Python nor Weftwork: ``gcc main.c name.o libweft_support.a -lpthread -lm``. ``name`` is the C function's; the
        header says what it takes and returns. ``target`` is the kind of CPU, as in :func:`weftwork.compile`; the one that this
        was compiled for where it is not given.

        Raises a :class:`ValueError` for a name that C has no use for, a :class:`NotImplementedError` for programs that call
        what C programs would lack (sorting, routines of linear algebra, custom operations), and an :class:`OSError` where the
        files cannot be written.

        >>> import tempfile, numpy as np, weftwork as wf
        >>> files = wf.compile(lambda x: x * 2, np.ones(3, np.float32)).export(tempfile.mkdtemp(), "twice")
        >>> [line.strip() for line in open(files.header) if "const float*" in line]
        ['const float* x,']
        """
        code, header = _core.export_object(self._core.graph, name, target or self.target)
        stem = os.path.join(os.fspath(folder), name)
        _core.write_file(stem + ".o", code)
        _core.write_file(stem + ".h", header.encode())
        return Exported(stem + ".o", stem + ".h", support_library())

    def __reduce__(self) -> Any:
        return reduced_executable(self)

    def __copy__(self) -> Executable:
        return self

    def __deepcopy__(self, memo: Any) -> Executable:
        return self

    def __repr__(self) -> str:
        return f"<weftwork.Executable {self._core.name}: {len(self.inputs)} inputs, {len(self.kernels)} kernels>"


def load(path: str | os.PathLike[str], *, device: Device | str | None = None) -> Executable:
    """Reads an executable that :meth:`Executable.save` wrote; its constants stay in the file's memory, which must not be
    changed in place. Of the kinds of CPU that the file has machine code for, the best that this CPU (or the setting
    WEFT_TARGET) allows is taken; where there is none, its program is compiled anew.

    Loading a file is running code: load only files you trust. Raises an :class:`OSError` where it is no such file, cut
    short, or damaged. ``device`` is where it will run, a :class:`weftwork.Device` or its name; "cpu:0" where it is not given.
    A Neuron device takes a NEFF, whose inputs and outputs are in the order of their names, or a saved executable, whose program
    goes to ``neuronx-cc``.

    >>> import os, tempfile, numpy as np, weftwork as wf
    >>> path = os.path.join(tempfile.mkdtemp(), "double.weft")
    >>> wf.compile(lambda x: x * 2, np.ones(3)).save(path)
    >>> wf.load(path)(np.arange(3.0))
    array([0., 2., 4.])
    """
    report_problems()
    where = to_device(device)
    if where.kind == "neuron":
        from .neuron import load_on_device

        return Executable(load_on_device(path, where))
    target = target_name()
    return Executable(_core.load(os.fspath(path), "native" if target.startswith("neuron") else target, where))
