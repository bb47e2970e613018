"""A BERT of Hugging Face learns to tell two kinds of sentences apart: training steps a second, against eager and, with --inductor, Inductor.

    python examples/torch_bert.py [--steps N] [--layers N] [--features N] [--path FOLDER] [--inductor]

Weights are random unless --path names a folder of a model; the sentences are made up. Needs torch and transformers.
"""

from __future__ import annotations

import argparse
import copy
import time
from typing import Any

import torch
from tqdm import tqdm
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

import weftwork.torch

WORDS, LENGTH, BATCH = 200, 32, 16


def load(options: argparse.Namespace) -> Any:
    """The model that the command line names."""
    if options.path:
        return AutoModelForSequenceClassification.from_pretrained(options.path, num_labels=2)
    features = options.features
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=features,
        intermediate_size=4 * features,
        num_hidden_layers=options.layers,
        num_attention_heads=features // 32,
    )
    return BertForSequenceClassification(config)


def sentences(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Sentences of the first kind have words of the first half of the vocabulary four times as often."""
    labels = torch.randint(0, 2, (BATCH,), generator=generator)
    is_low = torch.rand((BATCH, LENGTH), generator=generator) < torch.where(labels == 0, 0.8, 0.2)[:, None]
    words = torch.randint(1, WORDS // 2, (BATCH, LENGTH), generator=generator)
    return torch.where(is_low, words, words + WORDS // 2 - 1), labels


def train(name: str, model: Any, backend: Any, steps: int) -> list[float]:
    """Losses of so many steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    forward = model if backend is None else torch.compile(model, backend=backend)
    update = optimizer.step if backend is None else torch.compile(optimizer.step, backend=backend)
    generator, losses, ready, begin = torch.Generator().manual_seed(0), [], 0.0, time.perf_counter()
    torch.manual_seed(0)
    for step in tqdm(range(steps), desc=name, leave=False):
        words, labels = sentences(generator)
        optimizer.zero_grad()
        loss = forward(input_ids=words, labels=labels).loss
        loss.backward()
        update()
        losses.append(loss.item())
        if step == 1:
            ready, begin = time.perf_counter() - begin, time.perf_counter()
    each = (time.perf_counter() - begin) / max(steps - 2, 1)
    print(
        f"{name:9} {1 / each:7.2f} steps/s, loss {losses[0]:.3f} to {sum(losses[-5:]) / len(losses[-5:]):.3f}, ready after {ready:.1f} s"
    )
    return losses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--path")
    parser.add_argument("--inductor", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = load(options).train()
    backends = {
        "eager": None,
        "weftwork": weftwork.torch.backend,
        **({"inductor": "inductor"} if options.inductor else {}),
    }
    losses = {name: train(name, copy.deepcopy(model), backend, options.steps) for name, backend in backends.items()}
    # Later ones drift apart, as the last bits of sums do.
    apart = max(abs(a - b) for a, b in zip(losses["eager"][:20], losses["weftwork"][:20], strict=True))
    print(f"losses of the first 20 steps differ by at most {apart:.1e}")


if __name__ == "__main__":
    main()
