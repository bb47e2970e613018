"""Functions divided among ranks, against the same function of whole arrays by NumPy."""

import itertools
import random

import numpy as np
import pytest

import weftwork as wf
from weftwork.distributed import Mesh, constrain, shard, spawn

GRID = Mesh((2, 2), ("data", "model"))
LINE = Mesh((3,), ("data",))
LINE_OF_TWO = Mesh((2,), ("data",))


def ran(function, mesh, arrays, divisors, results=None):
    """The whole results of a function that every rank calls with its parts, as every rank has them in the end."""
    shardings = [mesh.sharding(*d) for d in divisors]
    divided = shard(function, mesh, shardings, results)

    def call():
        parts = [np.array(s.part(a)) for s, a in zip(shardings, arrays, strict=True)]
        given = divided(*parts)
        how = divided.result_shardings(*parts)
        if not isinstance(given, tuple):
            given, how = (given,), (how,)
        whole = [s.whole(part) for s, part in zip(how, given, strict=True)]
        # An argument that the function wrote.
        return whole, [s.whole(p) for s, p in zip(shardings, parts, strict=True)]

    return spawn(call, mesh.size, method="thread", timeout=60)


def check(function, mesh, arrays, divisors, results=None, tolerance=1e-12):
    written = [a.copy() for a in arrays]
    wanted = function(*written)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for whole, after in ran(function, mesh, arrays, divisors, results):
        for value, expected in zip([*whole, *after], [*wanted, *written], strict=True):
            assert np.asarray(value).dtype == np.asarray(expected).dtype
            np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def drawn(*shapes, dtype=np.float64):
    rng = np.random.default_rng(len(shapes))
    return [(rng.normal(size=shape) * 4).astype(dtype) for shape in shapes]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v):
    scores = np.where(np.tri(q.shape[1], dtype=bool), q @ k.swapaxes(1, 2) / 2, -np.inf)
    return softmax(scores) @ v


def in_place(x, y):
    x[1:] += y[:-1]
    x *= 2
    return x.sum(0)


