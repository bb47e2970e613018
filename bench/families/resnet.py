"""ResNet-50 on one image of 224 x 224."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bench.workload import f32, family, normal, uniform

declare = family("resnet")
F: Any = None
jax: Any = None
STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]  # blocks, channels, stride of the first


def convolutions() -> list[tuple[str, int, int, int]]:
    """Name, outputs, inputs and width of every convolution."""
    found, inputs = [("stem", 64, 3, 7)], 64
    for stage, (blocks, channels, _) in enumerate(STAGES):
        for block in range(blocks):
            name = f"{stage}_{block}"
            found += [(f"{name}_a", channels, inputs, 1), (f"{name}_b", channels, channels, 3)]
            found.append((f"{name}_c", 4 * channels, channels, 1))
            if block == 0:
                found.append((f"{name}_skip", 4 * channels, inputs, 1))
            inputs = 4 * channels
    return found


def weights() -> dict[str, np.ndarray]:
    made = {"head": normal(1000, 2048, scale=2048**-0.5), "head_bias": normal(1000, scale=0.1)}
    for name, outputs, inputs, width in convolutions():
        made[f"{name}_weight"] = normal(outputs, inputs, width, width, scale=(inputs * width * width) ** -0.5)
        made[f"{name}_mean"], made[f"{name}_shift"] = (normal(outputs, scale=0.1) for _ in range(2))
        made[f"{name}_variance"], made[f"{name}_scale"] = (uniform(0.5, 1.5, outputs, dtype=f32) for _ in range(2))
    return made


def windows(x: Any, width: int, stride: int, padding: int, value: float) -> Any:
    around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    view = np.lib.stride_tricks.sliding_window_view(np.pad(x, around, constant_values=value), (width, width), (2, 3))
    return view[:, :, ::stride, ::stride]


def numpy_conv(x: Any, weight: Any, stride: int, padding: int) -> Any:
    parts = windows(x, weight.shape[-1], stride, padding, 0)
    return np.tensordot(weight, parts, axes=((1, 2, 3), (1, 4, 5))).transpose(1, 0, 2, 3)


def numpy_pool(x: Any) -> Any:
    return windows(x, 3, 2, 1, -np.inf).max(axis=(-1, -2))


def numpy_norm(w: Any, name: str, x: Any) -> Any:
    column = lambda part: w[f"{name}_{part}"][:, None, None]
    return (x - column("mean")) / np.sqrt(column("variance") + 1e-5) * column("scale") + column("shift")


def resnet(w: Any, x: Any, conv: Callable, pool: Callable, norm: Callable, relu: Callable) -> Any:
    """What is in front of the classifier; its parts are the peer's own."""

    def layer(name: str, x: Any, stride: int = 1) -> Any:
        weight = w[f"{name}_weight"]
        return norm(w, name, conv(x, weight, stride, weight.shape[-1] // 2))

    x = pool(relu(layer("stem", x, 2)))
    for stage, (blocks, _, first) in enumerate(STAGES):
        for block in range(blocks):
            name, stride = f"{stage}_{block}", first if block == 0 else 1
            y = relu(layer(f"{name}_a", x))
            y = layer(f"{name}_c", relu(layer(f"{name}_b", y, stride)))
            x = relu(y + (layer(f"{name}_skip", x, stride) if block == 0 else x))
    return x


def numpy_relu(x: Any) -> Any:
    return np.maximum(x, 0)


def classify(w: Any, x: Any, conv: Callable, pool: Callable) -> Any:
    x = resnet(w, x, conv, pool, numpy_norm, numpy_relu)
    return x.mean(axis=(2, 3)) @ w["head"].T + w["head_bias"]


def ours(w: Any, x: Any) -> Any:
    import weftwork as wf

    conv = lambda x, weight, stride, padding: wf.conv2d(x, weight, stride=stride, padding=padding)
    return classify(w, x, conv, lambda x: wf.max_pool2d(x, 3, stride=2, padding=1))


def jax_resnet(w: Any, x: Any) -> Any:
    lax = jax.lax
    conv = lambda x, weight, stride, padding: lax.conv_general_dilated(x, weight, (stride,) * 2, [(padding,) * 2] * 2)
    around = ((0, 0), (0, 0), (1, 1), (1, 1))
    return classify(w, x, conv, lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), around))


def torch_resnet(w: Any, x: Any) -> Any:
    def norm(w: Any, name: str, x: Any) -> Any:
        return F.batch_norm(x, *(w[f"{name}_{part}"] for part in ("mean", "variance", "scale", "shift")))

    conv = lambda x, weight, stride, padding: F.conv2d(x, weight, None, stride, padding)
    x = resnet(w, x, conv, lambda x: F.max_pool2d(x, 3, 2, 1), norm, F.relu)
    return F.linear(x.mean((2, 3)), w["head"], w["head_bias"])


fields = {
    "weights": weights,
    "flops": 8.18e9,
    "tolerance": 1e-4,
}
declare(
    "resnet-50 224 f32",
    lambda w, x: classify(w, x, numpy_conv, numpy_pool),
    lambda: (normal(1, 3, 224, 224),),
    torch=torch_resnet,
    jax=jax_resnet,
    ours=ours,
    **fields,
)
declare(
    "resnet-50 of windows 224 f32",
    lambda w, x: classify(w, x, numpy_conv, numpy_pool),
    lambda: (normal(1, 3, 224, 224),),
    skip={"jax": "jax.numpy has no sliding_window_view"},
    **fields,
)
