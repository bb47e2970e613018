"""What the text may hold besides tensors and operations: tuples, tokens, expectations; and what it may not."""

from __future__ import annotations

import time

import numpy as np
import pytest
from test_stablehlo import forms_of_jaxlib

import weftwork as wf

EXPECTATIONS = """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x2xf32>
  check.expect_eq %0, %0 : tensor<2x2xf32>
  check.expect_almost_eq %0, %0 : tensor<2x2xf32>
  check.expect_close %0, %0, max_ulp_difference = 1 : tensor<2x2xf32>, tensor<2x2xf32>
  "check.expect_eq"(%0, %0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  CHECK
  return %0 : tensor<2x2xf32>
}"""


@pytest.mark.parametrize(
    ("check", "element"),
    [
        ("check.expect_eq_const %0, dense<2.0> : tensor<2x2xf32>", 3.0),
        ("check.expect_almost_eq_const %0, dense<2.0005> : tensor<2x2xf32>", 1.002),
        ('"check.expect_eq_const"(%0) {value = dense<2.0> : tensor<2x2xf32>} : (tensor<2x2xf32>) -> ()', 1.0001),
        ("check.expect_close %0, %c : tensor<2x2xf32>, tensor<2x2xf32>", 1.000001),
    ],
)
def test_expectations_name_the_first_element_that_differs(check: str, element: float) -> None:
    if "%c" in check:
        check = "%c = stablehlo.constant dense<2.0> : tensor<2x2xf32>\n  " + check
    graph = wf.stablehlo.parse(EXPECTATIONS.replace("CHECK", check))
    assert wf.stablehlo.parse(graph.stablehlo()).core.equal(graph.core)
    x = np.ones((2, 2), np.float32)
    np.testing.assert_array_equal(graph.interpret(x), x + x)
    x[1, 0] = element
    with pytest.raises(wf.errors.ExecutionError, match=r"check.expect_\w+: element \[1, 0\] must be 2\.0.*, got "):
        graph.interpret(x)
    with pytest.raises(wf.errors.UnsupportedError, match="only the interpreter runs it"):
        wf.compile(graph)


TRANSFERS = """func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> (tensor<4xf32>, !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {infeed_config = "abc", layout = [[0]]} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %1 = "stablehlo.outfeed"(%x, %0#0, %0#1) {outfeed_config = ""} : (tensor<4xf32>, tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.send"(%0#0, %1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %3:2 = "stablehlo.recv"(%2) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %3#0, %3#1 : tensor<4xf32>, !stablehlo.token
}"""


def test_transfers_are_kept_in_order_and_say_that_they_cannot_run() -> None:
    graph = wf.stablehlo.parse(TRANSFERS)
    text = graph.stablehlo(locations=False)
    assert [name for name in ("infeed", "outfeed", "send", "recv") if f'"stablehlo.{name}"(' in text] == [
        "infeed",
        "outfeed",
        "send",
        "recv",
    ]
    assert text.index("outfeed") < text.index("stablehlo.send") < text.index("stablehlo.recv")
    assert wf.stablehlo.parse(graph.stablehlo()).core.equal(graph.core)
    for form in (*forms_of_jaxlib(TRANSFERS), *forms_of_jaxlib(graph.stablehlo())):
        again = wf.stablehlo.parse(form).stablehlo(locations=False)
        assert again.split("->", 1)[1] == text.split("->", 1)[1]
    with pytest.raises(wf.errors.UnsupportedError, match=r"'stablehlo.infeed' is known"):
        graph.interpret(np.ones(4, np.float32))
    with pytest.raises(
        wf.errors.UnsupportedError, match=r"'stablehlo.outfeed' gives nothing, and no implementation is known"
    ):
        wf.compile(graph)
    with pytest.raises(wf.errors.UnsupportedError, match="HLO needs tokens"):
        graph.hlo_proto()


BOUNDED = """func.func @main(%x: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) {
  %0 = stablehlo.tanh %x : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  return %0, %1 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<i32>
}"""


def test_a_bounded_extent_of_a_parameter_is_symbolic() -> None:
    graph = wf.stablehlo.parse(BOUNDED)
    for rows in (0, 1, 4):
        x = np.ones((rows, 3), np.float32)
        for run in (wf.simulate(graph), wf.compile(graph)):
            y, n = run(x)
            np.testing.assert_allclose(y, np.tanh(x), rtol=1e-6)
            assert n == rows
    with pytest.raises(ValueError, match="4"):
        wf.compile(graph)(np.ones((5, 3), np.float32))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>", "decides a shape and must be a constant"),
        ("%c = stablehlo.constant dense<5> : tensor<i32>\n  %0 = stablehlo.set_dimension_size %x, %c, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>", "within 0 to 4"),
        ("%c = stablehlo.constant dense<3> : tensor<i32>\n  %0 = stablehlo.set_dimension_size %x, %c, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<2>>", "result 0 must be"),
        ("%0 = stablehlo.iota dim = 0 : tensor<?xf32, #stablehlo.bounds<4>>", "bounds alone"),
        ("%0 = stablehlo.tanh %x : tensor<?xf32, #stablehlo.bounds<4, 4>>", "bound"),
        ("%0 = stablehlo.tanh %x : tensor<?xf32, #stablehlo.bounds<?>>", "needs a bound"),
        ("%0 = stablehlo.tanh %x : tensor<4xf32, #stablehlo.bounds<4>>", "no other has one"),
    ],
)  # fmt: skip
def test_sizes_that_are_not_known_are_refused(line: str, message: str) -> None:
    text = f"func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {{\n  {line}\n  return %x : tensor<4xf32>\n}}"
    with pytest.raises(wf.errors.Error, match=rf"{message}(.|\n)*<text>:[23]:\d"):
        wf.stablehlo.parse(text)


