"""New lazy arrays."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ..device import Buffer
from ..errors import ArgumentTypeError, ArgumentValueError
from ..numpy.creation import CREATORS
from ..numpy.frozen import is_frozen
from ..numpy.tracer import TracedArray, contains_traced, current_trace
from .calls import as_own, recorded_or_run
from .tensor import Tensor, copied, leaf, require_device, tensor_of

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu",
    "zeros", "zeros_like",
]  # fmt: skip


def array_of(value: Any, dtype: Any, device: Any, copy: bool | None) -> TracedArray:
    """The recorded array of what :func:`asarray` takes."""
    require_device(device)
    target = None if dtype is None else np.dtype(dtype)
    if isinstance(value, Tensor):
        return tensor_array(value, target, copy)
    if isinstance(value, (list, tuple)) and holds_tensors(value):
        refuse(copy, "a nested list")
        return recorded_or_run(np.stack, [asarray(item, dtype=dtype) for item in value])._array
    if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and value.dtype.kind not in "OUSMm"):
        return numpy_array(np.asarray(value), target, copy)
    if hasattr(type(value), "__dlpack__"):
        # Its owner may write it: that a consumer must not is all that DLPack tells.
        return leaf(Buffer(value, copy=copy is not False).numpy(), target, copy=False)
    array = np.asarray(value, dtype=target)
    is_memory = not isinstance(value, (list, tuple, int, float, complex)) and array.base is not None
    if not is_memory:
        refuse(copy, f"{type(value).__name__}")
    return numpy_array(array, target, copy)


def tensor_array(value: Tensor, target: np.dtype | None, copy: bool | None) -> TracedArray:
    """The array of a tensor itself, or of a copy or a conversion."""
    if target is None or target == value.dtype:
        return copied(value._array) if copy else value._array
    refuse(copy, f"elements of {value.dtype} as {target}")
    return recorded_or_run(np.astype, value, target)._array


def numpy_array(array: np.ndarray, target: np.dtype | None, copy: bool | None) -> TracedArray:
    """Memory that nobody can write is used where it lies; other memory is copied, unless ``copy`` is False."""
    if array.dtype.kind in "OUSMm" or array.dtype.names:
        raise ArgumentTypeError(f"the elements of a tensor are booleans or numbers, got dtype {array.dtype}  [dtype]")
    changes = target is not None and target != array.dtype
    if changes:
        refuse(copy, f"elements of {array.dtype} as {target}")
    if copy is None:
        copy = not is_frozen(array)
    return leaf(array, target, copy=True if copy or not array.flags.c_contiguous else None)


def refuse(copy: bool | None, what: str) -> None:
    if copy is False:
        raise ArgumentValueError(f"copy=False was asked for, but {what} must be copied  [must_copy]")


def holds_tensors(items: Any) -> bool:
    """Whether a tensor is among the items or theirs; long lists are seen by the types of a level at once."""
    seen: set[int] = set()  # a list may hold itself
    kinds: set[type] = set()
    while items:
        level = set(map(type, items))
        kinds |= level
        lists = {kind for kind in level if issubclass(kind, (list, tuple))}
        inner = [i for i in items if type(i) in lists and id(i) not in seen] if lists else []
        seen.update(map(id, inner))
        items = list(chain.from_iterable(inner))
    return any(issubclass(kind, Tensor) for kind in kinds)


def created(name: str, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    """A new array: recorded, or NumPy's own where its elements are a table."""
    require_device(device)
    if current_trace() is not None:
        return CREATORS[name](*args, **kwargs)
    args = tuple(arg.item() if isinstance(arg, Tensor) else arg for arg in args)
    result = CREATORS[name](*args, **kwargs)
    if isinstance(result, TracedArray):
        return tensor_of(as_own(result))
    return tensor_of(leaf(getattr(np, name)(*args, **kwargs), copy=False))


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of a tensor, an array, a number, nested lists of these, or an object with ``__dlpack__`` or the buffer protocol.

    The memory of an array that can be written is copied; ``copy=False`` uses it where it lies, and nobody may write it as long
    as the tensor, or what is recorded of it, is used. Raises an ``ArgumentValueError`` where ``copy=False`` cannot be.

    >>> import weftwork as wf
    >>> wf.asarray([[1, 2], [3, 4]], dtype=wf.float32).shape
    (2, 2)
    """
    if isinstance(obj, TracedArray) or (current_trace() is not None and contains_traced(obj)):
        return CREATORS["asarray"](obj, dtype)
    if isinstance(obj, Tensor) and not copy and (dtype is None or np.dtype(dtype) == obj.dtype):
        require_device(device)
        return obj
    return Tensor(obj, dtype, device=device, copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of an object with ``__dlpack__``, which nobody may write meanwhile; a copy with ``copy=True``."""
    require_device(device)
    if isinstance(x, Tensor):
        return tensor_of(copied(x.eval()._array)) if copy else x
    return tensor_of(leaf(Buffer(x, copy=copy).numpy(), copy=None))


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros, of float64 unless told."""
    return created("zeros", shape, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones, of float64 unless told."""
    return created("ones", shape, dtype=dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose elements do not matter; they are zeros here."""
    return created("zeros", shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value everywhere; its dtype unless told."""
    return created("full", shape, fill_value, dtype=dtype, device=device)


def zeros_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros of the shape and, unless told, the dtype of ``x``."""
    require_device(device)
    return recorded_or_run(np.zeros_like, x, dtype=dtype)


def ones_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones of the shape and, unless told, the dtype of ``x``."""
    require_device(device)
    return recorded_or_run(np.ones_like, x, dtype=dtype)


def empty_like(x: Tensor, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of the shape and dtype of ``x`` whose elements do not matter; they are zeros here."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Tensor, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value everywhere, of the shape and, unless told, the dtype of ``x``."""
    require_device(device)
    return recorded_or_run(np.full_like, x, fill_value, dtype=dtype)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Evenly spaced numbers from ``start`` (0 if there is one argument alone) to below ``stop``."""
    return created(
        "arange",
        *((start,) if stop is None and step == 1 else (0, start, step) if stop is None else (start, stop, step)),
        dtype=dtype,
        device=device,
    )


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, which is included unless ``endpoint`` is False."""
    require_device(device)
    if isinstance(start, Tensor) or isinstance(stop, Tensor):
        return recorded_or_run(np.linspace, start, stop, num, endpoint=endpoint, dtype=dtype)
    if current_trace() is not None:
        return np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)  # type: ignore[return-value]
    return tensor_of(leaf(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), copy=False))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones on the ``k``-th diagonal, zeros elsewhere."""
    return created("eye", n_rows, n_cols, k, dtype=float if dtype is None else dtype, device=device)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, of vectors along its axes; a tuple of tensors."""
    return tuple(recorded_or_run(np.meshgrid, *arrays, indexing=indexing))


def require_matrices(x: Any, name: str) -> None:
    if x.ndim < 2:
        raise ArgumentValueError(f"{name}: matrices were wanted, got shape {x.shape}  [matrix_rank]")


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Zeros above the ``k``-th diagonal of the last two axes."""
    require_matrices(x, "tril")
    return recorded_or_run(np.tril, x, k=k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Zeros below the ``k``-th diagonal of the last two axes."""
    require_matrices(x, "triu")
    return recorded_or_run(np.triu, x, k=k)