UNARY = {
    "elementwise": lambda x: np.tanh(x) * 2 + x,
    "softmax": softmax,
    "norm": lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
    "all": lambda x: (x.sum(), x.max(), x.min(), np.prod(x / 8), np.any(x > 3), np.all(x < 3), x.std()),
    "sums": lambda x: (x.sum(0), x.sum(1), x.max(0), x.argmax(0), x.argmin(1)),
    "views": lambda x: (x.T, x[::-1], x[:, 1:3], x[::2], x.reshape(4, 2, 12), x.reshape(-1), x.reshape(2, 4, 6, 2)),
    "joined": lambda x: (
        np.concatenate([x, x + 1]),
        np.concatenate([x, x], 1),
        np.pad(x, ((0, 0), (1, 2))),
        np.stack([x, -x]),
    ),
    "sorted": lambda x: (np.sort(x, 0), np.argsort(x, 1), np.cumsum(x, 0), np.cumsum(x, 1)),
    "filled": lambda x: (
        x + np.arange(12),
        np.where(np.arange(8)[:, None] < 3, x, 0),
        np.ones_like(x),
        x * np.eye(8, 12),
    ),
    "products": lambda x: (x @ x.T, x.T @ x, np.einsum("ij,ij->i", x, x), np.linalg.inv(x @ x.T + 99 * np.eye(8))),
    "taken": lambda x: (x[np.array([3, 0, 3])], np.take(x, np.array([1, 5]), 1), x[1], x[:, 2]),
    "diff": lambda x: (np.diff(x, axis=0), np.roll(x, 1, 0), np.roll(x, 2, 1), np.median(x, 0)),
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("divisors", [("data",), (None, "model"), ("data", "model"), (("data", "model"),), ()], ids=str)
def test_functions_of_one_array(name, divisors):
    check(UNARY[name], GRID, drawn((8, 12)), [divisors])


@pytest.mark.parametrize(
    "left", [(), ("data",), (None, "data"), (None, "model"), ("data", "model"), ("model", "data")], ids=str
)
@pytest.mark.parametrize(
    "right", [(), ("data",), ("model",), (None, "model"), (("model", "data"),), ("data", "model")], ids=str
)
def test_products(left, right):
    check(lambda x, y: x @ y + 1, GRID, drawn((4, 8), (8, 12)), [left, right])


@pytest.mark.parametrize(
    "divisors", [("data",), (None, "data"), (None, None, "model"), ("data", None, "model"), ("model", "data")], ids=str
)
def test_attention(divisors):
    check(attention, GRID, drawn((4, 6, 8), (4, 6, 8), (4, 6, 8)), [divisors] * 3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float32", "complex64", "complex128"])
def test_dtypes(dtype):
    [x] = drawn((6, 4), dtype=dtype)
    check(
        lambda x: (x.sum(0), np.multiply(x, x).max() if x.dtype.kind != "c" else x.mean(0), x.T @ x),
        LINE,
        [x],
        [("data",)],
        tolerance=1e-5,
    )


@pytest.mark.parametrize(
    "divisors", [("data",), (None, "model"), ("model", "data"), (None, ("data", "model"))], ids=str
)
def test_what_is_divided_so_is_what_was_asked_for(divisors):
    x, w = drawn((8, 4), (4, 8))
    given, wanted = [GRID.sharding("data"), GRID.sharding("data", "model")], GRID.sharding(*divisors)
    divided = shard(lambda x, w: x @ w, GRID, given, wanted)

    def call():
        return divided(given[0].part(x), given[1].part(w))

    for rank, result in enumerate(spawn(call, 4, method="thread", timeout=60)):
        np.testing.assert_allclose(result, wanted.part(x @ w, rank), rtol=1e-12)


def test_arrays_that_are_written():
    check(in_place, GRID, drawn((4, 6), (4, 6)), [("data",), (None, "model")])
    check(in_place, GRID, drawn((4, 6), (4, 6)), [(), ("data", "model")])


def perceptron(weights, x, y, rate):
    """A step of gradient descent of two layers; gives weights of the same structure, and the loss."""
    hidden = np.maximum(x @ weights["in"] + weights["bias"], 0)
    error = hidden @ weights["out"] - y
    back = error @ weights["out"].T * (hidden > 0)
    steps = {"in": x.T @ back, "bias": back.sum(0), "out": hidden.T @ error}
    return {name: weights[name] - rate * steps[name] / len(x) for name in weights}, (error**2).mean()


@pytest.mark.parametrize("method", ["thread", "fork"])
def test_training_with_data_and_tensor_parallelism(method):
    rng = np.random.default_rng(0)
    weights = {"in": rng.normal(size=(6, 8)), "bias": np.zeros(8), "out": rng.normal(size=(8, 2))}
    x, y = rng.normal(size=(12, 6)), rng.normal(size=(12, 2))
    divided = {"in": GRID.sharding(None, "model"), "bias": GRID.sharding("model"), "out": GRID.sharding("model")}
    rows = GRID.sharding("data")
    step = shard(perceptron, GRID, [divided, rows, rows, None], (divided, None))

    def train():
        parts = {name: divided[name].part(weights[name]) for name in weights}
        for _ in range(5):
            parts, loss = step(parts, rows.part(x), rows.part(y), 0.05)
        return {name: divided[name].whole(part) for name, part in parts.items()}, loss

    wanted = weights
    for _ in range(5):
        wanted, loss = perceptron(wanted, x, y, 0.05)
    for found, found_loss in spawn(train, 4, method=method, timeout=60):
        assert found_loss == pytest.approx(loss, rel=1e-12)
        for name in wanted:
            np.testing.assert_allclose(found[name], wanted[name], rtol=1e-10)
    text = step.graph(
        {n: divided[n].part(w, 0) for n, w in weights.items()}, rows.part(x, 0), rows.part(y, 0), 0.05
    ).text()
    # The product with "out" and the loss; the three gradients. Weights never meet.
    assert text.count("all_reduce") == 5 and "all_gather" not in text and "all_to_all" not in text


def test_a_table_is_read_by_divided_rows_and_columns():
    table, [rows] = drawn((10, 4))[0], [np.array([[3, 0, 9], [1, 1, 2]])]
    for divisors in itertools.product([(), ("data",), (None, "model")], [(), ("data",)]):
        check(lambda t, i: t[i] * 2, GRID, [table, rows], divisors)


def added_to_rows(x, i):
    total = np.zeros((10, 4))
    np.add.at(total, i, x)
    return total


def written_rows(table, x, i):
    table[i] = x
    return table * 2


def test_a_table_is_written_by_divided_rows_and_columns():
    i, x = np.array([3, 0, 9, 3]), drawn((4, 4))[0]
    for divisors in itertools.product([(), ("data",), (None, "model"), ("data", "model")], [(), ("data",)]):
        check(added_to_rows, GRID, [x, i], divisors)
    for divisors in itertools.product([(), ("data",), (None, "model")], [(), (None, "model"), ("data",)], [()]):
        check(written_rows, GRID, [*drawn((10, 4)), x, np.array([3, 0, 9, 1])], divisors)
    gradient = shard(added_to_rows, GRID, [GRID.sharding("data"), GRID.sharding("data")])
    text = gradient.graph(wf.spec((2, 4), np.float64), wf.spec((2,), np.int64)).text()
    assert text.count("all_reduce(") == 1 and "all_gather" not in text


def test_collectives_are_only_where_parts_meet():
    rows = GRID.sharding("data", "model")
    spec = wf.spec((4, 3), np.float64)
    assert "all_" not in shard(lambda x: np.exp(x).T * 2, GRID, rows).graph(spec).text()
    text = (
        shard(lambda x: x.sum(0), GRID, rows, GRID.sharding(("model", "data")))
        .graph(wf.spec((4, 4), np.float64))
        .text()
    )
    assert "reduce_scatter" in text and "all_reduce" not in text
    moved = (
        shard(lambda x: x + 1, GRID, GRID.sharding("data"), GRID.sharding(None, "data"))
        .graph(wf.spec((4, 4), np.float64))
        .text()
    )
    assert "all_to_all" in moved and "all_gather" not in moved


def test_what_cannot_be_divided_says_so():
    rows, x = GRID.sharding("data"), np.ones((4, 3))
    for call, words in [
        (
            lambda: rows.part(np.ones((3, 2)), 0),
            "dimension 0 of an array of shape (3, 2) cannot be divided into 2 equal parts",
        ),
        (lambda: GRID.sharding("data", "data"), "an axis of the mesh divides one dimension"),
        (lambda: GRID.sharding("rows"), "the mesh has the axes ('data', 'model'), not 'rows'"),
        (lambda: Mesh((2, 2), ("a", "a")), "a name of its own"),
        (lambda: GRID.coordinates(4), "has no rank 4"),
        (lambda: shard(np.sin, GRID, GRID.sharding(None, None, "data"))(x), "cannot be divided as"),
        (lambda: shard(np.sin, GRID, [rows, rows])(x), "in_shardings has 2 items for 1 arguments"),
        (lambda: shard(np.sin, GRID, LINE.sharding("data"))(x), "a sharding of another mesh"),
        (lambda: shard(lambda x: x[:3], GRID, rows, rows)(x), "cannot be divided into 2 equal parts"),
    ]:
        with pytest.raises(wf.errors.ArgumentValueError) as raised:
            call()
        assert words in str(raised.value)


def test_arguments_that_are_no_arrays():
    scaled = shard(lambda x, power, rate: x**power * rate, GRID, [GRID.sharding("data"), None, None])
    x = np.arange(4.0)
    for power, rate in [(2, 0.5), (3, 0.5), (3, 2.0)]:
        np.testing.assert_array_equal(scaled(x[:2], power, rate), x[:2] ** power * rate)
    for other in ({1}, [{1}, set()]):
        with pytest.raises(wf.errors.ArgumentTypeError, match="NumPy's arrays"):
            scaled(other, 2, 0.5)


def test_empty_arrays_and_scalars():
    check(lambda x: (x.sum(0), x * 2, x.T), GRID, [np.zeros((0, 4))], [("data", "model")])
    check(lambda x, y: x * y, GRID, [np.array(2.0), np.ones((2, 2))], [(), ("data",)])


def test_a_value_is_divided_as_it_is_told():
    model = GRID.sharding(None, "model")

    def layers(x, w):
        hidden = constrain(np.tanh(x @ w), model)
        return hidden @ w.T, constrain(hidden * 2, GRID.sharding())

    check(layers, GRID, drawn((4, 6), (6, 8)), [("data",), ()])
    text = (
        shard(layers, GRID, [GRID.sharding("data"), None])
        .graph(wf.spec((2, 6), np.float64), wf.spec((6, 8), np.float64))
        .text()
    )
    assert "all_gather" in text and "all_reduce" in text
    x, w = drawn((4, 6), (6, 8))
    np.testing.assert_allclose(wf.jit(layers)(x, w)[1], np.tanh(x @ w) * 2, rtol=1e-12)
    np.testing.assert_allclose(
        wf.stablehlo.parse(wf.trace(layers, x, w).mlir()).core.interpret([x, w])[0], layers(x, w)[0], rtol=1e-12
    )


SHARDY = """
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(
      %x: tensor<8x6xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>},
      %w: tensor<6x4xf64> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}p1]>}, %b: tensor<4xf64>)
      -> (tensor<8x4xf64> {jax.result_info = "y", sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {}]>}, tensor<8x6xf64>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x6xf64>, tensor<6x4xf64>) -> tensor<8x4xf64>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf64>) -> tensor<8x4xf64>
    %2 = stablehlo.add %0, %1 : tensor<8x4xf64>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"model"}]> : tensor<8x4xf64>
    %4 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x6xf64>) -> tensor<8x6xf64>
    return %3, %4 : tensor<8x4xf64>, tensor<8x6xf64>
  }
}
"""


def test_text_of_shardy():
    whole = wf.stablehlo.parse(SHARDY)
    x, w, b = drawn((8, 6), (6, 4), (4,))
    np.testing.assert_allclose(wf.compile(whole)(x, w, b)[0], x @ w + b, rtol=1e-12)
    for graph in (whole, wf.stablehlo.parse(whole.mlir())):
        of_rank = wf.distributed.shard_graph(graph)
        assert [tuple(i.shape) for i in of_rank.inputs] == [(4, 6), (6, 2), (4,)]
        assert [tuple(o.shape) for o in of_rank.outputs] == [(2, 4), (8, 6)]
        run = wf.compile(of_rank)
        parts = spawn(
            lambda run=run: run(GRID.sharding("data").part(x), GRID.sharding(None, "model").part(w), b),
            4,
            method="thread",
            timeout=60,
        )
        for rank, (y, same) in enumerate(parts):
            np.testing.assert_allclose(y, GRID.sharding(("data", "model")).part(x @ w + b, rank), rtol=1e-12)
            np.testing.assert_array_equal(same, x)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('<@mesh, [{"data"}, {?}]>', "does not say"),
        ('#sdy.sharding<@mesh, [{"rows"}, {?}]>', "has no axis 'rows'"),
        ('#sdy.sharding<@mesh, [{"data":(1)2}, {?}]>', "a part of an axis"),
        ('#sdy.sharding<@mesh, [{"data"}]>', "needs a sharding of 2 dimensions"),
        ('#sdy.sharding<mesh<["data"=4]>, [{"data"}, {?}]>', "of another mesh"),
    ],
)
def test_text_that_cannot_be_divided_runs_on_one_rank_and_says_why_not(change, words):
    text = SHARDY.replace('#sdy.sharding<@mesh, [{"data"}, {?}]>', change, 1)
    if words == "does not say":
        text = text.replace('"data"=2, "model"=2', '"data"=1, "model"=1').replace(
            change, '#sdy.sharding<@mesh, [{"data"}, {?}]>'
        )
    graph = wf.stablehlo.parse(text)
    x, w, b = drawn((8, 6), (6, 4), (4,))
    np.testing.assert_allclose(wf.compile(graph)(x, w, b)[0], x @ w + b, rtol=1e-12)
    with pytest.raises(wf.Error, match=words):
        wf.distributed.shard_graph(graph)


