"""Numbers in StableHLO text mean what they mean to jaxlib's parser, or are errors with line and column to both."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import numpy as np
import pytest

import weftwork as wf

pytest.importorskip("jax")
mlir_ir = pytest.importorskip("jaxlib.mlir.ir")

from test_stablehlo import load_quantized_types  # noqa: E402


def read_by_jaxlib(text: str) -> Any:
    """The module, or nothing where it is rejected."""
    try:
        module = mlir_ir.Module.parse(text)
        module.operation.verify()
        return module
    except (ValueError, mlir_ir.MLIRError):
        return None


def said(module: Any) -> list[str]:
    """The program's types, and its operations in the generic form, which says all of them."""
    lines = module.operation.get_asm(print_generic_op_form=True).splitlines()
    # One device needs no channel.
    calls = [
        re.sub(r"channel_handle = #stablehlo.channel_handle<[^>]*>, ", "", line.strip())
        for line in lines
        if line.strip().startswith("%")
    ]
    return [str(module.body.operations[0].attributes["function_type"]), *calls]


def difference(text: str) -> str:
    """What we and jaxlib make of it differently; nothing where it is the same."""
    theirs = read_by_jaxlib(text)
    try:
        ours = wf.stablehlo.parse(text)
    except (ValueError, TypeError) as error:
        # StableHLO's own constraints, by their numbers and of quantised types, are not all checked by its parser.
        if theirs is not None and not re.search(r"\[\w+_c\d+\]|a quantised type needs", str(error)):
            return f"only jaxlib reads\n{text}\n{error}"
        return "" if re.search(r"<text>:\d+:\d+", str(error)) else f"no line and column of\n{text}\n{error}"
    if theirs is None:
        return f"only we read\n{text}"
    again = read_by_jaxlib(ours.stablehlo(locations=False))
    if again is None:
        return f"jaxlib does not read what we write of\n{text}"
    return "" if said(again) == said(theirs) else f"another meaning of\n{text}\n{said(theirs)}\n{said(again)}"


@pytest.fixture(scope="module", autouse=True)
def context() -> Any:
    from jax._src.interpreters import mlir

    with mlir.make_ir_context() as made:
        load_quantized_types()
        yield made


INTEGERS = ["i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"]
FLOATS = [
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU",
    "bf16", "f16", "f32", "f64",
]  # fmt: skip
COMPLEX = ["complex<f32>", "complex<f64>"]
#: How numbers go wrong besides being too large.
ODD = [
    "",
    "-",
    "0x",
    "-0",
    "- 1",
    "-0x1",
    "00",
    "007",
    "1.",
    "1.e3",
    "1.0e",
    "1.0e+",
    "1e5",
    ".5",
    "+1",
    "true",
    "false",
    "0X1F",
    "1_000",
    "nan",
    "0x1p3",
    "--1",
]


def some_integer(draw: random.Random) -> str:
    value = (1 << draw.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 62, 63, 64, 65, 70])) + draw.choice([-2, -1, 0, 1])
    if draw.random() < 0.3:
        value = draw.randrange(300)
    digits = hex(value) if value >= 0 and draw.random() < 0.3 else str(abs(value))
    if draw.random() < 0.1:
        digits = digits.replace("0x", "0x000") if "x" in digits else "000" + digits
    return draw.choice(["", "", "-", "- "]) + digits


