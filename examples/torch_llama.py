"""A Llama or Qwen3 of Hugging Face, compiled: tokens a second with a static cache, against eager and, with --inductor, Inductor.

    python examples/torch_llama.py [--family llama|qwen3] [--size tiny|1b] [--path FOLDER] [--tokens N] [--dtype float32|bfloat16] [--inductor]

Weights are random unless --path names a folder of a model. Needs torch and transformers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from tqdm import tqdm
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM, StaticCache

import weftwork.torch

SIZES = {
    "tiny": {"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 2048},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256},
}  # fmt: skip
FAMILIES = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM)}


def load(options: argparse.Namespace) -> Any:
    """The model that the command line names."""
    dtype = getattr(torch, options.dtype)
    if options.path:
        return AutoModelForCausalLM.from_pretrained(options.path, dtype=dtype).eval()
    configure, make = FAMILIES[options.family]
    sizes = SIZES[options.size]
    config = configure(
        **sizes, head_dim=sizes["hidden_size"] // sizes["num_attention_heads"], bos_token_id=1, eos_token_id=2
    )
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return make(config).eval()
    finally:
        torch.set_default_dtype(before)


class Generator:
    """Greedy generation: the prompt at once, then token by token, into a cache of a fixed length."""

    def __init__(self, model: Any, forward: Callable[..., Any], longest: int) -> None:
        self.model, self.forward, self.longest = model, forward, longest

    def __call__(self, prompt: torch.Tensor, count: int, shown: Any = None) -> tuple[list[int], float, float]:
        """The tokens, seconds for the prompt, and seconds for each token after it."""
        cache = StaticCache(config=self.model.config, max_cache_len=self.longest)
        begin = time.perf_counter()
        token = self._next(prompt, cache, torch.arange(prompt.shape[1]))
        first, tokens = time.perf_counter() - begin, [int(token)]
        begin = time.perf_counter()
        for place in range(prompt.shape[1], prompt.shape[1] + count - 1):
            token = self._next(token[None], cache, torch.tensor([place]))
            tokens.append(int(token))
            if shown is not None:
                shown.update()
        return tokens, first, (time.perf_counter() - begin) / max(count - 1, 1)

    def _next(self, tokens: torch.Tensor, cache: Any, places: torch.Tensor) -> torch.Tensor:
        logits = self.forward(
            input_ids=tokens, past_key_values=cache, position_ids=places[None], logits_to_keep=1
        ).logits
        return logits[:, -1].argmax(-1)


def measure(name: str, generator: Generator, prompt: torch.Tensor, count: int) -> list[int]:
    begin = time.perf_counter()
    generator(prompt, 3)
    ready = time.perf_counter() - begin
    with tqdm(total=count - 1, desc=name, leave=False) as shown:
        tokens, first, each = generator(prompt, count, shown)
    print(
        f"{name:9} prompt {prompt.shape[1] / first:8.1f} tokens/s, generation {1 / each:8.1f} tokens/s, ready after {ready:.1f} s"
    )
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--family", choices=FAMILIES, default="llama")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--path")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--inductor", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = load(options)
    prompt = torch.randint(3, model.config.vocab_size, (1, options.prompt))
    longest = options.prompt + options.tokens
    forwards = {"eager": model, "weftwork": torch.compile(model, backend=weftwork.torch.backend)}
    if options.inductor:
        forwards["inductor"] = torch.compile(model)
    with torch.no_grad():
        found = {
            name: measure(name, Generator(model, forward, longest), prompt, options.tokens)
            for name, forward in forwards.items()
        }
    same = sum(a == b for a, b in zip(found["eager"], found["weftwork"], strict=True))
    print(f"{same} of {options.tokens} tokens are eager's")


if __name__ == "__main__":
    main()