def test_tuples_and_tokens_are_names_for_values() -> None:
    graph = wf.stablehlo.parse("""
func.func @main(%x: tuple<tensor<2xf32>, tuple<tensor<i32>>>, %t: !stablehlo.token) -> (tuple<tensor<2xf32>, tensor<i32>>, !stablehlo.token) {
  %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>>>) -> tensor<2xf32>
  %3 = stablehlo.tuple %2, %1 : tuple<tensor<2xf32>, tensor<i32>>
  return %3, %t : tuple<tensor<2xf32>, tensor<i32>>, !stablehlo.token
}""")
    assert [info.name for info in graph.inputs] == ["x.0", "x.1.0"]
    x, i = graph.interpret(np.ones(2, np.float32), np.int32(3))
    assert (x.tolist(), int(i)) == ([1, 1], 3)


def test_an_index_past_a_tuple_is_rejected() -> None:
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tuple %x : tuple<tensor<f32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return %1 : tensor<f32>
}"""
    with pytest.raises(ValueError, match="the index of one of its elements, got 1") as caught:
        wf.stablehlo.parse(text, "t.mlir")
    assert "t.mlir:3:3" in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        '%1 = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>',
        '%1 = "stablehlo.send"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
        '%1 = "chlo.ragged_dot"(%x, %x, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0]>} : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>',
        '%1 = "stablehlo.uniform_quantize"(%x) : (tensor<4xf32>) -> tensor<4xi8>',
        '%1 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>',
        "%1 = stablehlo.real_dynamic_slice %x, %s, %s, %s : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>",
    ],
)
def test_what_is_not_supported_says_so(call: str) -> None:
    text = f"func.func @main(%x: tensor<4xf32>, %n: tensor<i32>, %s: tensor<1xi64>) -> tensor<4xf32> {{\n  {call}\n  return %x : tensor<4xf32>\n}}"
    with pytest.raises((wf.errors.UnsupportedError, wf.errors.ArgumentTypeError)) as caught:
        wf.stablehlo.parse(text, "t.mlir")
    assert "t.mlir:2:3" in str(caught.value)


def chain(length: int, calls: int) -> str:
    """Functions that each call the next one several times."""
    lines = ["func.func @f0(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}"]
    for i in range(1, length):
        body = "\n".join(
            f"  %{k} = call @f{i - 1}({'%x' if k == 0 else f'%{k - 1}'}) : (tensor<f32>) -> tensor<f32>"
            for k in range(calls)
        )
        lines.append(
            f"func.func @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n{body}\n  return %{calls - 1} : tensor<f32>\n}}"
        )
    return "\n".join(reversed(lines))


def around(line: str) -> str:
    return f"func.func @main() -> tensor<f32> {{\n  {line}\n  %r = stablehlo.constant dense<1.0> : tensor<f32>\n  return %r : tensor<f32>\n}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (chain(60, 2), "must have less than 1000000 operations"),
        (chain(5000, 1), "calls within calls must end"),
        (around('"stablehlo.constant"() {value = ' + "[" * 100000 + "}"), "less nesting was wanted"),
        (around("%0 = stablehlo.constant dense<" + "[" * 100000), "less nesting was wanted"),
        (
            around("%0 = stablehlo.constant dense<1.0> : tensor<9223372036854775807x9223372036854775807xf32>"),
            "overflow",
        ),
        (
            around("%0 = stablehlo.constant dense<[1.0]> : tensor<9000000000xf32>"),
            "must have the shape of tensor<9000000000xf32>",
        ),
        (
            "func.func @main(%0: tensor<i32>) {" + '"stablehlo.case"(%0) ({' * 100000 + "}" * 100001,
            "less nesting was wanted",
        ),
    ],
)
def test_what_is_too_large_is_rejected_at_once(text: str, message: str) -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match=message):
        wf.stablehlo.parse(text)
    assert time.monotonic() - start < 5


def test_a_huge_splat_takes_no_memory() -> None:
    text = (
        around("%0 = stablehlo.constant dense<2.0> : tensor<1000000x1000000xf32>")
        .replace("return %r", "return %s")
        .replace(
            "  return",
            "  %s = stablehlo.slice %0 [0:1, 0:1] : (tensor<1000000x1000000xf32>) -> tensor<1x1xf32>\n  return",
        )
        .replace("-> tensor<f32> {", "-> tensor<1x1xf32> {")
        .replace("%s : tensor<f32>", "%s : tensor<1x1xf32>")
    )
    assert "tensor<1000000x1000000xf32>" in wf.stablehlo.parse(text).stablehlo()


BODIES = {
    "reduce": """%0 = "stablehlo.reduce"(%x, %s) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>""",
    "reduce_window": """%0 = "stablehlo.reduce_window"(%x, %s) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {window_dimensions = array<i64: 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>""",
    "select_and_scatter": """%0 = "stablehlo.select_and_scatter"(%x, %x, %s) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, { ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {window_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>""",
    "scatter": """%0 = "stablehlo.scatter"(%x, %i, %s) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>} : (tensor<4xf32>, tensor<1xi32>, tensor<f32>) -> tensor<4xf32>""",
    "sort": """%0 = "stablehlo.sort"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>""",
    "all_reduce": """%0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>""",
    "reduce_scatter": """%0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>""",
    "map": """%0 = "stablehlo.map"(%x, %x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>""",
    "if": """%0 = "stablehlo.if"(%p) ({
    stablehlo.return %s : tensor<f32>
  }, {
    %a = stablehlo.add %s, %s : tensor<f32>
    %b = stablehlo.add %s, %s : tensor<f32>
  BODY
  }) : (tensor<i1>) -> tensor<f32>""",
    "while": """%0 = stablehlo.while(%a = %s) : tensor<f32>
  cond { stablehlo.return %p : tensor<i1> }
  do { %b = stablehlo.add %a, %a : tensor<f32>
  BODY
  }""",
    "async_start": """%f = "stablehlo.async_start"(%x) ({ ^bb0(%a: tensor<f32>):
    %b = stablehlo.add %a, %a : tensor<f32>
  BODY
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<f32>>""",
    "scan": """%0:2 = chlo.scan(%x) inits (%s) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  BODY
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)""",
}
RETURNS = {
    "another dtype": "%r = stablehlo.convert %a : (tensor<f32>) -> tensor<f64>\n  stablehlo.return %r : tensor<f64>",
    "another shape": "%r = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>\n  stablehlo.return %r : tensor<1xf32>",
    "three values": "stablehlo.return %a, %b, %b : tensor<f32>, tensor<f32>, tensor<f32>",
    "a type that is not its own": "stablehlo.return %a : tensor<f64>",
}


@pytest.mark.parametrize("what", RETURNS)
@pytest.mark.parametrize("op", BODIES)
def test_a_body_of_another_type_is_refused(op: str, what: str) -> None:
    parameters = "%x: tensor<4xf32>, %s: tensor<f32>, %i: tensor<1xi32>, %p: tensor<i1>"
    text = f"func.func @main({parameters}) -> tensor<4xf32> {{\n  {BODIES[op].replace('BODY', RETURNS[what])}\n  return %x : tensor<4xf32>\n}}"
    with pytest.raises(wf.errors.Error, match=r"<text>:\d+:\d+"):
        wf.stablehlo.parse(text)


def test_a_function_gives_what_it_declares() -> None:
    for types, returned in [
        ("tensor<2xf32>", "%x : tensor<3xf32>"),
        ("tensor<3xf32>", "%x : tensor<2xf32>"),
        ("(tensor<2xf32>, tensor<2xf32>)", "%x : tensor<2xf32>"),
    ]:
        with pytest.raises(wf.errors.ArgumentValueError, match=r"\[result_type\]"):
            wf.stablehlo.parse(f"func.func @main(%x: tensor<2xf32>) -> {types} {{\n  return {returned}\n}}")


@pytest.mark.parametrize(
    ("numbers", "sizes"),
    [
        (
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 2",
            "1, 1",
        ),
        (
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2",
            "1, 1",
        ),
        (
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2",
            "1, 1",
        ),
        (
            "collapsed_slice_dims = [0, 1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2",
            "1, 1",
        ),
        (
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2",
            "1, 1",
        ),
        (
            "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2",
            "1, 0",
        ),
        ("offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 2", "1, -1"),
    ],
)
def test_a_gather_that_would_read_elsewhere_is_refused(numbers: str, sizes: str) -> None:
    text = f"""func.func @main(%x: tensor<2x5xf32>, %i: tensor<2x3x1xi32>) -> tensor<2x3xf32> {{
  %0 = "stablehlo.gather"(%x, %i) {{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {sizes}>}} : (tensor<2x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}}"""
    with pytest.raises(wf.errors.ArgumentTypeError, match=r"gather: (.|\n)*<text>:2:3"):
        wf.stablehlo.parse(text)
