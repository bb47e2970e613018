"""Custom operations of torch.library as kernels of programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef

from ..custom import CustomOp
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .extents import is_symbolic
from .table import TABLE, Rule, Want

__all__ = ["register_kernel"]


def overload_of(op: Any) -> torch._ops.OpOverload:
    """The operation that a name, a packet or what ``torch.library.custom_op`` gave stands for."""
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, str):
        space, _, name = op.partition("::")
        try:
            op = getattr(getattr(torch.ops, space), name.partition(".")[0])
        except (AttributeError, RuntimeError) as error:
            raise ArgumentValueError(f"no operation '{op}' is known to torch  [torch_kernel]") from error
        overload = name.partition(".")[2]
        return getattr(op, overload or "default")
    if isinstance(op, torch._ops.OpOverloadPacket):
        return op.default
    if isinstance(op, torch._ops.OpOverload):
        return op
    raise ArgumentTypeError(f"an operation of torch or its name was wanted, got {type(op).__name__}  [torch_kernel]")


def is_array(kind: Any) -> bool:
    if isinstance(kind, torch.OptionalType):
        kind = kind.getElementType()
    return isinstance(kind, torch.TensorType)


def register_kernel(op: Any, kernel: Callable[..., Any]) -> None:
    """Maps an operation of ``torch.library`` to ``kernel`` in all graphs that are compiled from here on.

    ``op`` is what ``torch.library.custom_op`` gave, an overload of ``torch.ops``, or a name such as "mine::scale". ``kernel`` is an
    operation of :func:`weftwork.custom_op` or any function of arrays: it is called with an array for each tensor, and all other
    arguments by name. Its results have the dtypes and shapes that the operation's fake implementation says; where they have not, or
    an argument is one that is known at the call only, torch runs the operation. Its gradient is that of ``register_autograd``, whose
    operations may have kernels as well.

    Raises an ArgumentValueError where torch knows no such operation, or it writes its arguments.

    >>> import numpy as np, torch, weftwork.torch
    >>> @torch.library.custom_op("doc::scaled", mutates_args=())
    ... def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    ...     return x * factor
    >>> _ = scaled.register_fake(lambda x, factor: torch.empty_like(x))
    >>> weftwork.torch.register_kernel(scaled, lambda x, factor: x * np.float32(factor))
    >>> report = weftwork.torch.explain(lambda x: scaled(x, 2.0) + 1, torch.ones(3))
    >>> report.native["doc.scaled.default"], len(report.fallback)
    (1, 0)
    """
    overload = overload_of(op)
    if not callable(kernel):
        raise ArgumentTypeError(f"a function of arrays was wanted, got {type(kernel).__name__}  [torch_kernel]")
    schema = overload._schema
    if schema.is_mutable:
        raise ArgumentValueError(f"'{overload}' writes its arguments: a kernel gives new arrays  [torch_kernel]")
    names = [argument.name for argument in schema.arguments]
    arrays = [argument.name for argument in schema.arguments if is_array(argument.type)]

    def by_name(args: Any, kwargs: Any) -> dict[str, Any]:
        defaults = {
            argument.name: argument.default_value for argument in schema.arguments if argument.has_default_value()
        }
        return {**defaults, **dict(zip(names, args)), **kwargs}

    def accepts(*args: Any, **kwargs: Any) -> bool:
        given = by_name(args, kwargs)
        missing = isinstance(kernel, CustomOp) and any(given[name] is None for name in arrays)
        return not missing and not any(
            is_symbolic(given[name]) or is_list_of_tensors(given[name]) for name in names if name not in arrays
        )

    def record(want: Any, *args: Any, **kwargs: Any) -> Any:
        given = by_name(args, kwargs)
        operands = [given.pop(name) for name in arrays]
        result = kernel(*operands, **given)
        if not isinstance(want, Want) and not isinstance(result, (tuple, list)):
            raise UnsupportedError(
                f"{len(schema.returns)} results were wanted, the kernel gives {type(result).__name__}  [torch_kernel]"
            )
        return result if isinstance(want, Want) else tuple(result)

    TABLE[overload] = Rule(record, accepts)


def is_list_of_tensors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value)
