"""Search passages by meaning: a 6-layer transformer as a plain NumPy function, compiled by Weftwork.

python examples/semantic_search.py "how do I cook rice" *.txt
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from minilm import HEADS, LAYERS, LONGEST, load_tokenizer, load_weights, torch_embedder
from passages import PASSAGES

import weftwork as wf

Embedder = Callable[[np.ndarray, np.ndarray], np.ndarray]
CHUNK_TOKENS = 200


def make_embedder(w: dict[str, np.ndarray]) -> Embedder:
    """The transformer over these weights, as a NumPy function of token ids and their mask, both (batch, n)."""

    def erf(x: np.ndarray) -> np.ndarray:
        # Abramowitz and Stegun 7.1.26; the absolute error is at most 1.5e-7.
        a = np.abs(x)
        t = 1 / (1 + np.float32(0.3275911) * a)
        p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
        return np.sign(x) * (1 - p * np.exp(-a * a))

    def layer_norm(x: np.ndarray, name: str) -> np.ndarray:
        centered = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centered * centered, axis=-1, keepdims=True)
        return centered / np.sqrt(variance + 1e-12) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def softmax(x: np.ndarray) -> np.ndarray:
        power = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return power / np.sum(power, axis=-1, keepdims=True)

    def embed(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        batch, n = ids.shape
        x = np.take(w["embeddings.word_embeddings.weight"], ids, axis=0)
        x = x + np.take(w["embeddings.position_embeddings.weight"], np.arange(n), axis=0)
        x = layer_norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        keep = mask.astype(np.float32)
        bias = (1 - keep)[:, None, None, :] * -1e9
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}"
            q, k, v = (
                dense(x, f"{layer}.attention.self.{part}").reshape(batch, n, HEADS, -1).transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
            context = (softmax(scores + bias) @ v).transpose(0, 2, 1, 3).reshape(batch, n, -1)
            x = layer_norm(x + dense(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            wide = dense(x, f"{layer}.intermediate.dense")
            wide = wide * 0.5 * (1 + erf(wide * np.float32(np.sqrt(0.5))))
            x = layer_norm(x + dense(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        pooled = np.sum(x * keep[:, :, None], axis=1) / np.sum(keep, axis=1, keepdims=True)
        return pooled / np.sqrt(np.sum(pooled * pooled, axis=-1, keepdims=True))

    return embed


def compiled(embed: Embedder) -> Embedder:
    """One program for every number of tokens that the model takes."""
    n = wf.Dim("n", 1, 128, LONGEST)
    return wf.jit(embed, dynamic={"ids": {1: n}, "mask": {1: n}})


def read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path}: is no UTF-8 text (byte {error.start})") from None
    if "\0" in text:
        raise SystemExit(f"{path}: is no text file")
    return text


def paragraphs(path: Path) -> Iterator[tuple[str, str]]:
    """(file:line, paragraph) for each paragraph of a file."""
    start, lines = 1, []
    for number, line in enumerate([*read_text(path).splitlines(), ""], 1):
        if line.strip():
            if not lines:
                start = number
            lines.append(line.strip())
        elif lines:
            yield f"{path}:{start}", " ".join(lines)
            lines = []


def chunks(tokenizer: object, place: str, text: str) -> Iterator[tuple[str, str]]:
    """The paragraph, or overlapping pieces of it when it is long."""
    encoding = tokenizer.encode(text, add_special_tokens=False)  # type: ignore[attr-defined]
    if len(encoding.ids) <= CHUNK_TOKENS:
        yield place, text
        return
    for begin in range(0, len(encoding.ids), CHUNK_TOKENS * 3 // 4):
        piece = encoding.offsets[begin : begin + CHUNK_TOKENS]
        yield place, text[piece[0][0] : piece[-1][1]]
        if begin + CHUNK_TOKENS >= len(encoding.ids):
            return


def tokens_of(tokenizer: object, text: str) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([tokenizer.encode(text).ids[:LONGEST]], dtype=np.int64)  # type: ignore[attr-defined]
    return ids, np.ones_like(ids)


def progress(items: list, label: str) -> Iterator:
    """A bar on a terminal, for more than a moment's work."""
    shown = sys.stderr.isatty() and len(items) > 50
    for done, item in enumerate(items):
        if shown and done % 10 == 0:
            filled = 30 * done // len(items)
            print(f"\r{label} [{'#' * filled}{'.' * (30 - filled)}] {done}/{len(items)}", end="", file=sys.stderr)
        yield item
    if shown:
        print(f"\r{label} [{'#' * 30}] {len(items)}/{len(items)}", file=sys.stderr)


