"""Indices into axes of symbolic extent: what may lie outside raises while tracing, or touches nothing when the program runs."""

from __future__ import annotations

import numpy as np
import pytest

import weftwork as wf


def put(x):
    x[3] = 1.0


@pytest.mark.parametrize(
    "function",
    [lambda x: x[3], lambda x: x[-4], lambda x: x[::-1][3], lambda x: np.take(x, 3), lambda x: x[[0, 3]], put],
)
def test_a_fixed_index_must_lie_inside_at_the_least_extent(function):
    x = np.arange(8.0)
    with pytest.raises(IndexError, match="at least 4") as raised:
        wf.jit(function, dynamic={"x": {0: wf.Dim("n", 3, 8, 100)}})(x)
    assert "test_symbolic_bounds.py" in str(raised.value)
    fits = wf.jit(function, dynamic={"x": {0: wf.Dim("n", 4, 8, 100)}})
    for n in (4, 8):
        ours, wanted = np.arange(float(n)), np.arange(float(n))
        np.testing.assert_array_equal(fits(ours), function(wanted))
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_nothing_is_read_from_an_axis_without_elements(mode):
    """Beside the empty array lies memory that is not to be seen."""
    beside = np.full(64, 7.0)
    x = wf.spec((wf.Dim("n", 0, 8, 100),), np.float64)
    graph = wf.trace(lambda x, i: (x[i] + 1, x[i[0]]), x, wf.spec((wf.Dim("m", 1, 3, 100),), np.int64))
    for i in (np.array([0]), np.array([5, -1, 3])):
        run = graph.interpret if mode == "interpret" else wf.compile(graph)
        with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 0"):
            run(beside[32:32], i)
        if mode == "compile":
            with wf.knobs(checks=False):
                many, one = wf.compile(graph)(beside[32:32], i)
            np.testing.assert_array_equal(many, np.ones(len(i)))
            assert one == 0


TEXTS = {
    "dynamic_slice": '%r = stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<?xf32, "n">, tensor<i32>) -> tensor<4xf32>',
    "dynamic_update_slice": '%r = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<?xf32, "n">, tensor<4xf32>, tensor<i32>) -> tensor<?xf32, "n">',
}


@pytest.mark.parametrize("op", TEXTS)
@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_parts_larger_than_an_array_are_not_taken_and_not_put(op, mode):
    result = "tensor<4xf32>" if op == "dynamic_slice" else 'tensor<?xf32, "n">'
    text = f'func.func @main(%x: tensor<?xf32, "n">, %u: tensor<4xf32>, %i: tensor<i32>) -> {result} {{\n  {TEXTS[op]}\n  return %r : {result}\n}}'
    graph = wf.stablehlo.parse(text)
    run = graph.interpret if mode == "interpret" else wf.compile(graph)
    memory = np.full(32, 7, np.float32)
    x, u = memory[16:18], np.full(4, 5, np.float32)
    wanted = np.zeros(4) if op == "dynamic_slice" else x
    np.testing.assert_array_equal(run(x, u, np.array(1, np.int32)), wanted)
    assert (memory == 7).all()
    whole = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(
        run(whole, u, np.array(3, np.int32)), whole[1:] if op == "dynamic_slice" else [0, 5, 5, 5, 5]
    )


def test_a_slice_must_fit_the_least_extent():
    text = 'func.func @main(%x: tensor<?xf32, "n">) -> tensor<4xf32> {\n  %r = stablehlo.slice %x [0:4] : (tensor<?xf32, "n">) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n}'
    with pytest.raises(wf.errors.Error, match=r"0 <= 0 <= 4 <= n"):
        wf.stablehlo.parse(text)


