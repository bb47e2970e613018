"""Layers: values against torch's, state, files, compiled programs."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork import nn

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def require_same(got: Any, wanted: Any, tolerance: float = 2e-5) -> None:
    got, wanted = np.asarray(got), wanted.detach().numpy()
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def require_layer(torch: Any, layer: nn.Module, other: Any, *inputs: np.ndarray) -> None:
    """The layer with torch's state gives torch's values: recorded, compiled, and by the interpreter."""
    layer.load_state_dict({name: value.numpy() for name, value in other.state_dict().items()})
    assert list(layer.state_dict()) == list(other.state_dict())
    wanted = other.eval()(*map(torch.tensor, inputs))
    result = layer(*map(wf.asarray, inputs))
    assert isinstance(result, wf.Tensor)
    require_same(result, wanted)
    require_same(wf.compile(layer, *inputs)(*inputs), wanted)
    require_same(wf.trace(layer, *inputs).function().interpret(*inputs), wanted)


# -- values --------------------------------------------------------------------------------------------------------

X = normal(3, 6, 8) * 3
ACTIVATIONS = ["relu", "relu6", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "softplus", "mish", "hardtanh", "hardswish",
               "hardsigmoid", "softsign", "glu", "sigmoid", "tanh"]  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_torchs(torch: Any, name: str) -> None:
    function = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    for x in (
        X,
        np.array([[0.0, -0.0, np.inf, -np.inf], [np.nan, 1e30, -1e30, 30]], np.float32)[
            :, : {"glu": 2, "gelu": 2}.get(name, 4)
        ],
    ):
        wanted = function(torch.tensor(x))
        with np.errstate(all="ignore"):
            for got in (getattr(nn, name)(wf.asarray(x)), getattr(nn, name)(x)):
                require_same(got, wanted)


def test_other_functions_are_torchs(torch: Any) -> None:
    functional, x = torch.nn.functional, wf.asarray(X)
    require_same(nn.gelu(x, "tanh"), functional.gelu(torch.tensor(X), approximate="tanh"))
    require_same(nn.log_sigmoid(x), functional.logsigmoid(torch.tensor(X)))
    for axis in (0, 1, -1):
        require_same(nn.softmax(x, axis), functional.softmax(torch.tensor(X), axis))
        require_same(nn.log_softmax(x, axis), functional.log_softmax(torch.tensor(X), axis))
    y = normal(3, 6, 8)
    require_same(nn.cosine_similarity(x, wf.asarray(y)), functional.cosine_similarity(torch.tensor(X), torch.tensor(y)))


def layers(count: int) -> list[tuple[str, tuple, dict]]:
    numbers = {"stride": 2, "padding": 1, "groups": 2}
    return [
        (f"Conv{count}d", (4, 6, 3), numbers),
        (f"Conv{count}d", (4, 6, 2), {"padding": "same", "dilation": 2, "bias": False}),
        (f"ConvTranspose{count}d", (4, 6, 3), {**numbers, "output_padding": 1}),
        (f"ConvTranspose{count}d", (4, 3, 2), {"dilation": 2}),
        (f"MaxPool{count}d", (3, 2, 1), {}),
        (f"AvgPool{count}d", (3, 2, 1), {}),
        (f"AdaptiveAvgPool{count}d", (1,), {}),
        (f"AdaptiveAvgPool{count}d", (3,), {}),
        (f"BatchNorm{count}d", (4,), {}),
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("number", range(len(layers(1))))
def test_layers_of_images_are_torchs(torch: Any, count: int, number: int) -> None:
    name, args, kwargs = layers(count)[number]
    require_layer(
        torch,
        getattr(nn, name)(*args, **kwargs),
        getattr(torch.nn, name)(*args, **kwargs),
        normal(2, 4, *(7, 6, 5)[:count]),
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7])
def test_windows_take_means_of_their_own_elements(torch: Any, size: int) -> None:
    x = normal(2, 3, 6, 7)
    x[0, 0, 0, 0], x[1, 1, 5, 6], x[1, 2, 2, 3] = np.inf, np.nan, -np.inf
    require_layer(torch, nn.AdaptiveAvgPool2d(size), torch.nn.AdaptiveAvgPool2d(size), x)
    require_layer(torch, nn.AdaptiveAvgPool2d((2, size)), torch.nn.AdaptiveAvgPool2d((2, size)), x[:, :2])


def test_adaptive_pooling_of_a_symbolic_extent(torch: Any) -> None:
    program = wf.compile(nn.AdaptiveAvgPool2d(3), x=wf.spec((2, 1, wf.Dim("h", 4, 40), 12), "float32"))
    for height in (4, 9, 17):
        x = np.random.default_rng(height).random((2, 1, height, 12), np.float32)
        wanted = torch.nn.AdaptiveAvgPool2d(3)(torch.tensor(x)).numpy()
        np.testing.assert_allclose(program(x), wanted, rtol=1e-6)


def test_other_layers_are_torchs(torch: Any) -> None:
    other = torch.nn
    require_layer(torch, nn.Linear(8, 5), other.Linear(8, 5), X)
    require_layer(torch, nn.Linear(8, 5, bias=False), other.Linear(8, 5, bias=False), X[0, 0])
    require_layer(torch, nn.Embedding(10, 4), other.Embedding(10, 4), RNG.integers(0, 10, (3, 4)))
    require_layer(torch, nn.LayerNorm(8), other.LayerNorm(8), X)
    require_layer(torch, nn.LayerNorm((6, 8), bias=False), other.LayerNorm((6, 8), bias=False), X)
    require_layer(torch, nn.RMSNorm(8), other.RMSNorm(8, eps=1e-6), X)
    require_layer(torch, nn.GroupNorm(3, 6), other.GroupNorm(3, 6), X)
    ours = nn.Sequential(
        nn.Flatten(), nn.Linear(48, 4), nn.Lambda(nn.relu), nn.Dropout(), nn.Linear(4, 2), nn.Identity()
    )
    theirs = other.Sequential(
        other.Flatten(), other.Linear(48, 4), other.ReLU(), other.Dropout(), other.Linear(4, 2), other.Identity()
    )
    require_layer(torch, ours, theirs, X)


SPELLED: list[tuple[str, dict[str, Any], Any]] = [
    ("Embedding", {"num_embeddings": 9, "embedding_dim": 4, "padding_idx": 2}, RNG.integers(0, 9, (3, 4))),
    ("LayerNorm", {"normalized_shape": 8, "elementwise_affine": False}, X),
    ("LayerNorm", {"normalized_shape": (6, 8), "eps": 1e-3, "elementwise_affine": True, "bias": False}, X),
    ("RMSNorm", {"normalized_shape": (6, 8), "eps": 1e-3}, X),
    ("RMSNorm", {"normalized_shape": (6, 8), "eps": 1e-3, "elementwise_affine": False}, X),
    ("GroupNorm", {"num_groups": 3, "num_channels": 6, "affine": False}, X),
    ("BatchNorm1d", {"num_features": 6, "affine": False}, X),
    ("AvgPool1d", {"kernel_size": 3, "padding": 1, "count_include_pad": False}, X),
    ("Flatten", {"start_dim": 0, "end_dim": -2}, X),
    ("Flatten", {"start_dim": -2}, X),
    ("Dropout", {"p": 0.1}, X),
]


@pytest.mark.parametrize("name, kwargs, x", SPELLED)
def test_arguments_have_the_names_that_torch_gives(torch: Any, name: str, kwargs: dict[str, Any], x: Any) -> None:
    require_layer(torch, getattr(nn, name)(**kwargs), getattr(torch.nn, name)(**kwargs), x)


def test_layers_in_a_row_are_a_list() -> None:
    model = nn.Sequential(nn.Linear(8, 4)).append(nn.Flatten()).append(nn.Linear(24, 2))
    assert model(wf.asarray(X)).shape == (3, 2) and isinstance(model[1:], nn.Sequential) and model[:2][1] is model[1]
    assert nn.Flatten(1, 2)(wf.zeros((0, 2, 3))).shape == (0, 6)
    assert not np.any(nn.Embedding(5, 3, padding_idx=2).weight[2])


def test_what_stands_below_the_first_class_lies_outside() -> None:
    logits, table = wf.asarray(normal(2, 3)), nn.Embedding(3, 2)
    for wanted in (wf.asarray([0, -1]), wf.asarray(np.array([-3, 1], np.int8)), wf.asarray([3, 1])):
        for call in (nn.cross_entropy, nn.nll_loss):
            with pytest.raises(IndexError, match="out of bounds"):
                call(logits, wanted).eval()
        with pytest.raises(IndexError, match="out of bounds"):
            table(wanted).eval()
    wanted = nn.cross_entropy(logits[:1], wf.asarray([0]))
    np.testing.assert_allclose(nn.cross_entropy(logits, wf.asarray([0, -1]), ignore_index=-1), wanted, rtol=1e-6)


@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax])
def test_softmax_of_nothing(function: Any) -> None:
    assert function(wf.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("name", ["conv1d", "max_pool1d", "avg_pool1d"])
def test_windows_that_do_not_fit_are_told(name: str) -> None:
    window = np.ones((1, 1, 5)) if name == "conv1d" else 5
    with pytest.raises(ValueError, match=r"windows of 5 do not fit an extent of 2 with padding \(1, 1\)"):
        getattr(wf, name)(wf.ones((1, 1, 2)), window, padding=1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_batch_norm_follows_batches(torch: Any, count: int) -> None:
    ours, theirs = getattr(nn, f"BatchNorm{count}d")(4).train(), getattr(torch.nn, f"BatchNorm{count}d")(4).train()
    for _ in range(3):
        x = normal(2, 4, *(7, 6, 5)[:count]) * 3 + 1
        require_same(ours(wf.asarray(x)), theirs(torch.tensor(x)))
    for name, value in theirs.state_dict().items():
        require_same(ours.state_dict()[name], value)
    with pytest.raises(NotImplementedError, match="running statistics"):
        wf.compile(ours, x)
    with pytest.raises(ValueError, match="more than one element"):
        ours(wf.ones((1, 4, *(1, 1, 1)[:count]), dtype=wf.float32))
    assert list(dict(ours.named_buffers())) == ["running_mean", "running_var", "num_batches_tracked"]
    assert list(dict(ours.named_parameters())) == ["weight", "bias"]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_are_torchs(torch: Any, reduction: str) -> None:
    functional, tensor = torch.nn.functional, torch.tensor
    logits, classes, weight = normal(5, 4, 3), RNG.integers(0, 4, (5, 3)), np.abs(normal(4))
    classes[0, 0] = -100
    probabilities = np.abs(logits) / np.abs(logits).sum(1, keepdims=True)
    for smoothing in (0.0, 0.1):
        options: dict[str, Any] = {"label_smoothing": smoothing, "reduction": reduction}
        for each in (None, weight):
            ours, theirs = (None, None) if each is None else (wf.asarray(each), tensor(each))
            for wanted in (classes, probabilities):
                got = nn.cross_entropy(wf.asarray(logits), wf.asarray(wanted), ours, **options)
                require_same(got, functional.cross_entropy(tensor(logits), tensor(wanted), theirs, **options))
    a, b = normal(4, 5), normal(4, 5)
    p, q = (1 / (1 + np.exp(-x)) for x in (a, b))
    q[0, 0] = 0
    pairs = [(name, a, b) for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss")]
    pairs += [("binary_cross_entropy", p, q), ("binary_cross_entropy_with_logits", 50 * a, q), ("kl_div", np.log(p), q)]
    for name, x, y in pairs:
        got = getattr(nn, name)(wf.asarray(x), wf.asarray(y), reduction=reduction)
        require_same(got, getattr(functional, name)(tensor(x), tensor(y), reduction=reduction))
    wanted = functional.nll_loss(tensor(logits), tensor(classes), reduction=reduction)
    require_same(nn.nll_loss(wf.asarray(logits), wf.asarray(classes), reduction=reduction), wanted)


def test_attention_is_torchs(torch: Any) -> None:
    function = torch.nn.functional.scaled_dot_product_attention
    q, k, v = normal(2, 4, 5, 8), normal(2, 4, 7, 8), normal(2, 4, 7, 8)
    keep = RNG.integers(0, 2, (5, 7)).astype(bool)
    keep[:, 0] = True
    for mask in (None, keep, normal(5, 7), normal(2, 1, 5, 7)):
        got = nn.scaled_dot_product_attention(*map(wf.asarray, (q, k, v)), None if mask is None else wf.asarray(mask))
        require_same(got, function(*map(torch.tensor, (q, k, v)), None if mask is None else torch.tensor(mask)))
    got = nn.scaled_dot_product_attention(*map(wf.asarray, (k, k, v)), is_causal=True, scale=0.3)
    require_same(got, function(*map(torch.tensor, (k, k, v)), is_causal=True, scale=0.3))
    layer = nn.Attention(16, 4, key_heads=2)
    program = wf.compile(layer, wf.spec((2, wf.Dim("n", 1, 8, 64), 16), np.float32))
    for n in (1, 5):
        x = normal(2, n, 16)
        np.testing.assert_allclose(program(x), layer(wf.asarray(x)), atol=1e-5)
    few = [wf.asarray(x[:, :2]) for x in (k, v)]
    require_same(
        nn.scaled_dot_product_attention(wf.asarray(q), *few),
        function(*map(torch.tensor, (q, k[:, :2], v[:, :2])), enable_gqa=True),
    )
    with pytest.raises(ValueError, match="3 of keys"):
        nn.scaled_dot_product_attention(wf.asarray(q), *[wf.asarray(x[:, :3]) for x in (k, v)])


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_positions_are_rotations_of_complex_numbers(interleaved: bool) -> None:
    x, positions = normal(2, 3, 5, 8), np.array([0, 1, 5, 100, 7])
    got = np.asarray(nn.RotaryEmbedding(8, 1000.0, interleaved)(wf.asarray(x), wf.asarray(positions)))
    turns = np.exp(1j * positions[:, None] * 1000.0 ** (-np.arange(4) / 4))
    pairs = x[..., ::2] + 1j * x[..., 1::2] if interleaved else x[..., :4] + 1j * x[..., 4:]
    turned = pairs * turns
    parts = np.stack([turned.real, turned.imag], -1).reshape(x.shape)
    np.testing.assert_allclose(got, parts if interleaved else np.concatenate([turned.real, turned.imag], -1), atol=2e-5)


@pytest.mark.parametrize("is_causal", [True, False])
def test_a_cache_gives_what_the_whole_sequence_gives(is_causal: bool) -> None:
    layer, x = nn.Attention(32, 4, 2, rotary=10000.0, key=1), normal(2, 9, 32)
    whole = np.asarray(layer(wf.asarray(x), is_causal=True))
    cache, parts = layer.make_cache(2, 16), []
    pieces = [slice(0, 4), slice(4, 5), slice(5, 6), slice(6, 9)] if is_causal else [slice(i, i + 1) for i in range(9)]
    for piece in pieces:
        part, cache = layer(wf.asarray(x[:, piece]), is_causal=is_causal, cache=cache)
        parts.append(part)
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, atol=1e-6)
    assert int(cache.length) == 9
    # One program takes every step.
    state = [np.asarray(part) for part in layer.make_cache(2, 16)]
    step = wf.compile(lambda x, cache: layer(x, is_causal=True, cache=cache), x[:, :1], nn.KVCache(*state))
    for i in range(9):
        part, *state = step(x[:, i : i + 1], *state)
        np.testing.assert_allclose(part[:, 0], whole[:, i], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_are_summed_in_float32(torch: Any, dtype: Any) -> None:
    x = (normal(4, 3000) + 30).astype(dtype)
    wide = torch.tensor(x.astype(np.float32))
    other = torch.nn.functional.layer_norm(wide, (3000,)).numpy()
    got = nn.layer_norm(wf.asarray(x), 3000)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        np.asarray(got).astype(np.float32), other, atol=2 * float(ml_dtypes.finfo(dtype).eps) * 4
    )
    total = np.asarray(nn.softmax(wf.asarray(x * 0))).astype(np.float32).sum(1)
    np.testing.assert_allclose(total, 1, rtol=0.01)


SHORT_LAYERS: list[tuple[Callable[[], Any], tuple[int, ...]]] = [
    *((lambda name=name: getattr(nn, name), (2, 8)) for name in [*ACTIVATIONS, "log_sigmoid"]),
    (lambda: lambda x: nn.dropout(x, 0.5, wf.random.key(0)), (2, 8)), (lambda: nn.Linear(8, 3), (2, 8)), (lambda: nn.AvgPool2d(2), (1, 1, 4, 4)),
    (lambda: nn.AvgPool2d(2, padding=1, count_include_pad=False), (1, 1, 4, 4)), (lambda: nn.Conv1d(2, 2, 3), (1, 2, 8)),
    (lambda: nn.Attention(16, 4, 2, rotary=10000.0), (1, 3, 16)), (lambda: nn.quantize(nn.Linear(8, 3)), (2, 8)), (lambda: nn.quantize(nn.Linear(8, 3), 8, 4), (2, 8)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("number", range(len(SHORT_LAYERS)))
def test_short_floats_stay_what_they_are(number: int, dtype: Any) -> None:
    make, shape = SHORT_LAYERS[number]
    layer, x = make(), wf.asarray((normal(*shape) * 3).astype(dtype))
    wide = np.asarray(layer(x.astype(np.float32)))
    got = (layer.astype(dtype) if isinstance(layer, wf.Module) else layer)(x)
    assert got.dtype == dtype
    # One rounding of the result; several in layers of several products.
    rounding = float(ml_dtypes.finfo(dtype).eps) * (16 if isinstance(layer, wf.Module) else 1)
    np.testing.assert_allclose(
        np.asarray(got).astype(np.float32), wide, rtol=rounding, atol=rounding * np.abs(wide).max()
    )


# -- state ---------------------------------------------------------------------------------------------------------


class Model(wf.Module):
    def __init__(self) -> None:
        self.blocks = [nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))]
        self.table = {"first": wf.zeros(3), "second": (nn.Embedding(5, 4),)}
        self.tied = self.blocks[0].weight
        self.again = self.blocks[0]
        self.number, self.name = 3, "a model"
        self._hidden = wf.ones(2)

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = nn.relu(block(x))
        return x @ self.tied + self.table["second"][0](np.asarray([1, 2]))


NAMES = ["blocks.0.weight", "blocks.0.bias", "blocks.1.0.weight", "blocks.1.0.bias", "blocks.1.1.weight", "blocks.1.1.bias",
         "table.first", "table.second.0.weight", "tied"]  # fmt: skip


def test_state_is_found_by_attributes() -> None:
    model = Model()
    assert list(model.state_dict()) == NAMES
    assert len(model.parameters()) == 8 and model.parameter_count == 16 + 4 + 16 + 4 + 4 + 4 + 3 + 20
    assert [name for name, _ in model.named_modules()] == [
        "",
        "blocks.0",
        "blocks.1",
        "blocks.1.0",
        "blocks.1.1",
        "table.second.0",
    ]
    state = {name: np.full(value.shape, i, np.float64) for i, (name, value) in enumerate(model.state_dict().items())}
    state["tied"] = state["blocks.0.weight"]
    model.load_state_dict(state)
    assert model.tied.dtype == np.float32 and model.table["first"].tolist() == [6, 6, 6]
    np.testing.assert_array_equal(model.tied, model.blocks[0].weight)
    assert "blocks.0" not in repr(model.blocks[0]) and "float32[4, 4]" in repr(model)


def test_state_that_is_loaded_is_the_modules_own(torch: Any) -> None:
    first, second, theirs = nn.Linear(2, 2), nn.Linear(2, 2), torch.nn.Linear(2, 2)
    second.load_state_dict(first.state_dict())
    before = first.bias.tolist()
    second.bias[0] = 100
    assert first.bias.tolist() == before
    second.load_state_dict(theirs.state_dict())
    theirs.bias.data[:] = 100
    assert second.bias.tolist() != [100, 100]


def test_state_that_does_not_fit_is_told_whole_and_changes_nothing() -> None:
    model = Model()
    before = {name: np.array(value) for name, value in model.state_dict().items()}
    state = {**before, "blocks.0.weight": np.zeros((3, 4)), "block.0.bias": np.zeros(4)}
    del state["blocks.0.bias"]
    with pytest.raises(ValueError) as error:
        model.load_state_dict(state)
    for text in (
        "'blocks.0.bias' is missing",
        "'block.0.bias' is no state of Model (nearest: 'blocks.0.bias')",
        "has shape (3, 4), the module's is (4, 4)",
    ):
        assert text in str(error.value)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    model.load_state_dict({"blocks.1.0.bias": [1, 2, 3, 4], "other": 0}, strict=False)
    assert model.blocks[1][0].bias.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="complex"):
        model.load_state_dict({"table.first": np.zeros(3, complex)}, strict=False)


def test_state_travels(tmp_path: Any) -> None:
    model, x = Model(), wf.asarray(normal(2, 4))
    wanted = np.asarray(model(x))
    path = tmp_path / "model.safetensors"
    model.save(path)
    for other in (Model().load(path), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other(x), wanted)
        assert list(other.state_dict()) == NAMES
    library = pytest.importorskip("safetensors.numpy")
    found = library.load_file(path)
    assert set(found) == set(NAMES)
    np.testing.assert_array_equal(found["tied"], model.tied)
    library.save_file(
        {name: np.asarray(value) for name, value in model.state_dict().items()}, tmp_path / "theirs.safetensors"
    )
    np.testing.assert_array_equal(Model().load(tmp_path / "theirs.safetensors")(x), wanted)
    with pytest.raises(OSError, match="cannot be read"):
        model.load(tmp_path / "none.safetensors")
    for content in (b"", b"\xff" * 40):
        (tmp_path / "damaged.safetensors").write_bytes(content)
        with pytest.raises(OSError, match="no such file as"):
            model.load(tmp_path / "damaged.safetensors")


def test_short_floats_and_dtypes(tmp_path: Any) -> None:
    model = Model().astype(ml_dtypes.bfloat16)
    assert {value.dtype.name for value in model.state_dict().values()} == {"bfloat16"}
    model.save(tmp_path / "short.safetensors")
    other = Model().astype(ml_dtypes.bfloat16).load(tmp_path / "short.safetensors")
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(value, model.state_dict()[name])
    with pytest.raises(TypeError, match="int32"):
        model.astype(np.int32)


def test_keys_decide_what_layers_start_from() -> None:
    first, second, other = nn.Linear(30, 20, key=5), nn.Linear(30, 20, key=5), nn.Linear(30, 20, key=6)
    np.testing.assert_array_equal(first.weight, second.weight)
    assert not np.array_equal(first.weight, other.weight) and not np.array_equal(
        nn.Linear(30, 20).weight, nn.Linear(30, 20).weight
    )
    weight = np.asarray(first.weight)
    assert abs(weight).max() <= 30**-0.5 and abs(weight.mean()) < 0.02 and abs(weight.std() * (3 * 30) ** 0.5 - 1) < 0.1
    layer = nn.Linear(30, 20)
    layer.load_state_dict({"weight": np.zeros((20, 30)), "bias": np.zeros(20)})
    assert not first.bias.is_computed  # nobody asked for it


def test_dropout_takes_a_key() -> None:
    x, layer = wf.ones((100, 100), dtype=wf.float32), nn.Dropout(0.25)
    assert layer(x) is x
    layer.train()
    dropped = np.asarray(layer(x, wf.random.key(3)))
    assert dropped.dtype == np.float32 and set(np.unique(dropped)) == {0, np.float32(1 / 0.75)}
    assert abs((dropped == 0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(layer(x, wf.random.key(3)), dropped)
    with pytest.raises(TypeError, match="takes a key"):
        layer(x)
    assert not np.any(nn.Dropout(1.0).train()(x, wf.random.key(0)))


@pytest.mark.parametrize("bits, group, most", [(8, None, 0.01), (8, 16, 0.01), (4, None, 0.15), (4, 16, 0.12)])
def test_weights_of_few_bits(tmp_path: Any, bits: int, group: int | None, most: float) -> None:
    layer, x = nn.Linear(64, 32, key=1), normal(5, 64)
    wanted = np.asarray(layer(wf.asarray(x)))
    model = nn.quantize(nn.Sequential(layer, nn.Lambda(nn.relu), nn.Linear(32, 8)), bits, group)
    small = model[0]
    assert small.weight.dtype == (np.int8 if bits == 8 else ml_dtypes.int4)
    got = np.asarray(small(wf.asarray(x)))
    assert np.abs(got - wanted).max() < most * np.abs(wanted).max()
    np.testing.assert_allclose(wf.compile(small, x)(x), got, atol=1e-5)
    model.save(tmp_path / "small.safetensors")
    again = nn.quantize(nn.Sequential(nn.Linear(64, 32), nn.Lambda(nn.relu), nn.Linear(32, 8)), bits, group)
    again.load(tmp_path / "small.safetensors")
    np.testing.assert_array_equal(again(wf.asarray(x)), model(wf.asarray(x)))
    with pytest.raises(ValueError, match="64 inputs"):
        nn.quantize(nn.Linear(64, 2), 8, 10)
    with pytest.raises(ValueError, match="8 or 4 bits"):
        nn.quantize(nn.Linear(64, 2), 3)


# -- programs ------------------------------------------------------------------------------------------------------


def test_one_program_for_a_range_of_batches(tmp_path: Any) -> None:
    model = nn.Sequential(nn.Linear(128, 64), nn.Lambda(nn.gelu), nn.LayerNorm(64), nn.Linear(64, 10))
    program = wf.compile(model, x=wf.spec((wf.Dim("batch", 1, 8, 64), 128), "float32"))
    program.save(tmp_path / "model.weft")
    for run in (program, wf.load(tmp_path / "model.weft")):
        for batch in (1, 7, 8, 64):
            x = normal(batch, 128)
            np.testing.assert_allclose(run(x), model(wf.asarray(x)), atol=1e-5)
        with pytest.raises(ValueError, match=r"'batch' \(axis 0 of input 'x'\) must be from 1 to 64, got 65"):
            run(normal(65, 128))


def test_programs_know_the_lines_of_modules() -> None:
    graph = wf.trace(Model(), normal(2, 4))
    assert "test_nn.py" in graph.text() and graph.inputs[0].name == "x"
    assert "in_features" in str(inspect.signature(nn.Linear))


def test_the_same_functions_take_arrays_and_record_in_jit() -> None:
    model, x = Model(), normal(2, 4)
    weight, bias = (np.asarray(value) for value in (model.blocks[0].weight, model.blocks[0].bias))
    step = wf.jit(lambda x, weight, bias: nn.softmax(nn.gelu(nn.linear(x, weight, bias))))
    wanted = nn.softmax(nn.gelu(nn.linear(x, weight, bias)))
    np.testing.assert_allclose(step(x, weight, bias), wanted, atol=1e-6)
    assert isinstance(wanted, np.ndarray)
    # What reads tensors of its surroundings is recorded by them, each time.
    run = wf.jit(model, strict=False)
    np.testing.assert_allclose(run(x), model(wf.asarray(x)), atol=1e-6)
    model.blocks[0].weight = model.blocks[0].weight * 2
    np.testing.assert_allclose(run(x), model(wf.asarray(x)), atol=1e-6)


def test_functions_of_this_package_record_on_tensors() -> None:
    x = wf.asarray(normal(1, 3, 8, 8))
    for result in (wf.conv2d(x, wf.ones((4, 3, 3, 3), dtype=wf.float32)), wf.max_pool2d(x, 2), wf.erf(x)):
        assert isinstance(result, wf.Tensor) and not result.is_computed
    key = wf.asarray(wf.random.key(5))
    drawn = wf.random.normal(key, (3,))
    assert not drawn.is_computed
    np.testing.assert_array_equal(drawn, wf.random.normal(wf.random.key(5), (3,)))


def test_many_ways_of_one_function_stay_arrays() -> None:
    """NumPy cannot run what this package adds: no call of it may fall back to it."""
    x, weight = normal(2, 4, 40), normal(4, 4, 3)
    with pytest.warns(wf.RecompilationWarning):
        results = [wf.conv1d(x, weight, padding=p, dilation=d) for p in range(4) for d in range(1, 6)]
    assert {type(result) for result in results} == {np.ndarray}


def with_numbers(function: Any, *numbers: Any) -> Any:
    return lambda x, weight: function(x, weight, None, *numbers)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_transposed_convolutions_are_torchs(torch: Any, count: int) -> None:
    ours, theirs = getattr(wf, f"conv_transpose{count}d"), getattr(torch.nn.functional, f"conv_transpose{count}d")
    for number in range(40):
        draw = np.random.default_rng(number)
        size, stride, padding, dilation, groups = (
            int(draw.integers(*ends)) for ends in [(1, 4), (1, 4), (0, 3), (1, 3), (1, 3)]
        )
        more = int(draw.integers(0, max(stride, dilation)))
        x, weight = normal(2, 4, *(5, 6, 4)[:count]), normal(4, 3, *(size,) * count)
        try:
            wanted = theirs(torch.tensor(x), torch.tensor(weight), None, stride, padding, more, groups, dilation)
        except RuntimeError:  # nothing is left
            continue
        run = wf.simulate(with_numbers(ours, stride, padding, more, groups, dilation))
        require_same(run(x, weight), wanted)
    with pytest.raises(ValueError, match="output_padding is less"):
        ours(x, weight, stride=2, output_padding=2)


def relu_after(convolve: Any, weight: Any) -> Any:
    return lambda x: np.maximum(convolve(x, weight), 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_convolutions_of_symbolic_batches(dtype: Any, count: int) -> None:
    size = (11, 10, 9)[:count]
    for number in range(12):
        draw = np.random.default_rng(number)
        kernel, stride, padding, dilation = (int(draw.integers(*ends)) for ends in [(1, 4), (1, 3), (0, 3), (1, 3)])
        inputs, outputs, groups = [(3, 32, 1), (16, 8, 1), (1, 16, 1), (16, 32, 2)][number % 4]
        weight = draw.normal(size=(outputs, inputs // groups, *(kernel,) * count)).astype(dtype)
        weight.flags.writeable = False

        convolve = with_numbers(getattr(wf, f"conv{count}d"), stride, padding, dilation, groups)
        f = relu_after(convolve, weight)
        shape = (wf.Dim("batch", 1, 8, 64), inputs, *size)
        program = wf.compile(f, wf.spec(shape, dtype))
        mixed = wf.compile(f, wf.spec((*shape[:-1], "width"), dtype)) if number < 4 else program
        for batch in (1, 3, 8, 64):
            x = normal(batch, inputs, *size).astype(dtype)
            wanted = f(x)
            for run in (program, mixed):
                np.testing.assert_allclose(run(x), wanted, rtol=1e-4, atol=1e-4)


def test_products_of_symbolic_batches_by_one_constant() -> None:
    weight = normal(48, 96)
    weight.flags.writeable = False
    program = wf.compile(lambda x: np.tanh(x[:, ::2] @ weight), wf.spec(("batch", 40, 48), np.float32))
    assert any("pack" in kernel.name for kernel in program.kernels)
    for batch in (1, 2, 17):
        x = normal(batch, 40, 48)
        np.testing.assert_allclose(program(x), np.tanh(x[:, ::2] @ weight), atol=1e-5)