# -- drawn programs ----------------------------------------------------------------------------------------------------


def step_of(draw):
    """A function of a list of matrices that adds one to it."""
    axis, shift = draw.randrange(2), draw.randrange(1, 4)
    return draw.choice(
        [
            lambda a, b: a * 0.5 + np.sin(a),
            lambda a, b: a + b if a.shape == b.shape else a - 1,
            lambda a, b: a @ b / 8 if a.shape[1] == b.shape[0] else a.T,
            lambda a, b: a - a.mean(axis, keepdims=True),
            lambda a, b: a.T,
            lambda a, b: np.roll(a, shift, axis),
            lambda a, b: np.concatenate([a, a[:, ::-1]], axis)[: a.shape[0], : a.shape[1]],
            lambda a, b: a.reshape(a.shape[1], a.shape[0]),
            lambda a, b: np.where(a > np.arange(a.shape[1]) - 4, a, 0.25),
            lambda a, b: np.sort(a, axis),
            lambda a, b: np.cumsum(a, axis) / 8,
            lambda a, b: np.pad(a, 1)[1 : 1 + a.shape[0], 2:],
            lambda a, b: a[np.arange(a.shape[0])[::-1]],
            lambda a, b: np.broadcast_to(a.max(axis, keepdims=True), a.shape) + a,
        ]
    )


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed >= 8 else ()) for seed in range(60)]
)
def test_drawn_programs(seed):
    draw = random.Random(seed)
    steps = [(step_of(draw), draw.random(), draw.random()) for _ in range(8)]

    def program(*arrays):
        values = list(arrays)
        for step, left, right in steps:
            a, b = (values[int(share * len(values))] for share in (left, right))
            values.append(step(a, b))
        return tuple(values[len(arrays) :])

    shapes = [draw.choice([(8, 8), (8, 4), (4, 12)]) for _ in range(2)]
    choices = [
        (),
        ("data",),
        (None, "data"),
        (None, "model"),
        ("model", "data"),
        ("data", "model"),
        (("data", "model"),),
        (None, ("model", "data")),
    ]
    check(program, GRID, drawn(*shapes), [draw.choice(choices) for _ in shapes], tolerance=1e-9)


