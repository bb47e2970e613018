"""The programs of tests/cases/stablehlo: read in every form, run by the interpreter and as machine code, against XLA."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_stablehlo import forms_of_jaxlib, load_quantized_types

import weftwork as wf
from weftwork.graph import Graph

jax = pytest.importorskip("jax")
mlir_ir = pytest.importorskip("jaxlib.mlir.ir")

FOLDER = Path(__file__).parents[1] / "cases/stablehlo"
FILES = sorted(path.name for path in FOLDER.glob("*.mlir"))
# What XLA does not run, by function: NumPy's values for the arguments.
EXPECTED: dict[str, Any] = {
    "collective.mlir broadcast": lambda x: [x],
    "chlo.mlir ragged_dot": lambda x, w: [np.concatenate([x[:4] @ w[0], x[4:7] @ w[2], np.zeros((2, 2), np.float32)])],
    "dynamic.mlir dynamic_conv": lambda x, w: [np.correlate(x[0, 0], w[0, 0], "same")[None, None]],
    "linalg.mlir unary_einsum": lambda x: [x.sum(1), x.T],
    "constant.mlir of_f4E2M1FN": lambda: halves(ml_dtypes.float4_e2m1fn),
    "constant.mlir of_f6E2M3FN": lambda: halves(ml_dtypes.float6_e2m3fn),
    "constant.mlir of_f6E3M2FN": lambda: halves(ml_dtypes.float6_e3m2fn),
    "quantized.mlir others": lambda x, y, z, w: [
        np.rint(x / 0.125 + 5).astype(np.int32),
        (y - 5.0) * 0.125,
        (z * 0.25).astype(ml_dtypes.bfloat16),
        np.rint(np.clip(w / np.float32(0.01) + 200, 0, 255)).astype(np.uint8),
    ],
    "quantized.mlir reduced": lambda x: [by_steps(x.T, np.add), by_steps(x, np.maximum)],
    "quantized.mlir loop": lambda x, p: looped(x, p),
    "chlo.mlir scan": lambda x, k, c: [(c + np.cumsum(x[::-1], 0)[::-1]).T, 2 * k, c + x.sum(0)],
    "chlo.mlir scan_inner": lambda x, c: [x + (c + np.arange(3, dtype=np.float32))[None, :, None], c + np.float32(3)],
    "chlo.mlir scan_of_nothing": lambda c: [c[:, None] * 2.0 ** np.arange(5), c * 32],
    "host.mlir started": lambda x: [2 * x * x],
    "host.mlir sized": lambda x: [2 * x[:2], np.int32(2)],
    "constant.mlir of_f8E8M0FNU": lambda: [
        np.array([2, 0.5], ml_dtypes.float8_e8m0fnu),
        np.full(3, 2, ml_dtypes.float8_e8m0fnu),
    ],
}


def halves(dtype: Any) -> list[np.ndarray]:
    return [np.array([1.5, -0.5], dtype), np.full(3, 1.5, dtype)]


def quantized(x: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(x / np.float32(0.5) + 1, -128, 127)).astype(np.int8)


def dequantized(x: np.ndarray) -> np.ndarray:
    return (x - np.float32(1)) * np.float32(0.5)


def by_steps(rows: np.ndarray, op: Any) -> np.ndarray:
    """Folds rows of stored integers, quantising after each step, from the stored 1."""
    result = np.ones(rows.shape[1], np.int8)
    for row in rows:
        result = quantized(op(dequantized(result), dequantized(row)))
    return result


def looped(x: np.ndarray, negates: np.ndarray) -> list[np.ndarray]:
    grown = x
    for _ in range(3):
        grown = quantized(dequantized(grown) * 2)
    return [grown, quantized(-dequantized(x)) if negates else grown]


def functions(graph: Graph) -> dict[str, Graph]:
    return {core.name: Graph(core) for core in (graph.core, *graph.core.functions)}


def unnamed(graph: Graph) -> str:
    """The text without the names of parameters, which jaxlib does not keep."""
    return re.sub(r'weft.name = "[^"]*"', "", graph.stablehlo(locations=False))


def public_functions(text: str) -> list[str]:
    return [line.split("@")[1].split("(")[0] for line in text.splitlines() if line.strip().startswith("func.func @")]


CASES = [(file, name) for file in FILES for name in public_functions((FOLDER / file).read_text())]


def arguments(graph: Graph) -> list[np.ndarray]:
    """Numbers of either sign around zero; small non-negative integers, which also serve as indices and shifts."""
    random = np.random.default_rng(3)
    given = []
    for info in graph.inputs:
        dtype = np.dtype(info.dtype)
        if dtype.kind == "b":
            given.append(random.random(info.shape) < 0.5)
        elif dtype.kind in "iu":
            given.append(random.integers(0, 4, info.shape).astype(dtype))
        elif dtype.kind == "c":
            given.append((random.standard_normal(info.shape) + 1j * random.standard_normal(info.shape)).astype(dtype))
        else:
            given.append(random.standard_normal(info.shape).astype(dtype))
    return given


def without_quantized_types(module: Any, name: str) -> None:
    """StableHLO's own way down from quantised types, which XLA on a CPU does not take; of one function alone."""
    from jaxlib.mlir import passmanager

    for op in list(module.body.operations):
        if mlir_ir.StringAttr(op.attributes["sym_name"]).value != name:
            op.operation.erase()
    for step in ("stablehlo-legalize-quantized-op-to-qdq", "stablehlo-legalize-quant-to-math"):
        passmanager.PassManager.parse(f"builtin.module(func.func({step}))").run(module.operation)