def some_decimal(draw: random.Random) -> str:
    kind = draw.randrange(4)
    if kind == 0:
        # About the largest and the smallest of each type, and halfway between two of them.
        value = 2.0 ** draw.choice(
            [-1074, -1022, -149, -126, -133, -24, -14, -16, -9, -6, 2, 4, 8, 15, 16, 127, 128, 1023]
        )
        text = repr(value * draw.choice([0.5, 0.75, 1.0, 1.5, 1.75, 1.9375, 1.96875, 1.99951171875, 1.9999999]))
    elif kind == 1:
        text = f"{draw.randrange(10)}.{draw.randrange(10**6)}e{draw.choice([-400, -330, -324, -323, -310, -46, -45, -39, -8, 0, 3, 5, 38, 39, 308, 309, 400, 10**30])}"
    elif kind == 2:
        text = (
            "0" * draw.randrange(3)
            + str(draw.randrange(10 ** draw.choice([1, 5, 40, 310])))
            + "."
            + "0" * draw.choice([0, 3, 330])
            + str(draw.randrange(1000))
        )
    else:
        text = repr(abs(draw.gauss(0, 1)) * 10.0 ** draw.randrange(-12, 12))
    if "." not in text:
        text = text.replace("e", ".0e", 1) if "e" in text else text + ".0"
    return draw.choice(["", "", "- "]) + text


def some_number(draw: random.Random) -> str:
    kind = draw.random()
    # Where it wants an integer jaxlib takes true for -1.
    return (
        draw.choice([text for text in ODD if text not in ("true", "false")])
        if kind < 0.15
        else some_decimal(draw)
        if kind < 0.4
        else some_integer(draw)
    )


def some_element(draw: random.Random, dtype: str) -> str:
    if draw.random() < 0.1:
        return draw.choice(ODD)
    if dtype in INTEGERS:
        return draw.choice(["true", "false"]) if dtype == "i1" and draw.random() < 0.5 else some_integer(draw)
    if draw.random() < 0.7:
        text = some_decimal(draw)
        value = float(text.replace(" ", ""))
        # Where the type has no infinity jaxlib makes 0 of what no f64 can be, and where it has no sign it drops that.
        odd = (dtype in FLOATS[:3] and math.isinf(value)) or (dtype == "f8E8M0FNU" and value <= 0)
        return "1.0" if odd else text
    return f"0x{draw.getrandbits(draw.choice([4, 6, 8, 16, 32, 64, 65])):0{draw.choice([1, 2, 4, 8, 16])}X}"


def some_constant(draw: random.Random, dtype: str) -> tuple[str, str]:
    """A literal and its type; the lists not always of the type's shape."""
    shape = draw.choice([[], [], [1], [2], [3], [2, 2], [1, 2]])
    real = dtype[8:-1] if dtype in COMPLEX else dtype

    def one() -> str:
        return (
            f"({some_element(draw, real)}, {some_element(draw, real)})"
            if dtype in COMPLEX and draw.random() < 0.95
            else some_element(draw, real)
        )

    def lists(extents: list[int]) -> str:
        return (
            one()
            if not extents
            else "[" + ", ".join(lists(extents[1:]) for _ in range(extents[0])) + draw.choice([""] * 20 + [","]) + "]"
        )

    kind = draw.random()
    if kind < 0.2:
        # Of a byte that has more bits than its element jaxlib makes values that the type has not.
        bits = min(int(re.findall(r"[0-9]+", real)[0]), 8)
        count = draw.choice([1, 2, 4, 8, 16]) * draw.choice([1, 1, 2, 3, 4])
        digits = bytes(draw.getrandbits(bits) for _ in range(count)).hex()
        body = f'"{draw.choice(["0x"] * 9 + ["", "0X"])}{digits}{draw.choice([""] * 9 + ["0", "G"])}"'
    elif kind < 0.4:
        body = one()
    else:
        body = lists(shape if draw.random() < 0.9 else draw.choice([[1], [2], [2, 1], [4], [1, 1]]))
    return f"dense<{body}>", f"tensor<{''.join(f'{extent}x' for extent in shape)}{dtype}>"


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + COMPLEX)
def test_elements_of_constants(dtype: str) -> None:
    draw = random.Random(f"elements {dtype}")
    failures = []
    for _ in range(300):
        literal, shown = some_constant(draw, dtype)
        failures.append(
            difference(
                f"func.func @main() -> {shown} {{\n  %0 = stablehlo.constant {literal} : {shown}\n  return %0 : {shown}\n}}"
            )
        )
    assert not any(failures), "\n\n".join(filter(None, failures))