def test_lazy_tensors_are_divided_as_arrays_are():
    x, w = drawn((4, 6), (6, 8))
    rows, columns = LINE_OF_TWO.sharding("data"), LINE_OF_TWO.sharding(None, "data")
    divided = shard(
        lambda a: {"y": np.tanh(a["x"]) @ a["w"], "sum": a["x"].sum()}, LINE_OF_TWO, [{"x": rows, "w": None}]
    )

    def call():
        given = {"x": wf.asarray(rows.part(x).copy()), "w": wf.asarray(w)}
        result, how = divided(given), divided.result_shardings(given)
        assert {type(value) for value in result.values()} == {wf.Tensor}
        return [how[name].whole(value).numpy() for name, value in result.items()]

    for product, total in spawn(call, 2, method="thread", timeout=60):
        np.testing.assert_allclose(product, np.tanh(x) @ w, rtol=1e-12)
        np.testing.assert_allclose(total, x.sum(), rtol=1e-12)

    # What a tensor is said to be divided like is part of its program, and of no account on one device.
    product = constrain(wf.asarray(x), rows) @ constrain(wf.asarray(w) * 2, columns)
    graph = wf.distributed.shard_graph(product.graph())
    assert [(i.shape, o.shape) for i, o in zip(graph.inputs[:1], graph.outputs, strict=True)] == [((2, 6), (2, 8))]
    assert str(graph).count("dynamic_slice") == 1
    np.testing.assert_allclose(product.numpy(), x @ (w * 2), rtol=1e-12)
