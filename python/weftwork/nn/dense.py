"""Dense layers, tables of vectors, layers in a row, and weights of few bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from ..lazy import asarray
from .functions import from_zero, linear
from .module import Module, spread
from .start import Start

__all__ = [
    "Dropout",
    "Embedding",
    "Flatten",
    "Identity",
    "Lambda",
    "Linear",
    "QuantizedLinear",
    "Sequential",
    "quantize",
]


class Linear(Module):
    """x @ weight.T + bias of the last dimension; ``weight`` is (out_features, in_features)."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = np.float32, *, key: Any = None
    ) -> None:
        start, limit = Start(key, dtype), spread(in_features)
        self.weight = start.uniform((out_features, in_features), limit)
        self.bias = start.uniform((out_features,), limit) if bias else None

    def forward(self, x: Any) -> Any:
        return linear(x, self.weight, self.bias)


class Embedding(Module):
    """The row of ``weight`` (num_embeddings, embedding_dim) for each number; that of ``padding_idx`` starts as zeros."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        dtype: Any = np.float32,
        *,
        key: Any = None,
    ) -> None:
        self.weight = Start(key, dtype).uniform((num_embeddings, embedding_dim), 1.0)
        if padding_idx is not None:
            self.weight[padding_idx] = 0

    def forward(self, ids: Any) -> Any:
        ids = ids if hasattr(ids, "dtype") else np.asarray(ids)
        return np.take(self.weight, from_zero(ids, self.weight.shape[0]), axis=0)


class Sequential(Module):
    """Modules, each of which takes the result of the one before; their names are "0", "1", ..."""

    def __init__(self, *layers: Any) -> None:
        self._layers = list(layers)

    def entries(self) -> Iterator[tuple[str, Any]]:
        return ((str(i), layer) for i, layer in enumerate(self._layers))

    def assign(self, name: str, value: Any) -> None:
        self._layers[int(name)] = value

    def forward(self, x: Any) -> Any:
        for layer in self._layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self._layers)

    def __getitem__(self, i: int | slice) -> Any:
        return Sequential(*self._layers[i]) if isinstance(i, slice) else self._layers[i]

    def append(self, layer: Any) -> Sequential:
        """Puts a module behind the others; this one is the result."""
        self._layers.append(layer)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)


class Lambda(Module):
    """A function as a module: ``Lambda(wf.nn.relu)``."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def forward(self, *args: Any) -> Any:
        return self._function(*args)


class Identity(Module):
    """What it is given."""

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """The dimensions from ``start_dim`` to ``end_dim``, which counts, as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Any) -> Any:
        first, last = self.start_dim % x.ndim, self.end_dim % x.ndim + 1
        return x.reshape((*x.shape[:first], math.prod(x.shape[first:last]), *x.shape[last:]))


class Dropout(Module):
    """In training, elements are 0 with the probability ``p`` by a key of ``wf.random`` that each call is given."""

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ArgumentValueError(f"Dropout: p is a probability, got {p}  [dropout_rate]")
        self.p = p

    def forward(self, x: Any, key: Any = None) -> Any:
        from .functions import dropout

        if not self.training or not self.p:
            return x
        if key is None:
            raise ArgumentTypeError("Dropout in training takes a key: layer(x, wf.random.key(seed))  [random_key]")
        return dropout(x, self.p, key)


class QuantizedLinear(Module):
    """A linear layer whose weights are integers of 8 or 4 bits, with a scale for each group of inputs of an output.

    Weights are symmetric: the largest of a group is 127 or 7 scales. A group is all inputs where ``group`` is None.
    """

    BUFFERS = ("weight", "scale")

    def __init__(self, layer: Linear, bits: int = 8, group: int | None = None) -> None:
        if bits not in LARGEST:
            raise ArgumentValueError(f"quantize: weights of 8 or 4 bits, got {bits}  [quantize_bits]")
        outputs, inputs = layer.weight.shape
        group = inputs if group is None else group
        if group < 1 or inputs % group:
            raise ArgumentValueError(f"quantize: groups of {group} do not fit {inputs} inputs  [quantize_group]")
        groups = layer.weight.astype(np.float32).reshape(outputs, inputs // group, group)
        scale = np.max(np.abs(groups), axis=2) / LARGEST[bits]
        divisor = np.where(scale == 0, 1, scale)[:, :, None]
        self.weight = asarray(np.round(groups / divisor).reshape(outputs, inputs).astype(KINDS[bits])).eval()
        self.scale = asarray(scale.astype(layer.weight.dtype)).eval()
        self.bias = layer.bias

    def forward(self, x: Any) -> Any:
        outputs, inputs = self.weight.shape
        groups = self.scale.shape[1]
        if groups == 1:
            result = (x @ self.weight.astype(x.dtype).T) * self.scale.reshape(-1)
            result = result if self.bias is None else result + self.bias
            return result.astype(np.result_type(x.dtype, self.scale.dtype))
        weight = self.weight.astype(x.dtype).reshape(outputs, groups, inputs // groups) * self.scale[:, :, None]
        return linear(x, weight.reshape(outputs, inputs), self.bias)


LARGEST = {8: 127, 4: 7}
KINDS = {8: np.int8, 4: ml_dtypes.int4}


def quantize(module: Module, bits: int = 8, group: int | None = None) -> Module:
    """Makes all linear layers of a module :class:`QuantizedLinear` ones; returns it, or the new layer where it is one itself."""
    if isinstance(module, Linear):
        return QuantizedLinear(module, bits, group)
    for part in list(module.modules()):
        for name, value in list(part.entries()):
            changed = quantized(value, bits, group)
            if changed is not value:
                part.assign(name, changed)
    return module


def quantized(value: Any, bits: int, group: int | None) -> Any:
    if isinstance(value, Linear):
        return QuantizedLinear(value, bits, group)
    if type(value) is dict:
        return {key: quantized(item, bits, group) for key, item in value.items()}
    return type(value)(quantized(item, bits, group) for item in value) if type(value) in (list, tuple) else value
