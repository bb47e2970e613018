"""Normalisation layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentValueError, UnsupportedError
from ..lazy import asarray
from ..numpy.tracer import current_trace
from .functions import batch_norm, extents, group_norm, layer_norm, rms_norm, wide
from .module import Module
from .start import Start

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "RMSNorm"]


class LayerNorm(Module):
    """The last dimensions, of that shape, with mean 0 and variance 1, times ``weight`` plus ``bias``."""

    def __init__(
        self, shape: int | Sequence[int], eps: float = 1e-5, bias: bool = True, dtype: Any = np.float32
    ) -> None:
        start, self.shape, self.eps = Start(None, dtype), extents(shape), eps
        self.weight = start.full(self.shape, 1)
        self.bias = start.full(self.shape, 0) if bias else None

    def forward(self, x: Any) -> Any:
        return layer_norm(x, self.shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """The last dimension over the root of its mean square, times ``weight``."""

    def __init__(self, features: int, eps: float = 1e-6, dtype: Any = np.float32) -> None:
        self.weight, self.eps = Start(None, dtype).full((features,), 1), eps

    def forward(self, x: Any) -> Any:
        return rms_norm(x, self.weight, self.eps)


class GroupNorm(Module):
    """Groups of channels with mean 0 and variance 1, channels times ``weight`` plus ``bias``."""

    def __init__(self, groups: int, channels: int, eps: float = 1e-5, dtype: Any = np.float32) -> None:
        if groups < 1 or channels % groups:
            raise ArgumentValueError(f"GroupNorm: {groups} groups of {channels} channels  [norm_groups]")
        start, self.groups, self.eps = Start(None, dtype), groups, eps
        self.weight, self.bias = start.full((channels,), 1), start.full((channels,), 0)

    def forward(self, x: Any) -> Any:
        return group_norm(x, self.groups, self.weight, self.bias, self.eps)


class BatchNorm(Module):
    """Channels of (batch, channels, ...) with mean 0 and variance 1, times ``weight`` plus ``bias``.

    In training these are the batch's, which ``running_mean`` and ``running_var`` follow by the part ``momentum``; else they are those two.
    """

    BUFFERS = ("running_mean", "running_var", "num_batches_tracked")

    def __init__(self, channels: int, eps: float = 1e-5, momentum: float = 0.1, dtype: Any = np.float32) -> None:
        start, self.eps, self.momentum = Start(None, dtype), eps, momentum
        self.weight, self.bias = start.full((channels,), 1), start.full((channels,), 0)
        self.running_mean, self.running_var = start.full((channels,), 0), start.full((channels,), 1)
        self.num_batches_tracked = asarray(np.int64(0))

    def forward(self, x: Any) -> Any:
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance = self._follow(wide(x))
        return batch_norm(x, mean, variance, self.weight, self.bias, self.eps)

    def _follow(self, x: Any) -> tuple[Any, Any]:
        if current_trace() is not None:
            raise UnsupportedError(
                "BatchNorm in training changes its running statistics, which are constants of a program: module.eval()  [batch_norm]"
            )
        axes = (0, *range(2, x.ndim))
        count = x.size // x.shape[1]
        if count < 2:
            raise ArgumentValueError(
                f"BatchNorm in training takes more than one element for each channel, got shape {x.shape}  [norm_shape]"
            )
        mean = np.mean(x, axis=axes)
        centered = x - mean.reshape((-1, *(1,) * (x.ndim - 2)))
        variance = np.mean(centered * centered, axis=axes)
        kind, part = self.running_mean.dtype, self.momentum
        self.running_mean = (self.running_mean * (1 - part) + mean * part).astype(kind)
        self.running_var = (self.running_var * (1 - part) + variance * (part * count / (count - 1))).astype(kind)
        self.num_batches_tracked = self.num_batches_tracked + 1
        return mean, variance


class BatchNorm1d(BatchNorm):
    __doc__ = BatchNorm.__doc__


class BatchNorm2d(BatchNorm):
    __doc__ = BatchNorm.__doc__


class BatchNorm3d(BatchNorm):
    __doc__ = BatchNorm.__doc__