def best_times(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least seconds of each call. Each has its turns together, after a rest that lets other thread pools fall asleep."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(3):
        for name, call in calls.items():
            time.sleep(0.3)
            for _ in range(1 + (rounds + 2) // 3):
                start = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def compare(
    embed: Embedder, fast: Embedder, weights: dict[str, np.ndarray], texts: list[np.ndarray], rounds: int
) -> None:
    """Prints differences from NumPy and torch on the texts, and speeds at 128 tokens."""
    twin = torch_embedder(weights)
    sample = texts[:8]
    ours = [fast(ids, np.ones_like(ids)) for ids in sample]
    numpy_difference = max(
        float(np.abs(a - embed(ids, np.ones_like(ids))).max()) for a, ids in zip(ours, sample, strict=True)
    )
    print(f"largest difference from NumPy  {numpy_difference:.1e}")
    calls: dict[str, Callable[[], object]] = {}
    ids = np.resize(np.concatenate(texts, axis=1), (1, 128))
    mask = np.ones_like(ids)
    calls["weftwork"] = lambda: fast(ids, mask)
    calls["numpy"] = lambda: embed(ids, mask)
    if twin is not None:
        import torch

        torch.set_num_threads(wf.num_threads())
        theirs = [twin(i, np.ones_like(i)) for i in sample]
        difference = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
        cosine = min(float((a * b).sum()) for a, b in zip(ours, theirs, strict=True))
        print(f"largest difference from torch  {difference:.1e}, least cosine {cosine:.7f}")
        calls["torch"] = lambda: twin(ids, mask)
    best = best_times(calls, rounds)
    print(f"128 tokens, {wf.num_threads()} threads, least of {rounds} runs each:")
    for name, seconds in best.items():
        ratio = "" if name == "weftwork" else f"  {seconds / best['weftwork']:.2f}x as long"
        print(f"  {name:<9}{seconds * 1e3:8.2f} ms{ratio}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?", default="how do I cook rice", help="what to look for")
    parser.add_argument("files", nargs="*", type=Path, help="UTF-8 text files; without any, built-in passages")
    parser.add_argument("--top", type=int, default=5, metavar="K", help="how many passages to print (5)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="threads to use (one for each CPU)")
    parser.add_argument("--no-compare", action="store_true", help="skip the comparison with NumPy and torch")
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="runs of each for the comparison (20)")
    arguments = parser.parse_args()
    if not arguments.query.strip():
        parser.error("the query is empty")
    if arguments.top < 1 or arguments.rounds < 1:
        parser.error("--top and --rounds must be at least 1")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    wf.set_num_threads(arguments.threads)
    tokenizer = load_tokenizer()
    if arguments.files:
        found = [
            chunk
            for path in arguments.files
            for place, text in paragraphs(path)
            for chunk in chunks(tokenizer, place, text)
        ]
        if not found:
            raise SystemExit("the files hold no text")
    else:
        found = [(f"passage {i}", text) for i, text in enumerate(PASSAGES, 1)]
    weights = load_weights()
    embed = make_embedder(weights)
    fast = compiled(embed)
    query_ids, query_mask = tokens_of(tokenizer, arguments.query)
    start = time.perf_counter()
    query = fast(query_ids, query_mask)
    first = time.perf_counter() - start
    start = time.perf_counter()
    fast(query_ids, query_mask)
    compile_time = first - (time.perf_counter() - start)
    token_ids = [tokens_of(tokenizer, text)[0] for _, text in found]
    start = time.perf_counter()
    vectors = np.concatenate([fast(ids, np.ones_like(ids)) for ids in progress(token_ids, "embedding")])
    seconds = time.perf_counter() - start
    scores = vectors @ query[0]
    for rank, index in enumerate(np.argsort(-scores)[: arguments.top], 1):
        place, text = found[index]
        print(f"{rank:2}. {scores[index]:.3f}  {place}  {text if len(text) < 100 else text[:97] + '...'}")
    print(f"\ncompiled once in {compile_time * 1e3:.0f} ms; {len(found)} passages embedded in {seconds * 1e3:.0f} ms")
    if not arguments.no_compare:
        compare(embed, fast, weights, token_ids, arguments.rounds)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    sys.exit(main())
