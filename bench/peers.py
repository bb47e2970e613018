"""How each peer is given a workload: the call to time, and its results as NumPy arrays."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.util
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.iree_peer import Iree
from bench.loops import LOOPS
from bench.numba_peer import Numba
from bench.openvino_peer import OpenVino
from bench.prepared import Prepared, Weights, as_module, bound, from_torch, to_torch, with_written
from bench.workload import Workload, leaves, provide

OURS = "weftwork"


class NumPy:
    def __init__(self, threads: int) -> None:
        pass  # its threads are set by the environment

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        function = bound(work.numpy, weights)
        return Prepared(lambda: function(*args), with_written(work, args))


class Weftwork:
    def __init__(self, threads: int) -> None:
        import weftwork

        weftwork.set_num_threads(threads)
        self.weftwork, self.threads, self.jitted = weftwork, threads, None

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        function = work.ours or work.numpy
        if weights is not None and work.traced_weights:
            compiled = self.weftwork.jit(function)
            self.jitted = jitted = functools.partial(compiled, weights)
            return Prepared(lambda: jitted(*args), with_written(work, args))
        for array in (weights or {}).values():
            array.flags.writeable = False  # what is read-only is a constant of the program
        closed = function if weights is None else lambda *a: function(weights, *a)
        self.jitted = jitted = self.weftwork.jit(closed)
        return Prepared(lambda: jitted(*args), with_written(work, args))

    def on_one_thread(self, work: Workload, args: tuple) -> list[np.ndarray]:
        """What the function prepared last gives with one thread."""
        self.weftwork.set_num_threads(1)
        try:
            return with_written(work, args)(self.jitted(*args))  # type: ignore[misc]
        finally:
            self.weftwork.set_num_threads(self.threads)


class Jax:
    def __init__(self, threads: int) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        provide(np=jax.numpy, jax=jax)

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        jax, function = self.jax, work.jax or work.numpy
        place = lambda a: jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a
        whole = [i for i, a in enumerate(args) if not isinstance(a, np.ndarray)]
        first = 0 if weights is None else 1
        options = {"static_argnums": [first + i for i in whole], "donate_argnums": [first + i for i in work.written]}
        jitted = jax.jit(function, **options)
        before = [] if weights is None else [{name: place(a) for name, a in weights.items()}]
        if work.numpy_in_and_out:
            return Prepared(lambda: np.asarray(jitted(*args)), lambda result: [result])
        state = [place(a) for a in args]

        def run() -> Any:
            result = jax.block_until_ready(jitted(*before, *state))
            for place, value in zip(work.written, leaves(result)[len(leaves(result)) - len(work.written) :]):
                state[place] = value
            return result

        return Prepared(run, lambda result: [np.asarray(leaf) for leaf in leaves(result)])


class SciPy:
    """For what NumPy does on one thread."""

    def __init__(self, threads: int) -> None:
        import scipy.fft

        provide(scipy=scipy)
        self.workers = scipy.fft.set_workers(threads)
        self.workers.__enter__()

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        function = bound(work.scipy, weights)  # type: ignore[arg-type]
        return Prepared(lambda: function(*args), with_written(work, args))


class Torch:
    def __init__(self, threads: int) -> None:
        import torch

        provide(torch=torch, F=torch.nn.functional)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch = torch

    def callable(self, work: Workload, weights: Weights) -> Callable[..., Any]:
        return bound(work.torch, weights and {name: to_torch(a) for name, a in weights.items()})  # type: ignore[arg-type]

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        function = self.callable(work, weights)
        tensors = [to_torch(a) for a in args]
        written = [tensors[i] for i in work.written]
        arrays = lambda result: [from_torch(leaf) for leaf in [*leaves(result), *written]]
        if work.numpy_in_and_out:
            convert = self.torch.from_numpy
            return Prepared(lambda: function(*[convert(a) for a in args]).numpy(), arrays)
        return Prepared(lambda: function(*tensors), arrays)


class TorchCompile(Torch):
    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import torch._inductor.config as inductor

        inductor.freezing = True

    def callable(self, work: Workload, weights: Weights) -> Callable[..., Any]:
        self.torch._dynamo.reset()
        return self.torch.compile(work.torch if weights is None else as_module(work, weights), dynamic=False)


class OnnxRuntime(Torch):
    """Runs the torch twin, exported with its weights as constants."""

    def __init__(self, threads: int) -> None:
        import onnxruntime

        super().__init__(threads)
        self.runtime = onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads, self.options.log_severity_level = threads, 4

    def prepare(self, work: Workload, weights: Weights, args: tuple) -> Prepared:
        file = io.BytesIO()
        tensors = tuple(to_torch(a) for a in args)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            module = as_module(work, weights, clone=True)
            self.torch.onnx.export(module, tensors, file, dynamo=False, opset_version=20)
        session = self.runtime.InferenceSession(file.getvalue(), self.options, ["CPUExecutionProvider"])
        given = iter(session.get_inputs())
        arrays = [a for a in args if isinstance(a, np.ndarray)]
        names = [next(given).name for _ in arrays]
        if work.numpy_in_and_out:
            return Prepared(lambda: session.run(None, dict(zip(names, arrays))), lambda result: result)
        feed = {name: self.runtime.OrtValue.ortvalue_from_numpy(a) for name, a in zip(names, arrays)}
        outputs = [output.name for output in session.get_outputs()]
        run = lambda: session.run_with_ort_values(outputs, feed)
        return Prepared(run, lambda result: [value.numpy() for value in result])


PEERS: dict[str, tuple[type, list[str]]] = {
    OURS: (Weftwork, ["weftwork"]),
    "numpy": (NumPy, ["numpy"]),
    "scipy": (SciPy, ["scipy"]),
    "jax": (Jax, ["jax"]),
    "torch": (Torch, ["torch"]),
    "torch.compile": (TorchCompile, ["torch"]),
    "onnxruntime": (OnnxRuntime, ["onnxruntime", "torch"]),
    "openvino": (OpenVino, ["openvino", "torch"]),
    "numba": (Numba, ["numba"]),
    "iree": (Iree, ["iree.runtime", "iree.compiler"]),
}
# Where the package has another name than its first module.
PACKAGES = {"iree": "iree-base-runtime"}


def installed(peer: str) -> bool:
    try:
        return all(importlib.util.find_spec(module) for module in PEERS[peer][1])
    except ModuleNotFoundError:  # of the package that the module is in
        return False


def version(peer: str) -> str:
    try:
        return importlib.metadata.version(PACKAGES.get(peer, PEERS[peer][1][0]))
    except importlib.metadata.PackageNotFoundError:
        return "of this tree"


def why_not(work: Workload, peer: str) -> str | None:
    """Why the peer has no column for the workload, or None."""
    if peer == "scipy" and work.scipy is None:
        return work.skip.get(peer, "no twin")
    if "torch" in PEERS[peer][1] and work.torch is None:
        return work.skip.get(peer, "no twin")
    if peer == "numba" and work.name not in LOOPS:
        return "no loops"
    if peer == "openvino" and "onnxruntime" in work.skip:
        return work.skip["onnxruntime"]  # what is true of one that takes graphs is true of the other
    return work.skip.get(peer)