PLACES = {
    "pad": ("%a: tensor<3xf32>, %c: tensor<f32>", "stablehlo.pad %a, %c, low = [N], high = [N], interior = [N] : (tensor<3xf32>, tensor<f32>) -> ", "tensor<4xf32>"),
    "pad generic": (
        "%a: tensor<3xf32>, %c: tensor<f32>",
        '"stablehlo.pad"(%a, %c) {edge_padding_low = array<i64: N>, edge_padding_high = array<i64: N>, interior_padding = array<i64: N>} : (tensor<3xf32>, tensor<f32>) -> ',
        "tensor<4xf32>",
    ),
    "reverse": ("%a: tensor<3x4xf32>", "stablehlo.reverse %a, dims = [N] : ", "tensor<3x4xf32>"),
    "transpose": ("%a: tensor<3x3xf32>", "stablehlo.transpose %a, dims = [N, N] : (tensor<3x3xf32>) -> ", "tensor<3x3xf32>"),
    "broadcast": ("%a: tensor<3xf32>", "stablehlo.broadcast_in_dim %a, dims = [N] : (tensor<3xf32>) -> ", "tensor<3x3xf32>"),
    "iota": ("", "stablehlo.iota dim = N : ", "tensor<3x4xf32>"),
    "iota generic": ("", '"stablehlo.iota"() {iota_dimension = T} : () -> ', "tensor<3x4xf32>"),
    "concatenate": ("%a: tensor<2x2xf32>", "stablehlo.concatenate %a, dim = N : (tensor<2x2xf32>) -> ", "tensor<2x2xf32>"),
    "slice": ("%a: tensor<3xf32>", "stablehlo.slice %a [N:N:N] : (tensor<3xf32>) -> ", "tensor<1xf32>"),
    "slice without stride": ("%a: tensor<3xf32>", "stablehlo.slice %a [N:N] : (tensor<3xf32>) -> ", "tensor<1xf32>"),
    "dynamic_slice": ("%a: tensor<3xf32>, %i: tensor<i32>", "stablehlo.dynamic_slice %a, %i, sizes = [N] : (tensor<3xf32>, tensor<i32>) -> ", "tensor<1xf32>"),
    "reduce": ("%a: tensor<3x3xf32>, %c: tensor<f32>", "stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [N] : (tensor<3x3xf32>, tensor<f32>) -> ", "tensor<3xf32>"),
    "dot": ("%a: tensor<3x3xf32>", "stablehlo.dot_general %a, %a, contracting_dims = [N] x [N] : (tensor<3x3xf32>, tensor<3x3xf32>) -> ", "tensor<3x3xf32>"),
    "dot fields": (
        "%a: tensor<3x3xf32>",
        '"stablehlo.dot_general"(%a, %a) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [N], rhs_contracting_dimensions = [N]>} : (tensor<3x3xf32>, tensor<3x3xf32>) -> ',
        "tensor<3x3xf32>",
    ),
    "convolution": (
        "%a: tensor<1x2x1xf32>, %k: tensor<1x1x1xf32>",
        "stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [N], pad = [[N, N]], lhs_dilate = [N], rhs_dilate = [N], reverse = [N]}"
        " {batch_group_count = T, feature_group_count = T} : (tensor<1x2x1xf32>, tensor<1x1x1xf32>) -> ",
        "tensor<1x2x1xf32>",
    ),
    "convolution dims": (
        "%a: tensor<1x1x1xf32>",
        "stablehlo.convolution(%a, %a) dim_numbers = [b, N, f]x[N, i, o]->[b, N, f], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> ",
        "tensor<1x1x1xf32>",
    ),
    "gather": (
        "%a: tensor<3x4xf32>, %i: tensor<2x1xi32>",
        '"stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [N], collapsed_slice_dims = [N], start_index_map = [N], index_vector_dim = N>,'
        " indices_are_sorted = false, slice_sizes = array<i64: N, 4>} : (tensor<3x4xf32>, tensor<2x1xi32>) -> ",
        "tensor<2x4xf32>",
    ),
    "reduce_precision": ("%a: tensor<3xf32>", "stablehlo.reduce_precision %a, format = eNmN : ", "tensor<3xf32>"),
    "reduce_precision generic": ("%a: tensor<3xf32>", '"stablehlo.reduce_precision"(%a) {exponent_bits = T, mantissa_bits = T} : (tensor<3xf32>) -> ', "tensor<3xf32>"),
    "batch_norm": (
        "%a: tensor<2x3xf32>, %s: tensor<3xf32>",
        '"stablehlo.batch_norm_inference"(%a, %s, %s, %s, %s) {epsilon = F, feature_index = T} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ',
        "tensor<2x3xf32>",
    ),
    "fft": ("%a: tensor<3xcomplex<f32>>", "stablehlo.fft %a, type = FFT, length = [N] : (tensor<3xcomplex<f32>>) -> ", "tensor<3xcomplex<f32>>"),
    "channel": (
        "%a: tensor<2xf32>",
        '"stablehlo.all_gather"(%a) {all_gather_dim = T, channel_handle = #stablehlo.channel_handle<handle = N, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2xf32>) -> ',
        "tensor<2xf32>",
    ),
    "shape": ("%a: tensor<NxNxf32>", "stablehlo.negate %a : ", "tensor<NxNxf32>"),
    "custom_call": ("%a: tensor<3xf32>", "stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = {x = T, y = F, z = array<i8: N>, u = [T]}} : (tensor<3xf32>) -> ", "tensor<3xf32>"),
    "quantised": ("%a: tensor<3x!quant.uniform<i8:f32, F:N>>", "", "tensor<3x!quant.uniform<i8:f32, F:N>>"),
    "quantised range": ("%a: tensor<3x!quant.uniform<i8<N:N>:f32, 0.5>>", "", "tensor<3x!quant.uniform<i8<N:N>:f32, 0.5>>"),
    "quantised axis": ("%a: tensor<3x2x!quant.uniform<i8:f32:N, {F:N, F:N}>>", "", "tensor<3x2x!quant.uniform<i8:f32:N, {F:N, F:N}>>"),
}  # fmt: skip


