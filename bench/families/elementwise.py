"""Element-wise chains, row reductions, sums and scans over 4096 x 1024."""

from __future__ import annotations

from typing import Any

import numpy as np
from bench.workload import DIVIDE, DTYPES, EXP, TANH, family, normal, wide

declare = family("elementwise")
F: Any = None
torch: Any = None
SHAPE = (4096, 1024)
COUNT = 4096 * 1024


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift


def logsumexp(x: Any) -> Any:
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[:, 0]


def chain(x: Any, row: Any, column: Any) -> Any:
    half, quarter = x.dtype.type(0.5), x.dtype.type(0.25)  # a Python float makes float32 of bfloat16
    y = (x + row) * column
    y = np.maximum(y - half * row, -2) * (row - column)
    y = (y + x) * x - column * row
    return np.minimum(np.abs(y), 8) + quarter * x


def gated(x: Any, y: Any) -> Any:
    return x / (1 + np.exp(-x)) * y


def clip_where(x: Any, y: Any) -> Any:
    return np.where(x > y, np.minimum(np.maximum(x, -1), 1), y * 2)  # np.clip makes float32 of bfloat16


def torch_chain(x: Any, row: Any, column: Any) -> Any:
    y = (x + row) * column
    y = torch.clamp_min(y - 0.5 * row, -2) * (row - column)
    y = (y + x) * x - column * row
    return torch.clamp_max(torch.abs(y), 8) + 0.25 * x


# name, NumPy, torch, shapes of the arguments, operations for each element
WORK: list[tuple[str, Any, Any, list[tuple[int, ...]], int]] = [
    ("gelu", gelu, lambda x: F.gelu(x, approximate="tanh"), [SHAPE], 8 + TANH),
    ("softmax", softmax, lambda x: F.softmax(x, -1), [SHAPE], 4 + EXP),
    ("layer norm", layer_norm, lambda x, a, b: F.layer_norm(x, x.shape[-1:], a, b), [SHAPE, (1024,), (1024,)], 8),
    ("logsumexp", logsumexp, lambda x: torch.logsumexp(x, -1), [SHAPE], 3 + EXP),
    ("chain of 12", chain, torch_chain, [SHAPE, (1024,), (4096, 1)], 14),
    ("gated sigmoid", gated, lambda x, y: F.silu(x) * y, [SHAPE, SHAPE], 2 + EXP + DIVIDE),
    ("clip and where", clip_where, lambda x, y: torch.where(x > y, torch.clamp(x, -1, 1), y * 2), [SHAPE, SHAPE], 5),
    ("sum axis 0", lambda x: x.sum(axis=0), lambda x: x.sum(0), [SHAPE], 1),
    ("sum axis 1", lambda x: x.sum(axis=1), lambda x: x.sum(1), [SHAPE], 1),
    ("sum all", lambda x: x.sum(), lambda x: x.sum(), [SHAPE], 1),
    ("cumsum axis 0", lambda x: np.cumsum(x, axis=0), lambda x: torch.cumsum(x, 0), [SHAPE], 1),
    ("cumsum axis 1", lambda x: np.cumsum(x, axis=1), lambda x: torch.cumsum(x, 1), [SHAPE], 1),
]
# One operation in torch, which computes it in f32 and rounds once: so does the NumPy function over narrow floats.
ROUNDED_ONCE = {"gelu", "softmax", "layer norm", "logsumexp", "gated sigmoid"}
F32_ONLY = {"sum axis 1", "sum all", "cumsum axis 0"}

for name, function, twin, shapes, flops in WORK:
    for suffix, dtype in DTYPES.items():
        if suffix == "f32" or name not in F32_ONLY:
            declare(
                f"{name} {suffix}",
                wide(function) if suffix != "f32" and name in ROUNDED_ONCE else function,
                lambda shapes=shapes, dtype=dtype: tuple(normal(*shape, dtype=dtype) for shape in shapes),
                torch=twin,
                flops=flops * COUNT,
            )
