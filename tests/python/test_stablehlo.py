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


def load_quantized_types() -> None:
    """Makes the current context know MLIR's quant dialect, which a pass brings along that depends on it."""
    from jaxlib.mlir import passmanager
    from jaxlib.mlir._mlir_libs import _stablehlo

    _stablehlo.register_stablehlo_passes()
    passmanager.PassManager.parse("builtin.module(vhlo-legalize-to-stablehlo)").run(
        mlir_ir.Module.parse("module {}").operation
    )


def forms_of_jaxlib(text: str) -> list[str]:
    """The program as jaxlib writes it: pretty and generic, with and without locations."""
    from jax._src.interpreters import mlir

    with mlir.make_ir_context():
        if "!quant" in text:
            load_quantized_types()
        module = mlir_ir.Module.parse(text)
        module.operation.verify()
        return [
            module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=located)
            for generic in (False, True)
            for located in (False, True)
        ]


def run_text_by_xla(text: str, args: list[Any]) -> list[np.ndarray]:
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib import xla_client

    client = jax.devices("cpu")[0].client
    with jax.enable_x64(True), mlir.make_ir_context():
        module = mlir_ir.Module.parse(text)
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = compiler.backend_compile_and_load(client, module, devices, xla_client.CompileOptions(), [])
        buffers = [jax.device_put(np.ascontiguousarray(a)) for a in args]
        outputs = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
        return [np.asarray(out[0]) for out in outputs]


def run_by_xla(graph: wf.Graph, args: list[Any]) -> list[np.ndarray]:
    return run_text_by_xla(
        graph.stablehlo(locations=False).replace("func.func public @" + graph.core.name, "func.func public @main"), args
    )


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


def test_symbolic_extents_have_names_that_text_can_have() -> None:
    for name in ("batch size", 'a"b', "n*2", "2n", "a;b", "größe", "", "n" * 121):
        with pytest.raises(ValueError, match="the name of a symbolic extent must be letters"):
            wf.spec((name, 3), np.float32)
    for name in ("batch_size", "model.rows", "n" * 120):
        again = wf.stablehlo.parse(wf.trace(lambda x: x + 1, wf.spec((name, 3), np.float32)).mlir())
        assert str(again.inputs[0].shape[0]) == name


LOCATIONS = """
#loc = loc(unknown)
module @m {
  func.func @main(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %0 = stablehlo.tanh %x : tensor<2xf32> loc(#loc4)
    %1 = stablehlo.tanh %0 : tensor<2xf32> loc(fused<"x">[#loc, "b.py":3:4 to :9])
    %2 = stablehlo.tanh %1 : tensor<2xf32> loc("jit(f)/add"(callsite("f"("a.py":3:4) at callsite("g"("a.py":7:1) at "main.py":9:2))))
    return %2 : tensor<2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("a.py":12:3)
#loc2 = loc("z.py":1:3)
#loc3 = loc("h"(#loc2))
#loc4 = loc(callsite(#loc1 at #loc3))
"""


def test_locations_keep_their_callers() -> None:
    text = wf.stablehlo.parse(LOCATIONS).stablehlo()
    parsed_by_jaxlib(text)
    assert wf.stablehlo.parse(text).stablehlo() == text
    for line in (
        '"h"("z.py":1:3)',
        'callsite("a.py":12:3 at #loc0)',
        '"f"("a.py":3:4)',
        '"g"("a.py":7:1)',
        '"main.py":9:2',
        '"b.py":3:4',
    ):
        assert line in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("loc(#loc9)", "the location #loc9 is not defined"),
        ("loc(#loc5)", "the location #loc5 contains itself"),
        ('loc("a":99999999999:1)', "a line or column number was wanted"),
        ('loc(callsite("a" at', "a location was wanted"),
        ("loc(" + "callsite(" * 200, "less nesting was wanted"),
    ],
)
def test_damaged_locations_are_rejected(given: str, message: str) -> None:
    text = LOCATIONS.replace("loc(#loc4)", given).replace("#loc1 =", '#loc5 = loc("x"(#loc5))\n#loc1 =')
    with pytest.raises(ValueError, match=message):
        wf.stablehlo.parse(text)


def test_two_outputs_may_alias_one_parameter() -> None:
    text = """
func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32, weft.aliasing_outputs = array<i64: 0, 1>}) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.tanh %x : tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}"""
    graph = wf.stablehlo.parse(text)
    assert [o.alias for o in graph.outputs] == [0, 0]
    parsed_by_jaxlib(graph.stablehlo())
    assert wf.stablehlo.parse(graph.stablehlo()).core.equal(graph.core)


def test_layouts_of_custom_calls_are_kept() -> None:
    """LAPACK's matrices are column-major: without the layouts XLA would transpose what it is given."""
    a = np.array([[2, 1], [1, 3]], np.float64)
    with jax.enable_x64(True):
        text = jax.jit(lambda x: jax.lax.linalg.qr(x)).lower(a).as_text()
    graph = wf.stablehlo.parse(text)
    for got, wanted in zip(run_by_xla(graph, [a]), graph.core.interpret([a]), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_text_of_jax_is_read() -> None:
    import jax.numpy as jnp

    def f(x: Any, y: Any) -> Any:
        return (
            jnp.tanh(x @ y) + jnp.sum(x, axis=1, keepdims=True),
            x[::2, 1:],
            jnp.transpose(y),
            jnp.where(x > 0, x, 1.0),
        )

    x, y = np.ones((4, 3), np.float32), np.full((3, 4), 0.1, np.float32)
    text = jax.jit(lambda x, y: jax.lax.transpose(jnp.tanh(x @ y), (1, 0))).lower(x, y).as_text()
    graph = wf.stablehlo.parse(text)
    np.testing.assert_allclose(graph.interpret(x, y), np.tanh(x @ y).T, rtol=1e-6)
    np.testing.assert_allclose(wf.compile(graph)(x, y), np.tanh(x @ y).T, rtol=1e-6)