def place(draw: random.Random, name: str) -> str:
    """The program with most numbers such that it can be legal."""
    parameters, call, result = PLACES[name]

    def number(match: re.Match) -> str:
        kind = match.group(0)
        text = draw.choice(["0", "1", "1", "0x1", "2"]) if draw.random() < 0.8 else some_number(draw)
        if name == "convolution dims" and len(text) > 4:
            text = "-3"  # jaxlib counts up to it, which takes minutes
        if kind == "F":
            text = draw.choice(["0.5", "1.e-3", "0.25"]) if draw.random() < 0.6 else some_decimal(draw)
            return (
                text if name.startswith("quantised") else text + draw.choice([" : f32"] * 9 + [" : f64", "", " : i64"])
            )
        if kind == "T":
            wanted = "i32" if name == "reduce_precision generic" else "i64"
            text += (
                f" : {wanted}"
                if draw.random() < 0.8
                else draw.choice(["", " : i8", " : si64", " : ui8", " : index", " : f32", " : none"])
            )
        return text

    def filled(text: str) -> str:
        return re.sub(r"\b[NTF]\b|(?<=<)N(?=x)|(?<=x)N(?=x)|(?<=[em])N", number, text)

    if "N" in result:
        parameters = filled(parameters)
        result = parameters.removeprefix("%a: ")
    call = filled(call)
    if not call:
        return f"func.func @main({parameters}) -> {result} {{\n  return %a : {result}\n}}"
    return f"func.func @main({parameters}) -> {result} {{\n  %0 = {call}{result}\n  return %0 : {result}\n}}"


