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

from bench.workload import Workload, bf16, leaves, provide

Weights = dict[str, np.ndarray] | None
OURS = "weftwork"


class Prepared:
    """A workload ready to run: ``run()`` completes one call, ``arrays(result)`` converts what it gave."""

    def __init__(self, run: Callable[[], Any], arrays: Callable[[Any], list[np.ndarray]]) -> None:
        self.run, self.arrays = run, arrays


def bound(function: Callable[..., Any], weights: Any) -> Callable[..., Any]:
    return function if weights is None else functools.partial(function, weights)


def with_written(work: Workload, args: tuple) -> Callable[[Any], list[np.ndarray]]:
    return lambda result: [np.asarray(leaf) for leaf in [*leaves(result), *(args[i] for i in work.written)]]


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


def to_torch(value: Any) -> Any:
    """A tensor over the same memory."""
    import torch

    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == bf16:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


def from_torch(value: Any) -> np.ndarray:
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    if value.dtype == torch.bfloat16:
        return value.contiguous().view(torch.int16).numpy().view(bf16)
    return value.numpy()


def as_module(work: Workload, weights: Weights, clone: bool = False) -> Any:
    """The torch twin as a module that holds the weights; ``clone``: it returns copies of what it writes."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if weights is not None:
                parameter = lambda a: torch.nn.Parameter(to_torch(a), requires_grad=False)
                self.weights = torch.nn.ParameterDict({name: parameter(a) for name, a in weights.items()})

        def forward(self, *args: Any) -> Any:
            args = tuple(a.clone() if clone and i in work.written else a for i, a in enumerate(args))
            result = work.torch(*(() if weights is None else (self.weights,)), *args)  # type: ignore[misc]
            return (result, *(args[i] for i in work.written)) if clone else result

    return Module().eval()


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
    "jax": (Jax, ["jax"]),
    "torch": (Torch, ["torch"]),
    "torch.compile": (TorchCompile, ["torch"]),
    "onnxruntime": (OnnxRuntime, ["onnxruntime", "torch"]),
}


def installed(peer: str) -> bool:
    return all(importlib.util.find_spec(module) for module in PEERS[peer][1])


def version(peer: str) -> str:
    try:
        return importlib.metadata.version(PEERS[peer][1][0])
    except importlib.metadata.PackageNotFoundError:
        return "of this tree"


def why_not(work: Workload, peer: str) -> str | None:
    """Why the peer has no column for the workload, or None."""
    if "torch" in PEERS[peer][1] and work.torch is None:
        return work.skip.get(peer, "no twin")
    return work.skip.get(peer)
