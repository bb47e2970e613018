"""A vision transformer of Hugging Face names images: images a second, against eager and, with --inductor, Inductor.

    python examples/torch_vit.py [--calls N] [--size tiny|base] [--path FOLDER] [--batch N] [--dtype float32|bfloat16] [--inductor]

Weights are random unless --path names a folder of a model; the images are noise. Needs torch, transformers and tqdm.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch_rates import backends, measure, parser
from transformers import AutoModelForImageClassification, ViTConfig, ViTForImageClassification

SIZES = {
    "tiny": {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 4, "image_size": 64, "patch_size": 8},
    "base": {},
}  # fmt: skip


def load(options: argparse.Namespace) -> Any:
    """The model that the command line names."""
    dtype = getattr(torch, options.dtype)
    if options.path:
        return AutoModelForImageClassification.from_pretrained(options.path, dtype=dtype).eval()
    return ViTForImageClassification(ViTConfig(**SIZES[options.size])).to(dtype).eval()


def main() -> None:
    arguments = parser(calls=20)
    arguments.add_argument("--size", choices=SIZES, default="tiny")
    arguments.add_argument("--path")
    arguments.add_argument("--batch", type=int, default=8)
    arguments.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    options = arguments.parse_args()
    torch.manual_seed(0)
    model = load(options)
    extent = model.config.image_size
    images = torch.randn(options.batch, 3, extent, extent, dtype=getattr(torch, options.dtype))
    found = {}
    with torch.no_grad():
        for name, backend in backends(options).items():
            forward = model if backend is None else torch.compile(model, backend=backend)
            inputs = [(images, options.batch)] * options.calls
            found[name] = measure(
                name, "images", lambda x, forward=forward: forward(pixel_values=x).logits, inputs, options.calls
            )[-1]
    print(f"logits differ from eager's by at most {(found['weftwork'] - found['eager']).abs().max().item():.1e}")


if __name__ == "__main__":
    main()