def test_a_slice_of_text_must_lie_in_the_array_for_all_extents():
    """NumPy cuts off what sticks out, and its text says so; the text of others may not."""
    specs = [wf.spec((wf.Dim("n", 1, 64, 4096),), np.float32), wf.spec((wf.Dim("m", 1, 64, 4096),), np.float32)]
    text = wf.trace(lambda x, y: x[: y.shape[0]] + y[0], *specs).stablehlo()
    x, y = np.arange(4, dtype=np.float32), np.ones(9, np.float32)
    for graph in (wf.stablehlo.parse(text), wf.stablehlo.parse(wf.stablehlo.parse(text).stablehlo())):
        np.testing.assert_array_equal(wf.compile(graph)(x, y), x + 1)
        np.testing.assert_array_equal(wf.simulate(graph)(x, y[:3]), x[:3] + 1)
    with pytest.raises(wf.errors.ArgumentValueError, match=r"0 <= 0 <= m <= n must hold.*slice_c3"):
        wf.stablehlo.parse(text.replace("min(m, n)", "m"))
    pad = 'func.func @main(%x: tensor<?xf32, "n">, %c: tensor<f32>) -> tensor<?xf32, "n - 2"> {\n  %r = stablehlo.pad %x, %c, low = [-2], high = [0], interior = [0] : (tensor<?xf32, "n">, tensor<f32>) -> tensor<?xf32, "n - 2">\n  return %r : tensor<?xf32, "n - 2">\n}'
    with pytest.raises(wf.errors.ArgumentValueError, match=r"n - 2, which may be negative.*pad_c4"):
        wf.stablehlo.parse(pad)


def test_a_fixed_index_into_a_computed_extent_is_brought_inside():
    x = np.arange(8.0)
    half = wf.jit(lambda x: x[x.shape[0] // 2 :][0], dynamic={"x": {0: wf.Dim("n", 1, 8, 100)}})
    assert half(x) == 4
    assert half(x[:5]) == 2
    with pytest.raises(IndexError):
        wf.jit(lambda x: x[1:][200], dynamic={"x": {0: wf.Dim("n", 1, 8, 100)}})(x)


def test_writes_to_what_is_a_view_in_numpy_and_a_copy_here_raise():
    def double(x):
        for row in x:
            row *= 2

    with pytest.raises(wf.errors.Error, match=r"write x\[i, ...\] = value"):
        wf.jit(double, dynamic={"x": {0: wf.Dim("n", 1, 16, 200)}})(np.ones((20, 3)))


@pytest.mark.parametrize("strides", [1, 2])
def test_an_update_must_fit_the_least_extent(strides):
    x = 'tensor<?xf32, "n">'
    text = f'func.func @main(%x: {x}, %u: tensor<4xf32>) -> {x} {{\n  %r = "weft.update_slice"(%x, %u) {{start_indices = array<i64: 0>, strides = array<i64: {strides}>}} : ({x}, tensor<4xf32>) -> {x}\n  return %r : {x}\n}}'
    with pytest.raises(wf.errors.Error, match="must lie in n"):
        wf.stablehlo.parse(text)


def test_text_cannot_name_views_that_nothing_holds_to_their_operand():
    text = 'func.func @main(%x: tensor<3xf32>) -> tensor<9xf32> {\n  %r = "weft.strided_view"(%x) {dims = array<i64: 9>, axes = array<i64: 0>, strides = array<i64: 1>, start_indices = array<i64: 0>} : (tensor<3xf32>) -> tensor<9xf32>\n  return %r : tensor<9xf32>\n}'
    with pytest.raises(wf.errors.Error, match=r"weft\.strided_view"):
        wf.stablehlo.parse(text)


def test_places_are_compared_whole_where_32_bits_hold_them_or_not():
    """Sums of places and numbers around what 32 bits hold, by vectors and by what is left."""

    def masks(x):
        rows, columns = np.arange(x.shape[0])[:, None], np.arange(x.shape[1])
        limits = [0, 2**31 - 70, 2**31 - 30, 2**31 + 7, -(2**31) - 30, 2**40]
        return [
            f(columns + a, rows + a + b)
            for a in limits
            for b in (-3, 0, 2**31)
            for f in (np.less_equal, np.greater, np.equal)
        ]

    x = np.zeros((37, 67))
    for f in (wf.jit(masks), wf.jit(masks, dynamic={"x": {0: wf.Dim("m", 1, 30, 90), 1: "n"}})):
        for found, wanted in zip(f(x), masks(x), strict=True):
            np.testing.assert_array_equal(found, wanted)
