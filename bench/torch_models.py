"""Models of torch, ours beside Inductor and eager: `python -m bench.torch_models [--train] [--tiny] [--mode MODE] [NAME ...]`.

All three run in one process, turn by turn, so that what else the machine does meets all; the median of the turns counts.
The limit is that of products and convolutions alone: their operations, as torch counts them, at the measured rate of fused
multiply-adds. A first call is from `torch.compile` to its result, with empty caches; a part of it is Dynamo's, whatever compiles
then. `--tiny`: the small models of the tests, whose time is that of guards and calls.
"""

import argparse
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .limits import peak

ROUNDS = 24
THREADS = 2
WAYS = ("eager", "inductor", "weftwork")
SIZES = {"hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4}


def models(is_tiny: bool) -> dict[str, tuple[Callable[[], Any], Callable[[], dict[str, Any]]]]:
    """Name -> what makes the module, and its inputs; those that are not tiny are as wide as a small model that is in use."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))
    import torch
    import torch_models as small

    if is_tiny:
        return small.MODELS
    text = {**small.TEXT, **SIZES, "vocab_size": 4096}
    grouped = {**text, "num_key_value_heads": 2}

    def words() -> dict[str, Any]:
        return {"input_ids": torch.randint(3, 4096, (4, 64))}

    gpt2 = {"n_embd": 256, "n_layer": 4, "n_head": 4, "vocab_size": 4096, "n_positions": 64}
    t5 = {
        "dropout_rate": 0.0,
        "d_model": 256,
        "d_kv": 64,
        "d_ff": 1024,
        "num_layers": 4,
        "num_heads": 4,
        "vocab_size": 4096,
    }
    return {
        "mlp": (small.mlp, lambda: {"input": torch.randn(256, 32)}),
        "resnet": (small.ResNet, lambda: {"x": torch.randn(8, 3, 96, 96)}),
        "unet": (small.UNet, lambda: {"x": torch.randn(4, 3, 96, 96)}),
        "bert": (small.of("BertModel", "BertConfig", **text), words),
        "gpt2": (small.of("GPT2LMHeadModel", "GPT2Config", bos_token_id=1, eos_token_id=2, **gpt2), words),
        "llama": (small.of("LlamaForCausalLM", "LlamaConfig", **grouped), words),
        "qwen3": (small.of("Qwen3ForCausalLM", "Qwen3Config", head_dim=64, **grouped), words),
        "gemma2": (small.of("Gemma2ForCausalLM", "Gemma2Config", head_dim=64, **grouped), words),
        "vit": (
            small.of("ViTModel", "ViTConfig", image_size=96, patch_size=16, **SIZES),
            lambda: {"pixel_values": torch.randn(4, 3, 96, 96)},
        ),
        "t5": (small.of("T5Model", "T5Config", **t5), lambda: {**words(), "decoder_input_ids": words()["input_ids"]}),
    }


def total(found: Any) -> Any:
    """A loss of whatever a model gives."""
    tensor = (
        found
        if hasattr(found, "mean")
        else next(v for v in found.to_tuple() if hasattr(v, "mean") and v.is_floating_point())
    )
    return tensor.float().square().mean()


def caller(
    way: str, mode: str | None, make: Callable[[], Any], inputs: dict[str, Any], trains: bool
) -> Callable[[], Any]:
    import torch

    torch.manual_seed(0)
    module = make()
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    module = module.train() if trains else module.eval()
    if way != "eager":
        module.forward = torch.compile(module.forward, backend=way, mode=mode if way == "inductor" else None)
    if not trains:
        return lambda: module(**inputs)
    # torch's fused optimizer is its fastest, for every way: the eager one would be a third of each step.
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        total(module(**inputs)).backward()
        optimizer.step()

    return step


def burst(call: Callable[[], Any], seconds: float) -> float:
    """Seconds of a call: the mean of calls that take so long together."""
    begin, calls = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < seconds:
        call()
        calls += 1
    return spent / calls


def limit(call: Callable[[], Any]) -> float:
    """Seconds that the products and convolutions of a call take at least."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops() / (peak("f32", THREADS) or math.inf)


def measured(
    make: Callable[[], Any], inputs: dict[str, Any], mode: str | None, trains: bool
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Seconds of a first call, Dynamo's part of them, and those of a later call, by way."""
    import torch
    from torch._dynamo.utils import compilation_time_metrics

    torch._dynamo.reset()
    calls, first, of_dynamo = {}, {}, {}
    for way in WAYS:
        calls[way] = caller(way, mode, make, inputs, trains)
        compilation_time_metrics.clear()
        begin = time.perf_counter()
        calls[way]()
        first[way] = time.perf_counter() - begin
        of_backend = sum(compilation_time_metrics.get("OutputGraph.call_user_compiler", ()))
        of_dynamo[way] = sum(compilation_time_metrics.get("_compile.compile_inner", ())) - of_backend
    turns: dict[str, list[float]] = {way: [] for way in WAYS}
    with torch.set_grad_enabled(trains):
        for _ in range(ROUNDS):
            for way in WAYS:
                turns[way].append(burst(calls[way], 0.12))
    return first, of_dynamo, {way: statistics.median(seconds) for way, seconds in turns.items()}


def load_compilers() -> None:
    """What the first compilation of a process loads is no part of a model's first call."""
    import torch

    for backend in WAYS[1:]:
        torch.compile(lambda x: x.sin() @ x, backend=backend)(torch.ones(4, 4))


def ratios(
    first: dict[str, float], of_dynamo: dict[str, float], later: dict[str, float], least_possible: float
) -> tuple[float, ...]:
    return (
        later["inductor"] / later["weftwork"],
        later["eager"] / later["weftwork"],
        later["weftwork"] / least_possible,
        first["inductor"] / first["weftwork"],
        (first["inductor"] - of_dynamo["inductor"]) / (first["weftwork"] - of_dynamo["weftwork"]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", action="store_true", help="a step of training in place of inference")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--mode", help="of Inductor: max-autotune and so on")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TORCHINDUCTOR_CACHE_DIR": folder, "WEFT_CACHE": "off"}
        import torch

        import weftwork.torch  # noqa: F401

        torch.set_num_threads(THREADS)
        load_compilers()
        rows = []
        print(
            f"{'':8} {'eager':>9} {'Inductor':>9} {'ours':>9} {'limit':>9}  of Inductor  first call, Dynamo's part of it: ours, Inductor's"
        )
        for name, (make, inputs) in models(given.tiny).items():
            if given.names and name not in given.names:
                continue
            torch.manual_seed(1)
            with torch.set_grad_enabled(given.train):
                batch = inputs()
                least_possible = limit(caller("eager", None, make, batch, given.train))
                first, of_dynamo, later = measured(make, batch, given.mode, given.train)
            rows.append(ratios(first, of_dynamo, later, least_possible))
            times = " ".join(f"{seconds * 1e6:7.0f}us" for seconds in (*later.values(), least_possible))
            begun = "; ".join(f"{first[way]:.2f} s, {of_dynamo[way]:.2f}" for way in ("weftwork", "inductor"))
            print(f"{name:8} {times} {rows[-1][0]:10.2f}x  {begun}", flush=True)
        means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*rows, strict=True)]
        print(
            f"geometric means: {means[0]:.2f}x of Inductor, {means[1]:.2f}x of eager, {means[2]:.2f}x of the limit; "
            f"first calls {means[3]:.1f}x shorter than Inductor's, {means[4]:.1f}x without what Dynamo takes of both"
        )


if __name__ == "__main__":
    main()
