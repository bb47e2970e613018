"""Convolutions and pooling of (batch, channels, spatial dimensions), or without the batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ArgumentValueError
from ..numpy import windows
from .functions import wide
from .module import Module, spread
from .start import Start

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "MaxPool1d", "MaxPool2d", "MaxPool3d",
]  # fmt: skip


def each(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


class Convolution(Module):
    """``weight`` is (out_channels, in_channels / groups, kernel_size); numbers are wf.conv1d's."""

    COUNT = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: Any = np.float32,
        *,
        key: Any = None,
    ) -> None:
        require_groups(in_channels, out_channels, groups)
        start, size = Start(key, dtype), each(kernel_size, self.COUNT)
        limit = spread(in_channels // groups * math.prod(size))
        self.weight = start.uniform((out_channels, in_channels // groups, *size), limit)
        self.bias = start.uniform((out_channels,), limit) if bias else None
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups

    def forward(self, x: Any) -> Any:
        function = getattr(windows, f"conv{self.COUNT}d")
        return function(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class TransposedConvolution(Module):
    """``weight`` is (in_channels, out_channels / groups, kernel_size); numbers are wf.conv_transpose1d's."""

    COUNT = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        dtype: Any = np.float32,
        *,
        key: Any = None,
    ) -> None:
        require_groups(in_channels, out_channels, groups)
        start, size = Start(key, dtype), each(kernel_size, self.COUNT)
        limit = spread(out_channels // groups * math.prod(size))
        self.weight = start.uniform((in_channels, out_channels // groups, *size), limit)
        self.bias = start.uniform((out_channels,), limit) if bias else None
        self.stride, self.padding, self.output_padding = stride, padding, output_padding
        self.groups, self.dilation = groups, dilation

    def forward(self, x: Any) -> Any:
        function = getattr(windows, f"conv_transpose{self.COUNT}d")
        return function(
            x, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


def require_groups(inputs: int, outputs: int, groups: int) -> None:
    if groups < 1 or inputs % groups or outputs % groups:
        raise ArgumentValueError(f"{inputs} channels to {outputs} in {groups} groups  [conv_channels]")


class Pool(Module):
    """Numbers are wf.max_pool1d's."""

    COUNT = 0
    KIND = ""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.options: dict[str, bool] = {}

    def forward(self, x: Any) -> Any:
        function = getattr(windows, f"{self.KIND}_pool{self.COUNT}d")
        return function(x, self.kernel_size, self.stride, self.padding, **self.options)


class AdaptivePool(Module):
    """Means of as many windows of about the same size, along each spatial dimension, as ``output_size`` says."""

    COUNT = 0

    def __init__(self, output_size: Any) -> None:
        self.output_size = output_size

    def forward(self, x: Any) -> Any:
        a = wide(x)
        for axis, count in zip(range(-self.COUNT, 0), each(self.output_size, self.COUNT), strict=True):
            if count == 1:
                a = np.mean(a, axis=axis, keepdims=True)
            elif count != a.shape[axis]:
                a = window_means(a, axis, count)
        return a.astype(x.dtype)


def window_means(a: Any, axis: int, count: int) -> Any:
    """Means along an axis: window i is from floor(i extent / count) to ceil((i + 1) extent / count).

    Each is of its own elements alone: in a product with a matrix of weights, an infinity would make NaN of all windows.
    """
    extent, after = a.shape[axis], (slice(None),) * (-1 - axis)
    spans = [slice(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
    return np.stack([np.mean(a[(..., span, *after)], axis=axis) for span in spans], axis=axis)


class AveragePool(Pool):
    """Numbers are wf.avg_pool1d's."""

    KIND = "avg"

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, *, count_include_pad: bool = True
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.options = {"count_include_pad": count_include_pad}


def layer(base: type, name: str, count: int, doc: str, **members: Any) -> Any:
    """The class for so many spatial dimensions."""
    return type(name, (base,), {"COUNT": count, "__doc__": f"{doc} {base.__doc__}", "__module__": __name__, **members})


Conv1d, Conv2d, Conv3d = (
    layer(Convolution, f"Conv{n}d", n, f"A convolution over {n} spatial dimensions.") for n in (1, 2, 3)
)
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = (
    layer(
        TransposedConvolution, f"ConvTranspose{n}d", n, f"The transpose of a convolution over {n} spatial dimensions."
    )
    for n in (1, 2, 3)
)
MaxPool1d, MaxPool2d, MaxPool3d = (
    layer(Pool, f"MaxPool{n}d", n, "The greatest element of each window.", KIND="max") for n in (1, 2, 3)
)
AvgPool1d, AvgPool2d, AvgPool3d = (layer(AveragePool, f"AvgPool{n}d", n, "The mean of each window.") for n in (1, 2, 3))
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = (
    layer(AdaptivePool, f"AdaptiveAvgPool{n}d", n, f"Pooling over {n} spatial dimensions.") for n in (1, 2, 3)
)