def by_xla(text: str, name: str, args: list[np.ndarray]) -> list[np.ndarray]:
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib import xla_client

    client = jax.devices("cpu")[0].client
    with jax.enable_x64(True), mlir.make_ir_context():
        if quantized := "!quant" in text:
            load_quantized_types()
        module = mlir_ir.Module.parse(text)
        if quantized:
            without_quantized_types(module, name)
        module.operation.attributes["sym_name"] = mlir_ir.StringAttr.get("case")
        for op in module.body.operations:
            if "sym_name" not in op.attributes or op.operation.name != "func.func":
                continue
            chosen = mlir_ir.StringAttr(op.attributes["sym_name"]).value == name
            if chosen:
                op.attributes["sym_name"] = mlir_ir.StringAttr.get("main")
            op.attributes["sym_visibility"] = mlir_ir.StringAttr.get("public" if chosen else "private")
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = compiler.backend_compile_and_load(client, module, devices, xla_client.CompileOptions(), [])
        outputs = executable.execute_sharded([jax.device_put(a) for a in args]).disassemble_into_single_device_arrays()
        return [np.asarray(out[0]) for out in outputs]


def close(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    if got.tobytes() == wanted.tobytes():
        return
    if got.dtype.kind in "biu" or "int" in str(got.dtype):
        np.testing.assert_array_equal(got, wanted)
        return
    eps = float(jax.numpy.finfo(got.dtype).eps)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), rtol=64 * eps, atol=64 * eps)


@pytest.mark.parametrize("file", FILES)
def test_every_form_is_the_same_program(file: str) -> None:
    text = (FOLDER / file).read_text()
    graph = wf.stablehlo.parse(text, file)
    graph.core.verify()
    for form in (graph.stablehlo(), *forms_of_jaxlib(text), *forms_of_jaxlib(graph.stablehlo())):
        again = wf.stablehlo.parse(form)
        assert set(functions(again)) == set(functions(graph))
        for name, function in functions(again).items():
            assert unnamed(function) == unnamed(functions(graph)[name])
    assert wf.stablehlo.parse(graph.stablehlo()).core.equal(graph.core)


@pytest.mark.parametrize(("file", "name"), CASES)
def test_values_are_xlas(file: str, name: str) -> None:
    text = (FOLDER / file).read_text()
    function = functions(wf.stablehlo.parse(text, file))[name]
    args = arguments(function)
    with np.errstate(all="ignore"):
        expected = EXPECTED.get(f"{file} {name}")
        wanted = expected(*args) if expected else by_xla(text, name, args)
        compiled = wf.compile(function)(*args)
        ways = [function.core.interpret(args), list(compiled) if isinstance(compiled, tuple) else [compiled]]
    for got in ways:
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            close(np.asarray(g), np.asarray(w))
