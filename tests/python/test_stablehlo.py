"""What we print is StableHLO to jaxlib's parser, means the same to XLA, and reads back as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_numpy import SNIPPETS, close

import weftwork as wf

jax = pytest.importorskip("jax")
mlir_ir = pytest.importorskip("jaxlib.mlir.ir")


def parsed_by_jaxlib(text: str) -> Any:
    from jax._src.interpreters import mlir

    with mlir.make_ir_context():
        module = mlir_ir.Module.parse(text)
        module.operation.verify()
        return module.operation.get_asm()


def run_by_xla(graph: wf.Graph, args: list[Any]) -> list[np.ndarray]:
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib import xla_client

    client = jax.devices("cpu")[0].client
    with jax.enable_x64(True), mlir.make_ir_context():
        module = mlir_ir.Module.parse(graph.stablehlo(locations=False).replace("func.func public @" + graph.core.name, "func.func public @main"))
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = compiler.backend_compile_and_load(client, module, devices, xla_client.CompileOptions(), [])
        buffers = [jax.device_put(np.ascontiguousarray(a)) for a in args]
        outputs = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
        return [np.asarray(out[0]) for out in outputs]


def is_traceable(args: tuple) -> bool:
    # An array passed twice is one parameter.
    return all(isinstance(a, np.ndarray) for a in args) and len({id(a) for a in args}) == len(args)


NUMBERS = [i for i, (_, args) in enumerate(SNIPPETS) if is_traceable(args)]


@pytest.mark.parametrize("number", NUMBERS)
def test_jaxlib_parses_and_we_read_back(number: int) -> None:
    function, args = SNIPPETS[number]
    graph = wf.trace(function, *args)
    text = graph.stablehlo()
    parsed_by_jaxlib(text)
    again = wf.stablehlo.parse(text)
    assert again.stablehlo(locations=False) == graph.stablehlo(locations=False)
    with np.errstate(all="ignore"):
        first, second = graph.core.interpret(list(args)), again.core.interpret(list(args))
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("number", NUMBERS)
def test_xla_gives_numpys_values(number: int) -> None:
    function, args = SNIPPETS[number]
    graph = wf.trace(function, *args)
    with np.errstate(all="ignore"):
        wanted = function(*args)
    flat = [wanted]
    if isinstance(wanted, (tuple, list)):  # an input that comes back as it was is no output
        flat = [wanted[int(output.name.partition(".")[2])] for output in graph.outputs]
    results = run_by_xla(graph, list(args))
    for a, w in zip(results, flat, strict=True):
        close(a.astype(np.asarray(w).dtype), w)


def test_symbolic_text_can_be_specialised_and_read_back() -> None:
    graph = wf.trace(lambda x: np.tanh(x) + np.arange(x.shape[0])[:, None], wf.spec(("n", 3), np.float32))
    parsed_by_jaxlib(graph.stablehlo(n=16))
    again = wf.stablehlo.parse(graph.stablehlo())
    x = np.ones((5, 3), np.float32)
    np.testing.assert_array_equal(again.interpret(x), graph.interpret(x))


def test_text_of_jax_is_read() -> None:
    import jax.numpy as jnp

    def f(x: Any, y: Any) -> Any:
        return jnp.tanh(x @ y) + jnp.sum(x, axis=1, keepdims=True), x[::2, 1:], jnp.transpose(y), jnp.where(x > 0, x, 1.0)

    x, y = np.ones((4, 3), np.float32), np.full((3, 4), 0.1, np.float32)
    text = jax.jit(lambda x, y: jax.lax.transpose(jnp.tanh(x @ y), (1, 0))).lower(x, y).as_text()
    graph = wf.stablehlo.parse(text)
    np.testing.assert_allclose(graph.interpret(x, y), np.tanh(x @ y).T, rtol=1e-6)
    np.testing.assert_allclose(wf.compile(graph)(x, y), np.tanh(x @ y).T, rtol=1e-6)
