"""Generation by a Llama of 1B, ours beside llama.cpp and the memory's rate: `python -m bench.generation [--tokens N]`.

Weights are random bfloat16 of the same shapes for both. They take turns in one process; the least time of a token counts. The limit
is that of reading all weights once, measured between the turns. llama.cpp runs where `xllamacpp` and `gguf` are installed.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .limits import stream

ROUNDS = 6
THREADS = 2
PROMPT = 64


def write_gguf(path: Path, model: Any) -> None:
    """The model's shapes as a file of llama.cpp, with its own weights and a vocabulary of names."""
    import gguf
    import numpy as np
    import torch

    config = model.config
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(2048)
    file.add_embedding_length(config.hidden_size)
    file.add_block_count(config.num_hidden_layers)
    file.add_feed_forward_length(config.intermediate_size)
    file.add_head_count(config.num_attention_heads)
    file.add_head_count_kv(config.num_key_value_heads)
    file.add_rope_dimension_count(config.head_dim)
    file.add_layer_norm_rms_eps(config.rms_norm_eps)
    file.add_vocab_size(config.vocab_size)
    file.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    file.add_tokenizer_model("llama")
    words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    file.add_token_list([*words, *(f"▁{i}" for i in range(config.vocab_size - len(words)))])
    file.add_token_scores([0.0] * config.vocab_size)
    file.add_token_types([2, 3, 3, *[6] * 256, *[1] * (config.vocab_size - len(words))])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        called = names.get_name(name, try_suffixes=(".weight",))
        if tensor.dim() == 1:
            file.add_tensor(called, tensor.float().numpy())
        else:
            words = tensor.contiguous().view(torch.uint16).numpy().view(np.uint8)
            file.add_tensor(called, words, raw_dtype=gguf.GGMLQuantizationType.BF16)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def llama_cpp(path: Path) -> Callable[[list[int], int], float]:
    """Seconds a token that it takes to generate so many after a prompt."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.n_ctx, options.n_parallel, options.verbosity = 512, 1, -1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(options)

    def generate(prompt: list[int], count: int) -> float:
        wanted = {"prompt": prompt, "n_predict": count, "temperature": 0, "ignore_eos": True, "cache_prompt": False}
        answer = server.handle_completions(wanted)
        answer = answer if isinstance(answer, dict) else json.loads(answer)
        return float(answer["timings"]["predicted_per_token_ms"]) * 1e-3

    return generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=24)
    parser.add_argument("--size", default="1b")
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import torch
    import torch_llama

    import weftwork.torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = torch_llama.load(argparse.Namespace(path=None, family="llama", size=given.size, dtype="bfloat16"))
    prompt = torch.randint(300, model.config.vocab_size, (1, PROMPT))
    read = sum(p.numel() * p.element_size() for p in model.parameters()) - model.get_input_embeddings().weight.nbytes
    compiled = torch.compile(model, backend=weftwork.torch.backend)
    generator = torch_llama.Generator(model, compiled, PROMPT + given.tokens)
    ways: dict[str, Callable[[], float]] = {
        "ours": lambda: generator(prompt, given.tokens)[2],
        "limit": lambda: stream.__wrapped__(read, 0, THREADS),
    }
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        try:
            path = Path(folder) / "model.gguf"
            write_gguf(path, model)
            generate = llama_cpp(path)
            ways["llama.cpp"] = lambda: generate(prompt[0].tolist(), given.tokens)
        except ImportError as missing:
            print(f"without llama.cpp: {missing}")
        least = dict.fromkeys(ways, math.inf)
        for turn in range(ROUNDS):
            for way, seconds in ways.items():
                taken = seconds()
                least[way] = min(least[way], taken) if turn else math.inf  # the first turn compiles
    for way, seconds in least.items():
        share = least["limit"] / seconds
        print(
            f"{way:10} {1 / seconds:6.1f} tokens/s, {seconds * 1e3:6.1f} ms a token, {share:4.0%} of the memory's rate"
        )


if __name__ == "__main__":
    main()
