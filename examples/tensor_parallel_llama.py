"""A Llama-style decoder in plain NumPy, divided among ranks: tokens a second, and that all ranks together say what one says.

    python examples/tensor_parallel_llama.py [--ranks 2] [--layers 4] [--width 512] [--tokens 32]
    torchrun --nproc-per-node 2 examples/tensor_parallel_llama.py
    mpiexec -n 2 python examples/tensor_parallel_llama.py

Heads of attention and columns of the first matrices of each layer are on ranks of their own, and so are rows of the matrices
after them: two sums a layer are all that ranks exchange (Shoeybi et al., "Megatron-LM", 2019). Weights are random.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from tqdm import tqdm

import weftwork as wf

DEPTH, VOCABULARY, CONTEXT = 32, 2048, 256
Weights = dict[str, np.ndarray]


def make_weights(layers: int, width: int) -> Weights:
    """Weights as checkpoints have them: outputs before inputs."""
    rng = np.random.default_rng(0)
    normal = lambda *shape: (rng.normal(size=shape) * shape[-1] ** -0.5).astype(np.float32)
    made = {"embedding": normal(VOCABULARY, width) * np.float32(width**0.5)}
    for layer in range(layers):
        for name in ("query", "key", "value", "out"):
            made[f"{name}.{layer}"] = normal(width, width)
        made |= {
            f"gate.{layer}": normal(3 * width, width),
            f"up.{layer}": normal(3 * width, width),
            f"down.{layer}": normal(width, 3 * width),
        }
    return made


def rms_norm(x: Any) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5))


def rotate(x: Any, place: Any) -> Any:
    """Rotary positions of [heads, depth]."""
    angles = place * np.float32(10000.0) ** (-np.arange(0, DEPTH, 2, dtype=np.float32) / np.float32(DEPTH))
    a, b = x[:, : DEPTH // 2], x[:, DEPTH // 2 :]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)


def decode(weights: Weights, token: Any, place: Any, cache: Any) -> Any:
    """Logits after a token at a place; its keys and values are written to ``cache`` [layers, 2, context, heads, depth]."""
    x = weights["embedding"][token]
    seen = np.arange(CONTEXT) <= place
    for layer in range(cache.shape[0]):
        y = rms_norm(x)
        query, key, value = ((weights[f"{name}.{layer}"] @ y).reshape(-1, DEPTH) for name in ("query", "key", "value"))
        cache[layer, 0, place], cache[layer, 1, place] = rotate(key, place), value
        scores = np.einsum("hd,chd->hc", rotate(query, place), cache[layer, 0]) * np.float32(DEPTH**-0.5)
        e = np.exp(np.where(seen, scores, np.float32(-1e30)) - scores.max(-1, keepdims=True))
        mixed = np.einsum("hc,chd->hd", e / e.sum(-1, keepdims=True), cache[layer, 1])
        x = x + weights[f"out.{layer}"] @ mixed.reshape(-1)
        y = rms_norm(x)
        gate = weights[f"gate.{layer}"] @ y
        x = x + weights[f"down.{layer}"] @ (gate / (1 + np.exp(-gate)) * (weights[f"up.{layer}"] @ y))
    return weights["embedding"] @ rms_norm(x)


def shardings(weights: Weights, mesh: Any) -> dict[str, Any]:
    """Outputs of the first matrices are divided, and inputs of those after them."""
    outputs, inputs, whole = mesh.sharding("model"), mesh.sharding(None, "model"), mesh.sharding()
    of = {"embedding": whole, "out": inputs, "down": inputs}
    return {name: of.get(name.partition(".")[0], outputs) for name in weights}


def generate(options: argparse.Namespace) -> tuple[list[int], float]:
    """The tokens after the first, by all ranks together, and how many a second."""
    mesh = wf.distributed.Mesh((wf.distributed.size(),), ("model",))
    weights = make_weights(options.layers, options.width)
    divided, heads = shardings(weights, mesh), mesh.sharding(None, None, None, "model")
    step = wf.distributed.shard(decode, mesh, [divided, None, None, heads], mesh.sharding())
    parts = {name: np.ascontiguousarray(divided[name].part(weight)) for name, weight in weights.items()}
    cache = np.zeros(heads.part_shape((options.layers, 2, CONTEXT, options.width // DEPTH, DEPTH)), np.float32)
    token, tokens = np.int64(1), []
    is_first = wf.distributed.rank() == 0
    for place in tqdm(range(options.tokens), desc="tokens", disable=not is_first):
        if place == 1:
            begin = time.perf_counter()
        token = step(parts, np.asarray(token), np.asarray(place), cache).argmax()
        tokens.append(int(token))
    rate = (options.tokens - 1) / (time.perf_counter() - begin)
    if is_first:
        sums = step.graph(parts, np.asarray(token), np.asarray(0), cache).text().count("all_reduce(")
        print(f"{mesh.size} ranks: {rate:.0f} tokens/s, {sums} sums among ranks for each")
    return tokens, rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="where no launcher has begun several")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args()
    if wf.distributed.size() > 1:
        generate(options)
        return
    one, _ = generate(options)
    for tokens, _ in wf.distributed.spawn(generate, options.ranks, [options]):
        assert tokens == one, "ranks together say something else than one"
    print(f"the same {len(one)} tokens")


if __name__ == "__main__":
    main()