@pytest.mark.parametrize("name", PLACES)
def test_numbers_where_operations_have_them(name: str) -> None:
    draw = random.Random(f"places {name}")
    failures = [difference(place(draw, name)) for _ in range(300)]
    assert not any(failures), "\n\n".join(filter(None, failures))


def around(call: str, parameters: str = "") -> str:
    return f"func.func @main({parameters}) -> tensor<3xf32> {{\n  {call}\n  return %0 : tensor<3xf32>\n}}"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (around("%0 = stablehlo.constant dense<300> : tensor<i8>"), "2:33", "an element of i8 was wanted, got '300'"),
        (around("%0 = stablehlo.constant dense<1> : tensor<3xf32>"), "2:33", "an element of f32 was wanted, got '1'"),
        (around('%0 = stablehlo.constant dense<"0x00"> : tensor<3xf32>'), "2:33", "the string must hold 3 elements of 4 bytes, got 1 bytes"),
        (around("%0 = stablehlo.reverse %a, dims = [99999999999999999999] : tensor<3xf32>", "%a: tensor<3xf32>"), "2:38", "an integer of 64 bits"),
        (around("%0 = stablehlo.slice %a [0:18446744073709551615] : tensor<3xf32>", "%a: tensor<3xf32>"), "2:30", "an integer of 64 bits"),
        (around("%0 = stablehlo.negate %a : tensor<99999999999999999999xf32>", "%a: tensor<3xf32>"), "2:37", "a dimension was wanted"),
        (around("%0 = stablehlo.constant dense_resource<c18446744073709551616> : tensor<3xf32>"), "2:27", "without its resource"),
        (around('%0 = stablehlo.negate %a : tensor<3xf32> loc("f":99999999999999999999:1)', "%a: tensor<3xf32>"), "2:52", "an integer of 64 bits"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_where_it_stands(text: str, place: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        wf.stablehlo.parse(text)
    assert f"<text>:{place}" in str(caught.value)


def test_a_nan_keeps_what_it_carries() -> None:
    for dtype, patterns in {
        "f32": ("7F800001", "FFC00012"),
        "f16": ("7C01", "FE12"),
        "f64": ("7FF0000000000001",),
        "bf16": ("7F81", "FFC3"),
    }.items():
        for bits in patterns:
            shown = f"tensor<{dtype}>"
            text = f"func.func @main() -> {shown} {{\n  %0 = stablehlo.constant dense<0x{bits}> : {shown}\n  return %0 : {shown}\n}}"
            graph = wf.stablehlo.parse(text)
            assert f"dense<0x{bits}>" in graph.stablehlo()
            assert graph.interpret().tobytes() == bytes.fromhex(bits)[::-1]


def test_tolerances_of_checks_are_written_as_numbers() -> None:
    text = "func.func @main(%a: tensor<f32>, %b: tensor<f32>) {\n  check.expect_almost_eq %a, %b, tolerance = 1.0e-05 : tensor<f32>\n  return\n}"
    graph = wf.stablehlo.parse(text)
    again = wf.stablehlo.parse(graph.stablehlo())
    assert again.stablehlo(locations=False) == graph.stablehlo(locations=False)
    again.interpret(np.float32(1), np.float32(1.000005))
    with pytest.raises(wf.Error, match="element"):
        again.interpret(np.float32(1), np.float32(1.00005))


@pytest.mark.parametrize(
    ("attributes", "label"),
    [
        ("all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>", "all_gather_c1"),
        ("all_gather_dim = 0 : i64, replica_groups = dense<-2> : tensor<1x1xi64>", "all_gather_replica_groups"),
    ],
)
def test_numbers_of_collective_calls_are_ranks(attributes: str, label: str) -> None:
    text = around(
        f'%0 = "stablehlo.all_gather"(%a) {{{attributes}}} : (tensor<3xf32>) -> tensor<3xf32>', "%a: tensor<3xf32>"
    )
    with pytest.raises((ValueError, TypeError), match=label):
        wf.stablehlo.parse(text)
