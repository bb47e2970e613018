"""all-MiniLM-L6-v2 as a module of torch answers questions from passages: texts a second, against eager and, with --inductor, Inductor.

    python examples/torch_minilm.py [--calls N] [--batch N] [--inductor]

One compiled program serves texts of every length. Needs torch, tqdm and the packages that semantic_search.py names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from minilm import HEADS, LAYERS, LONGEST, load_tokenizer, load_weights
from passages import PASSAGES
from torch import nn
from torch.nn import functional as F
from torch_rates import backends, measure, parser

FEATURES, WORDS, EPSILON = 384, 30522, 1e-12
QUESTIONS = ["how do I cook rice", "why does the sea rise and fall", "how is unused memory given back"]


class Layer(nn.Module):
    """Attention and two dense layers, each beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(FEATURES, FEATURES) for _ in range(4))
        self.wide, self.narrow = nn.Linear(FEATURES, 4 * FEATURES), nn.Linear(4 * FEATURES, FEATURES)
        self.first, self.second = nn.LayerNorm(FEATURES, EPSILON), nn.LayerNorm(FEATURES, EPSILON)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        batch, n, _ = x.shape
        q, k, v = (part(x).view(batch, n, HEADS, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(batch, n, -1)
        x = self.first(x + self.output(context))
        return self.second(x + self.narrow(F.gelu(self.wide(x))))


class MiniLM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, FEATURES), nn.Embedding(LONGEST, FEATURES)
        self.kind = nn.Parameter(torch.zeros(FEATURES))
        self.norm = nn.LayerNorm(FEATURES, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        keep = mask.float()
        x = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.kind)
        bias = (1 - keep)[:, None, None, :] * -1e9
        for layer in self.layers:
            x = layer(x, bias)
        pooled = (x * keep[:, :, None]).sum(1) / keep.sum(1, keepdim=True)
        return F.normalize(pooled, dim=-1)


#: Of each part of a layer, its name in the file of weights.
NAMES = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value", "output": "attention.output.dense",
    "first": "attention.output.LayerNorm", "wide": "intermediate.dense", "narrow": "output.dense", "second": "output.LayerNorm",
}  # fmt: skip


def load() -> MiniLM:
    weights = {name: torch.from_numpy(array.copy()) for name, array in load_weights().items()}
    state = {
        "words.weight": weights["embeddings.word_embeddings.weight"],
        "places.weight": weights["embeddings.position_embeddings.weight"],
    }
    state["kind"] = weights["embeddings.token_type_embeddings.weight"][0]
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for i in range(LAYERS):
            state.update(
                {
                    f"layers.{i}.{ours}.{part}": weights[f"encoder.layer.{i}.{name}.{part}"]
                    for ours, name in NAMES.items()
                }
            )
    model = MiniLM()
    model.load_state_dict(state)
    return model.eval()


def batches(texts: list[str], size: int) -> list[tuple[Any, int]]:
    """Texts of about the same length together, padded to the longest of them."""
    tokenizer = load_tokenizer()
    rows = sorted((tokenizer.encode(text).ids[:LONGEST] for text in texts), key=len)
    made = []
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        ids, mask = (np.zeros((len(some), max(map(len, some))), np.int64) for _ in range(2))
        for i, row in enumerate(some):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
        made.append(((torch.from_numpy(ids), torch.from_numpy(mask)), len(some)))
    return made


def main() -> None:
    arguments = parser(calls=24)
    arguments.add_argument("--batch", type=int, default=4)
    options = arguments.parse_args()
    model = load()
    passages = batches(PASSAGES, options.batch)
    inputs = (passages * (options.calls // len(passages) + 1))[: options.calls]
    found = {}
    with torch.no_grad():
        for name, backend in backends(options).items():
            forward = model if backend is None else torch.compile(model, backend=backend, dynamic=True)
            found[name] = measure(name, "texts", lambda given, forward=forward: forward(*given), inputs, options.calls)
        apart = max((a - b).abs().max().item() for a, b in zip(found["eager"], found["weftwork"], strict=True))
        print(f"vectors differ from eager's by at most {apart:.1e}")
        embed = lambda texts: torch.cat([forward(*batches([text], 1)[0][0]) for text in texts])
        best = (embed(QUESTIONS) @ embed(PASSAGES).T).argmax(1)
    for question, place in zip(QUESTIONS, best.tolist(), strict=True):
        print(f"{question}?\n    {PASSAGES[place]}")


if __name__ == "__main__":
    main()
