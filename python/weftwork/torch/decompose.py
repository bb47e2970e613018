"""What torch takes graphs apart into before they are recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, decomposition_table

from .apart import taken_apart
from .linear import of_linear_algebra
from .table import overloads

__all__ = ["decompositions"]

aten = torch.ops.aten
#: What is recorded whole, though torch would take it apart.
WHOLE = (
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default,
    aten.silu.default,
)


#: What torch knows to take apart, though core ATen has it whole.
MORE = (
    "_batch_norm_with_update_functional", "batch_norm_backward", "dist", "grid_sampler_2d", "ldexp.Tensor", "narrow_copy",
)  # fmt: skip


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Core ATen's, without those of random numbers, which torch's generator draws, and with lists of tensors one by one."""
    table = dict(core_aten_decompositions())
    drawing = [op for op in table if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())]
    for whole in [*WHOLE, *drawing]:
        table.pop(whole, None)
    more = {op: decomposition_table[op] for op in overloads(MORE) if op in decomposition_table}
    return table | more | of_linear_algebra() | taken_apart() | each_of_lists()


def each_of_lists() -> dict[Any, Callable[..., Any]]:
    """Operations on lists of tensors, which optimizers use, as the same on each of them."""
    table: dict[Any, Callable[..., Any]] = {}
    for name in dir(aten):
        single = getattr(aten, name.removeprefix("_foreach_"), None)
        if not name.startswith("_foreach_") or name.endswith("_") or single is None:
            continue
        packet = getattr(aten, name)
        for overload in packet.overloads():
            table[getattr(packet, overload)] = functools.partial(on_each, single)
    return table


def on_each(single: Any, *args: Any, **kwargs: Any) -> Any:
    """The operation on each tensor of the first list, with the elements of other lists of that length."""
    count = next(len(a) for a in args if isinstance(a, (list, tuple)))
    pick = lambda value, i: value[i] if isinstance(value, (list, tuple)) and len(value) == count else value
    return [single(*(pick(a, i) for a in args), **{k: pick(v, i) for k, v in kwargs.items()}) for i in range(count)]
