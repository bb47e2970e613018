"""A ResNet learns to tell stripes apart: images a second of training, against eager and, with --inductor, Inductor.

    python examples/torch_resnet.py [--calls N] [--blocks N] [--channels N] [--size N] [--batch N] [--inductor]

With --blocks 2 --channels 64 --size 224 it is a ResNet-18. The images are made up. Needs torch and tqdm.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch_rates import backends, measure, parser

CLASSES = 4


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
        )
        self.second = nn.Sequential(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
            if inputs != outputs
            else nn.Identity()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.second(self.first(x)) + self.shortcut(x))


def resnet(blocks: int, channels: int) -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(3, channels, 7, 2, 3, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    width = channels
    for stage in range(4):
        wide = channels << stage
        for i in range(blocks):
            layers.append(Block(width, wide, 2 if stage and not i else 1))
            width = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES))


def stripes(batch: int, size: int, calls: int) -> Iterator[tuple[Any, int]]:
    """Images of stripes that stand, lie, or rise either way, in noise."""
    generator = torch.Generator().manual_seed(0)
    place = torch.arange(size, dtype=torch.float32)
    rows, columns = place[:, None].expand(size, size), place[None, :].expand(size, size)
    kinds = torch.stack([rows, columns, rows + columns, rows - columns])
    for _ in range(calls):
        labels = torch.randint(0, CLASSES, (batch,), generator=generator)
        shift = 6 * torch.rand((batch, 1, 1), generator=generator)
        images = torch.sin(kinds[labels] * 0.8 + shift)[:, None] + torch.randn(
            (batch, 3, size, size), generator=generator
        )
        yield (images, labels), batch


def trainer(model: nn.Module, backend: Any) -> Any:
    """A step of training, as a function of images and labels that gives the loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    forward = model if backend is None else torch.compile(model, backend=backend)
    update = optimizer.step if backend is None else torch.compile(optimizer.step, backend=backend)

    def step(given: Any) -> float:
        images, labels = given
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(images), labels)
        loss.backward()
        update()
        return loss.item()

    return step


def main() -> None:
    arguments = parser(calls=24)
    for name, value in (("blocks", 1), ("channels", 16), ("size", 32), ("batch", 16)):
        arguments.add_argument(f"--{name}", type=int, default=value)
    options = arguments.parse_args()
    torch.manual_seed(0)
    model = resnet(options.blocks, options.channels).train()
    losses = {}
    for name, backend in backends(options).items():
        images = stripes(options.batch, options.size, options.calls)
        losses[name] = measure(name, "images", trainer(copy.deepcopy(model), backend), images, options.calls)
        print(f"          loss {losses[name][0]:.3f} to {sum(losses[name][-4:]) / 4:.3f}")
    # Later ones drift apart, as the last bits of sums do.
    apart = max(abs(a - b) for a, b in zip(losses["eager"][:4], losses["weftwork"][:4], strict=True))
    print(f"losses of the first 4 steps differ by at most {apart:.1e}")


if __name__ == "__main__":
    main()
