"""The HLO we write is accepted by jaxlib, means to XLA what NumPy computes, and keeps names, aliases and lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_numpy import SNIPPETS, close

import weftwork as wf

jax = pytest.importorskip("jax")
_hlo = pytest.importorskip("jaxlib._hlo")


def module_of(graph: wf.Graph, **extents: int) -> Any:
    return _hlo.HloModule.from_serialized_hlo_module_proto(graph.hlo_proto(**extents))


def text_of(graph: wf.Graph, metadata: bool = True) -> str:
    options = _hlo.HloPrintOptions()
    options.print_metadata = metadata
    return module_of(graph).to_string(options)


def run_by_xla(graph: wf.Graph, args: list[Any]) -> list[np.ndarray]:
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib import _jax, xla_client
    from jaxlib.mlir import ir

    client = jax.devices("cpu")[0].client
    text = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(graph.hlo_proto()))
    with jax.enable_x64(True), mlir.make_ir_context():
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = compiler.backend_compile_and_load(
            client, ir.Module.parse(text), devices, xla_client.CompileOptions(), []
        )
        buffers = [jax.device_put(np.ascontiguousarray(a)) for a in args]
        outputs = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
        return [np.asarray(out[0]) for out in outputs]


def is_traceable(args: tuple) -> bool:
    # An array passed twice is one parameter.
    return all(isinstance(a, np.ndarray) for a in args) and len({id(a) for a in args}) == len(args)


NUMBERS = [i for i, (_, args) in enumerate(SNIPPETS) if is_traceable(args)]


@pytest.mark.parametrize("number", NUMBERS)
def test_xla_gives_the_values_of_numpy(number: int) -> None:
    function, args = SNIPPETS[number]
    with np.errstate(all="ignore"):
        wanted = function(*args)
    graph = wf.trace(function, *args)
    if isinstance(wanted, (tuple, list)):  # an input that comes back as it was is no output
        wanted = [wanted[int(output.name.partition(".")[2])] for output in graph.outputs]
    else:
        wanted = [wanted]
    close(run_by_xla(graph, list(args)), wanted)


F = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def scaled_in_place(x: Any, w: Any) -> Any:
    x[1:] = 0
    return np.tanh(x @ w)


def traced() -> wf.Graph:
    return wf.trace(scaled_in_place, F.copy(), F.T.copy())


def test_the_memory_of_a_written_parameter_is_an_alias() -> None:
    assert "input_output_alias={ {1}: (0, {}, must-alias) }" in text_of(traced())
    x = F.copy()
    outputs = run_by_xla(traced(), [x, F.T])
    expected = F.copy()
    close(outputs, [scaled_in_place(expected, F.T), expected])


def test_a_single_output_is_the_root_itself_and_several_are_a_tuple() -> None:
    def written(x: Any) -> None:
        x[0] = 1

    assert "input_output_alias={ {}: (0, {}, must-alias) }" in text_of(wf.trace(written, F.copy()))
    assert "ENTRY %lambda (x: f32[3,4]) -> (f32[3,4], f32[3,4])" in text_of(wf.trace(lambda x: (-x, x + 1), F))


def test_parameters_and_results_keep_their_names() -> None:
    text = text_of(traced())
    assert "ENTRY %scaled_in_place (x: f32[3,4], w: f32[4,3]) -> (f32[3,3], f32[3,4])" in text
    assert 'op_name="x"' in text
    assert 'frontend_attributes={weft.result.0="output",weft.result.1="x"}' in text


def test_instructions_name_the_line_that_made_them() -> None:
    line = scaled_in_place.__code__.co_firstlineno + 2
    tanh = next(t for t in text_of(traced()).splitlines() if " tanh(" in t)
    assert 'op_type="tanh" op_name="scaled_in_place/tanh"' in tanh
    assert f'source_file="{__file__}" source_line={line}' in tanh


def called(x: Any) -> Any:
    return np.exp(x)


def test_metadata_knows_the_callers() -> None:
    def calling(x: Any) -> Any:
        return called(x) + 1

    text = text_of(wf.trace(calling, F))
    first = calling.__code__.co_firstlineno
    exponential = next(t for t in text.splitlines() if " exponential(" in t)
    assert 'calling/called/exponential"' in exponential
    assert f"line={first + 1} " in text and f"line={called.__code__.co_firstlineno + 1} " in text
    assert "stack_frame_id=" in exponential


def test_locations_are_metadata_only() -> None:
    graph = traced()
    bare = wf.stablehlo.parse(graph.stablehlo(locations=False))
    assert text_of(graph) != text_of(bare)
    assert text_of(graph, metadata=False) == text_of(bare, metadata=False)


DTYPES = [
    "bool", "int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_of_every_type_arrive(dtype: str) -> None:
    import ml_dtypes

    dtype_of = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    values = np.array([[1, 0, 3], [2, 1, 5]]).astype(dtype_of)
    if dtype.startswith(("int", "float", "bfloat", "complex")):
        values[0] = (-values[0].astype(np.complex64 if dtype_of.kind == "c" else np.float32)).astype(dtype_of)
    graph = wf.trace(lambda m: np.where(m, values, values[::-1]), np.ones((2, 3), bool))
    (output,) = run_by_xla(graph, [np.ones((2, 3), bool)])
    assert output.dtype == dtype_of
    assert output.tobytes() == values.tobytes()


def test_symbolic_extents_are_replaced_or_refused() -> None:
    graph = wf.trace(lambda x: x + 1, wf.spec((wf.Dim("n", 1, 4, 64), 3), np.float32))
    assert "ENTRY %lambda (x: f32[7,3]) -> f32[7,3]" in module_of(graph, n=7).to_string()
    with pytest.raises(ValueError, match=r"fixed extents .* \[n, 3\].* \[hlo_symbolic\]"):
        graph.hlo_proto()


@pytest.mark.parametrize("count", [0, 1, 7])
def test_running_totals_of_symbolic_extents_reach_over_what_there_is(count: int) -> None:
    graph = wf.trace(lambda x: np.cumsum(x, 0)[::-1].cumsum(0), wf.spec((wf.Dim("n", 0, 4, 1 << 31), 3), np.float32))
    module = module_of(graph, n=count)
    assert str(1 << 31) not in module.to_string()
    assert f"f32[{count},3]" in module.to_string()


def test_element_types_that_hlo_lacks_are_named() -> None:
    text = "func.func @main(%x: tensor<2xf6E2M3FN>) -> tensor<2xf6E2M3FN> { return %x : tensor<2xf6E2M3FN> }"
    with pytest.raises(NotImplementedError, match=r"no element type f6E2M3FN .*hlo_dtype"):
        wf.stablehlo.parse(text).hlo_proto()


REAL = np.array([0, -0.0, 1, -1, 0.5, -0.3, 1e-6, 3, -7, 25, 95, -95, np.inf, -np.inf, np.nan, 1.5, -2.5, 1e8])
COMPLEX = np.array(
    [0.3 + 0.4j, -2 + 1j, 2 + 0j, complex(2, -0.0), complex(-2, 0.0), complex(-2, -0.0), 2j, -3j, 0.5, 3 - 4j, 1e4 + 1j]
)
INVERSES = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "cosh": np.cosh, "sinh": np.sinh,
}  # fmt: skip


def by_chlo(name: str, *args: np.ndarray) -> np.ndarray:
    element = {"f": {4: "f32", 8: "f64"}, "c": {8: "complex<f32>", 16: "complex<f64>"}}[args[0].dtype.kind][
        args[0].itemsize
    ]
    kind = f"tensor<{args[0].size}x{element}>"
    names = ", ".join(f"%a{i}" for i in range(len(args)))
    typed = ", ".join(f"%a{i}: {kind}" for i in range(len(args)))
    call = f'%r = "chlo.{name}"({names}) : ({", ".join([kind] * len(args))}) -> {kind}'
    graph = wf.stablehlo.parse(f"func.func @main({typed}) -> {kind} {{ {call} return %r : {kind} }}")
    return run_by_xla(graph, list(args))[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", INVERSES)
def test_functions_without_an_opcode_are_written_out(name: str, dtype: type) -> None:
    x = REAL.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = INVERSES[name](x)
    actual = by_chlo(name, x)
    np.testing.assert_allclose(actual, wanted, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(actual[~np.isnan(wanted)]), np.signbit(wanted[~np.isnan(wanted)]))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", INVERSES)
def test_complex_functions_lie_on_the_side_of_the_cut_that_numpy_takes(name: str, dtype: type) -> None:
    x = COMPLEX[:-1].astype(dtype) if name in ("cosh", "sinh") else COMPLEX.astype(dtype)
    np.testing.assert_allclose(by_chlo(name, x), INVERSES[name](x), rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_functions_are_written_out(dtype: type) -> None:
    x = np.array([0.1, 0.5, 1.5, 2.5, 3, 9, 30, -0.5, -1.5, -2.25], dtype)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(
        by_chlo("erfc", x), [math.erfc(v) for v in x.tolist()], rtol=80 * eps, atol=np.finfo(dtype).tiny
    )
    np.testing.assert_allclose(by_chlo("lgamma", x), [math.lgamma(v) for v in x.tolist()], rtol=80 * eps)
    slope = (np.array([math.lgamma(v + 1e-5) for v in x.tolist()]) - [math.lgamma(v - 1e-5) for v in x.tolist()]) / 2e-5
    np.testing.assert_allclose(by_chlo("digamma", x), slope, rtol=1e-5)
    poles = np.array([0, -1, -3, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(by_chlo("lgamma", poles), [np.inf, np.inf, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(by_chlo("digamma", poles), [-np.inf, np.nan, np.nan, np.inf, np.nan])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_after_steps_by_one_bit(dtype: type) -> None:
    x, y = (
        m.ravel().astype(dtype)
        for m in np.meshgrid([0, -0.0, 1, -1, 1.5, np.inf, -np.inf, np.nan], [0, 2, -2, 1, np.inf, -np.inf, np.nan])
    )
    np.testing.assert_array_equal(by_chlo("next_after", x, y), np.nextafter(x, y))


def test_programs_of_no_output_and_of_no_input() -> None:
    empty = wf.stablehlo.parse("func.func @main(%x: tensor<2xf32>) { return }")
    assert "ENTRY %main (x: f32[2]) -> ()" in text_of(empty)
    iota = '%0 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<3xi32>'
    graph = wf.stablehlo.parse(f"func.func @main() -> tensor<3xi32> {{ {iota} return %0 : tensor<3xi32> }}")
    np.testing.assert_array_equal(run_by_xla(graph, [])[0], [0, 1, 2])


def test_names_become_identifiers_that_are_unique() -> None:
    graph = wf.stablehlo.parse(
        'func.func @main(%arg0: tensor<2xf32> {weft.name = "a b"}, %arg1: tensor<2xf32> {weft.name = "a_b"}) -> tensor<2xf32>'
        " { %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32> return %0 : tensor<2xf32> }"
    )
    text = text_of(graph)
    assert "ENTRY %main (a_b: f32[2], a_b.2: f32[2]) -> f32[2]" in text
    assert 'op_name="a b"' in text and 'op_name="a_b"' in text
