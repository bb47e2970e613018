"""What torch takes graphs apart into before they are recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, decomposition_table

from .apart import taken_apart
from .grids import of_grids
from .linear import of_linear_algebra
from .table import overloads

__all__ = ["decompositions"]

aten = torch.ops.aten
#: What is recorded whole, though torch would take it apart.
WHOLE = (
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default,
    aten.index_add.default,  # of which torch makes index_put, for which negative places count from the end
    aten.index_copy.default,
    aten.index_fill.int_Scalar,  # of which it makes index_copy, for which they do not
    aten.index_fill.int_Tensor,
    aten.select_scatter.default,  # of which it makes a choice for each element of the whole
    aten.silu.default,
)


#: What torch knows to take apart, though core ATen has it whole.
MORE = (
    "_batch_norm_with_update_functional", "batch_norm_backward", "dist", "grid_sampler_2d", "gru.input", "lstm.input",
    "narrow_copy", "rnn_relu.input", "rnn_tanh.input",
)  # fmt: skip


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Core ATen's, without those of random numbers, which torch's generator draws, and with lists of tensors one by one."""
    table = dict(core_aten_decompositions())
    drawing = [op for op in table if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())]
    for whole in [*WHOLE, *drawing]:
        table.pop(whole, None)
    more = {op: decomposition_table[op] for op in overloads(MORE) if op in decomposition_table}
    return table | more | of_linear_algebra() | taken_apart() | of_grids() | each_of_lists()


#: What those on lists do to a tensor, where it is not the operation of that name with the same arguments.
SINGLE: dict[str, Callable[..., Any]] = {
    "addcdiv": lambda x, a, b, value=1: aten.addcdiv(x, a, b, value=value),
    "addcmul": lambda x, a, b, value=1: aten.addcmul(x, a, b, value=value),
    "maximum": lambda x, y: aten.maximum(x, y) if isinstance(y, torch.Tensor) else aten.clamp_min(x, y),
    "minimum": lambda x, y: aten.minimum(x, y) if isinstance(y, torch.Tensor) else aten.clamp_max(x, y),
    "norm": lambda x, ord=2, dtype=None: aten.linalg_vector_norm(x, ord, dtype=dtype),
}


def each_of_lists() -> dict[Any, Callable[..., Any]]:
    """Operations on lists of tensors, which optimizers use, as the same on each of them."""
    table: dict[Any, Callable[..., Any]] = {}
    for name in {name.strip("_").removeprefix("foreach_") for name in dir(aten) if name.startswith("_foreach_")}:
        packet, single = getattr(aten, f"_foreach_{name}", None), SINGLE.get(name) or getattr(aten, name, None)
        if packet is None or single is None:
            continue
        for overload in packet.overloads():
            table[getattr(packet, overload)] = functools.partial(on_each, single)
    return table


def on_each(single: Any, *args: Any, **kwargs: Any) -> Any:
    """The operation on each tensor of the first list, with the elements of other lists of that length."""
    count = next(len(a) for a in args if isinstance(a, (list, tuple)))
    pick = lambda value, i: value[i] if isinstance(value, (list, tuple)) and len(value) == count else value
    return [single(*(pick(a, i) for a in args), **{k: pick(v, i) for k, v in kwargs.items()}) for i in range(count)]
