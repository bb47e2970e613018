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

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm", "RMSNorm"]


Extents = int | Sequence[int]


def ones_and_zeros(shape: tuple[int, ...], wanted: bool, dtype: Any) -> tuple[Any, Any]:
    """What weight and bias start from, if they are wanted."""
    return (asarray(np.ones(shape, dtype)), asarray(np.zeros(shape, dtype))) if wanted else (None, None)


class LayerNorm(Module):
    """The last dimensions, of that shape, with mean 0 and variance 1, times ``weight`` plus ``bias``."""

    def __init__(
        self,
        normalized_shape: Extents,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = np.float32,
    ) -> None:
        self.normalized_shape, self.eps = extents(normalized_shape), eps
        self.weight, self.bias = ones_and_zeros(self.normalized_shape, elementwise_affine, dtype)
        self.bias = self.bias if bias else None

    def forward(self, x: Any) -> Any:
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """The last dimensions, of that shape, over the root of their mean square, times ``weight``."""

    def __init__(
        self, normalized_shape: Extents, eps: float = 1e-6, elementwise_affine: bool = True, dtype: Any = np.float32
    ) -> None:
        self.normalized_shape, self.eps = extents(normalized_shape), eps
        self.weight, _ = ones_and_zeros(self.normalized_shape, elementwise_affine, dtype)

    def forward(self, x: Any) -> Any:
        return rms_norm(x, self.weight, self.eps, self.normalized_shape)


class GroupNorm(Module):
    """Groups of channels with mean 0 and variance 1, channels times ``weight`` plus ``bias``."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = np.float32
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ArgumentValueError(f"GroupNorm: {num_groups} groups of {num_channels} channels  [norm_groups]")
        self.num_groups, self.eps = num_groups, eps
        self.weight, self.bias = ones_and_zeros((num_channels,), affine, dtype)

    def forward(self, x: Any) -> Any:
        return group_norm(x, self.num_groups, self.weight, self.bias, self.eps)


class BatchNorm(Module):
    """Channels of (batch, channels, ...) with mean 0 and variance 1, times ``weight`` plus ``bias``.

    In training these are the batch's, which ``running_mean`` and ``running_var`` follow by the part ``momentum``; else they are those two.
    """

    BUFFERS = ("running_mean", "running_var", "num_batches_tracked")

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, dtype: Any = np.float32
    ) -> None:
        self.eps, self.momentum = eps, momentum
        self.weight, self.bias = ones_and_zeros((num_features,), affine, dtype)
        variance, mean = ones_and_zeros((num_features,), True, dtype)
        self.running_mean, self.running_var = mean, variance
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
