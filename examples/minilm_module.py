"""all-MiniLM-L6-v2 as modules of wf.nn: its file of weights is mapped, and one program serves every number of tokens.

python examples/minilm_module.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from minilm import HEADS, LAYERS, LONGEST, load_tokenizer, load_weights, model_folder, torch_embedder
from passages import PASSAGES

import weftwork as wf
from weftwork import nn

FEATURES, WORDS, EPSILON = 384, 30522, 1e-12


class Embeddings(wf.Module):
    """Words, their places, and the kind of text."""

    def __init__(self, features: int, words: int, longest: int) -> None:
        self.word_embeddings = nn.Embedding(words, features)
        self.position_embeddings = nn.Embedding(longest, features)
        self.token_type_embeddings = nn.Embedding(2, features)
        self.LayerNorm = nn.LayerNorm(features, EPSILON)

    def forward(self, ids: Any) -> Any:
        x = self.word_embeddings(ids) + self.position_embeddings(np.arange(ids.shape[1]))
        return self.LayerNorm(x + self.token_type_embeddings.weight[0])


class SelfAttention(wf.Module):
    def __init__(self, features: int, heads: int) -> None:
        self.query, self.key, self.value = (nn.Linear(features, features) for _ in range(3))
        self.heads = heads

    def forward(self, x: Any, mask: Any) -> Any:
        batch, n = x.shape[:2]
        q, k, v = (
            layer(x).reshape(batch, n, self.heads, -1).transpose(0, 2, 1, 3)
            for layer in (self.query, self.key, self.value)
        )
        context = nn.scaled_dot_product_attention(q, k, v, mask)
        return context.transpose(0, 2, 1, 3).reshape(batch, n, -1)


class Output(wf.Module):
    """A dense layer, what came before, and a norm."""

    def __init__(self, inputs: int, features: int) -> None:
        self.dense, self.LayerNorm = nn.Linear(inputs, features), nn.LayerNorm(features, EPSILON)

    def forward(self, x: Any, before: Any) -> Any:
        return self.LayerNorm(before + self.dense(x))


class Attention(wf.Module):
    def __init__(self, features: int, heads: int) -> None:
        self.self, self.output = SelfAttention(features, heads), Output(features, features)

    def forward(self, x: Any, mask: Any) -> Any:
        return self.output(self.self(x, mask), x)


class Wide(wf.Module):
    def __init__(self, features: int) -> None:
        self.dense = nn.Linear(features, 4 * features)

    def forward(self, x: Any) -> Any:
        return nn.gelu(self.dense(x))


class Layer(wf.Module):
    def __init__(self, features: int, heads: int) -> None:
        self.attention = Attention(features, heads)
        self.intermediate, self.output = Wide(features), Output(4 * features, features)

    def forward(self, x: Any, mask: Any) -> Any:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(wf.Module):
    def __init__(self, features: int, heads: int, layers: int) -> None:
        self.layer = [Layer(features, heads) for _ in range(layers)]

    def forward(self, x: Any, mask: Any) -> Any:
        for layer in self.layer:
            x = layer(x, mask)
        return x


class MiniLM(wf.Module):
    """From token ids and their mask, both (batch, n), to vectors of length 1, (batch, features)."""

    def __init__(
        self,
        features: int = FEATURES,
        heads: int = HEADS,
        layers: int = LAYERS,
        words: int = WORDS,
        longest: int = LONGEST,
    ) -> None:
        self.embeddings = Embeddings(features, words, longest)
        self.encoder = Encoder(features, heads, layers)

    def forward(self, ids: Any, mask: Any) -> Any:
        keep = mask.astype(np.float32)
        x = self.encoder(self.embeddings(ids), (1 - keep)[:, None, None, :] * -1e9)
        pooled = np.sum(x * keep[:, :, None], axis=1) / np.sum(keep, axis=1, keepdims=True)
        return pooled / np.sqrt(np.sum(pooled * pooled, axis=-1, keepdims=True))


def main() -> None:
    tokenizer = load_tokenizer()
    begun = time.perf_counter()
    # The file has a head too that is not used here.
    model = MiniLM().load(model_folder() / "model.safetensors", strict=False)
    loaded = time.perf_counter()
    shape = (wf.Dim("batch", 1, 4, 64), wf.Dim("n", 1, 64, LONGEST))
    program = wf.compile(model, wf.spec(shape, np.int64), wf.spec(shape, np.int64))
    compiled = time.perf_counter()
    print(
        f"{model.parameter_count:,} parameters loaded in {1e3 * (loaded - begun):.0f} ms, compiled in {1e3 * (compiled - loaded):.0f} ms"
    )

    encoded = [tokenizer.encode(text).ids for text in [*PASSAGES[:3], "how do I cook rice"]]
    n = max(map(len, encoded))
    ids = np.array([row + [0] * (n - len(row)) for row in encoded])
    mask = np.array([[1] * len(row) + [0] * (n - len(row)) for row in encoded])
    vectors = program(ids, mask)
    print("similarity of the last text to the others:", np.round(vectors[:-1] @ vectors[-1], 3))
    embed = torch_embedder(load_weights())
    if embed is not None:
        print(f"largest difference from torch: {np.abs(vectors - embed(ids, mask)).max():.1e}")


if __name__ == "__main__":
    main()
