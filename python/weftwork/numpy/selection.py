"""Choosing, inserting and writing elements by index or condition, and questions about elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, DataDependentError, OutOfBoundsError, UnsupportedError
from . import own
from .advanced import as_indices, is_empty
from .arguments import extents_of, order_letter
from .checks import holds_complex
from .dispatch import implements, result_type, written
from .functions import along, delivered, one_axis, product, solid
from .stored import require_stored
from .tracer import TracedArray, as_tensor, python_truth, raise_here, untraced, wrap
from .validity import demanded, require

#: A fixed selection of at most this many runs of neighbours is slices put together; a longer one is an index array.
RUNS = 16


def known_value(a: Any, what: str, instead: str) -> np.ndarray:
    """An argument whose values decide about shapes: not traced, or a constant."""
    if isinstance(a, TracedArray):
        if 0 not in a.shape:
            return own.asarray(a._need_value(what, instead))
        with untraced():
            return np.zeros(a.shape, a.dtype)
    if isinstance(a, (list, tuple)):
        return own.array([known_value(v, what, instead) for v in a]) if a else own.array(a)
    return own.asarray(a)


def take_known(x: Any, places: np.ndarray, axis: int) -> Any:
    """x.take(places, axis) for places that are known."""
    cuts = (np.flatnonzero(places[1:] != places[:-1] + 1) + 1).tolist()
    if len(cuts) >= RUNS:
        return np.take(x, places, axis)
    before = (slice(None),) * axis
    bounds = list(zip([0, *cuts], [*cuts, len(places)], strict=True)) if len(places) else []
    parts = [x[(*before, slice(int(places[a]), int(places[b - 1]) + 1))] for a, b in bounds]
    if not parts:
        return np.copy(x[(*before, slice(0, 0))])
    return np.concatenate(parts, axis)


def fixed_extent(x: Any, axis: int, name: str) -> int:
    if not isinstance(x.shape[axis], int):
        raise_here(
            UnsupportedError, f"{name} along a symbolic extent ({x.shape[axis]}) cannot be compiled", "symbolic_extent"
        )
    return x.shape[axis]


def some_extent(x: Any, axis: int, name: str) -> Any:
    """An extent that may be symbolic where some elements are sure to be there."""
    extent = x.shape[axis]
    return (
        fixed_extent(x, axis, f"{name} of what may be empty") if isinstance(extent, int) or not extent.min else extent
    )


def is_run_time_mask(condition: Any) -> bool:
    return isinstance(condition, TracedArray) and condition.tensor.constant() is None and 0 not in condition.shape


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """What a condition selects along an axis, like x[mask]."""
    if out is None and is_run_time_mask(condition) and condition.ndim == 1:
        x = np.ravel(solid(a)) if axis is None else solid(a)
        axis = 0 if axis is None else one_axis(axis, x.ndim, "compress")
        if _core.dims_equal(x.shape[axis], condition.shape[0]):
            return x[(*(slice(None),) * axis, np.not_equal(condition, 0))]
    keep = known_value(
        condition,
        "compress",
        "it gives as many elements as the condition has true values; write np.where(condition, a, 0)",
    )
    if keep.ndim != 1:
        raise_here(ArgumentValueError, f"condition must be a 1-d array, got {keep.ndim} dimensions", "compress_rank")
    x = np.ravel(solid(a)) if axis is None else solid(a)
    axis = 0 if axis is None else one_axis(axis, x.ndim, "compress")
    places = np.flatnonzero(keep)
    if len(places) and places[-1] >= fixed_extent(x, axis, "compress"):
        raise_here(
            OutOfBoundsError,
            f"index {places[-1]} is out of bounds for axis {axis} with size {x.shape[axis]}",
            "index_bounds",
        )
    result = take_known(x, places, axis)
    return delivered(np.take, result, out, "back")


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """What a condition selects of all elements, like x[mask]."""
    if is_run_time_mask(condition):
        return compress(np.ravel(condition), np.ravel(solid(arr)))
    keep = known_value(
        condition,
        "extract",
        "it gives as many elements as the condition has true values; write np.where(condition, arr, 0)",
    )
    return compress(keep.ravel(), np.ravel(solid(arr)))


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """What is deleted has to be fixed."""
    x = np.ravel(solid(arr)) if axis is None else solid(arr)
    axis = x.ndim - 1 if axis is None else one_axis(axis, x.ndim, "delete")
    extent = fixed_extent(x, axis, "delete")
    chosen: Any = (
        obj
        if isinstance(obj, (slice, int, np.integer))
        else known_value(as_indices(obj), "delete", "which elements stay has to be fixed")
    )
    try:
        with untraced():
            places = np.delete(own.arange(extent), chosen)
    except (IndexError, ValueError) as error:
        kind = OutOfBoundsError if isinstance(error, IndexError) else ArgumentValueError
        return raise_here(kind, f"delete: {error}", "delete_index")
    return take_known(x, places, axis)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Where to insert has to be fixed; the values may be traced."""
    x = np.ravel(solid(arr)) if axis is None else solid(arr)
    axis = x.ndim - 1 if axis is None else one_axis(axis, x.ndim, "insert")
    extent = fixed_extent(x, axis, "insert")
    if isinstance(obj, slice):
        chosen: Any = own.array(range(*obj.indices(extent)), np.intp)
    else:
        chosen = known_value(as_indices(obj), "insert", "where elements are inserted has to be fixed")
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
    if x.dtype.kind in "iuf" and holds_complex(values):
        raise_here(ArgumentTypeError, f"insert: {x.dtype} holds no complex number", "insert_complex")
    new: Any = wrap(as_tensor(values, x.dtype))
    if chosen.size == 1:
        new = np.reshape(new, (*(1,) * (x.ndim - new.ndim), *new.shape))
        new = np.moveaxis(new, 0, axis) if chosen.ndim == 0 else new
        count = new.shape[axis]
    else:
        count = chosen.size
    new = np.broadcast_to(new, tuple(count if i == axis else e for i, e in enumerate(x.shape)))
    where = chosen.item() if chosen.size == 1 else chosen
    try:
        with untraced():
            order = np.insert(own.arange(extent), where, own.arange(extent, extent + count))
    except (IndexError, ValueError) as error:
        kind = OutOfBoundsError if isinstance(error, IndexError) else ArgumentValueError
        return raise_here(kind, f"insert: {error}", "insert_index")
    return take_known(np.concatenate([x, new], axis), order, axis)


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """A run ends in an error where an index is out of range."""
    index = solid(a)
    options = list(choices)
    if index.dtype.kind not in "iub" or not options:
        raise_here(
            ArgumentTypeError,
            f"choose needs integers and at least one choice, got {index.dtype} and {len(options)} choices",
            "choose_index",
        )
    if mode not in ("raise", "wrap", "clip"):
        raise_here(ArgumentValueError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    known = index.tensor.constant()
    if mode == "raise" and known is not None and known.size and not 0 <= known.min() <= known.max() < len(options):
        raise_here(
            ArgumentValueError,
            f"invalid entry in choice array: indices from {known.min()} to {known.max()}, {len(options)} choices",
            "choose_index",
        )
    index = index.astype(np.int64)
    refused = ("choose_index", "invalid entry in choice array")
    inside = np.logical_and(index >= 0, index < len(options)) if mode == "raise" and known is None else None
    if inside is not None and len(options) > 1:
        index = wrap(demanded(index.tensor, inside, *refused))
    if mode == "wrap":
        index = index % len(options)
    target = result_type(*options)
    options = [solid(c).astype(target) for c in options]
    result: Any = np.broadcast_arrays(options[-1], index, *options)[0]
    for i in range(len(options) - 2, -1, -1):
        result = np.where(index <= i, options[i], result)
    if inside is not None and len(options) == 1:
        result = wrap(demanded(result.tensor, inside, *refused))  # which no index decides
    result = np.copy(result)
    return delivered(np.take, result, out, "back")


# -- writing -------------------------------------------------------------------------------------------------------


@implements(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    x = written(a, "put")
    size = x.size
    places = solid(as_indices(ind))
    if not np.can_cast(places.dtype, np.int64, "safe"):
        raise_here(ArgumentTypeError, f"put: indices of {places.dtype} cannot be cast to int64 safely", "cast")
    index = np.ravel(places).astype(np.int64)
    require_stored(v, x.dtype, is_item=False)
    values = np.ravel(solid(v).astype(x.dtype) if hasattr(v, "dtype") else wrap(as_tensor(v, x.dtype)))
    if mode not in ("raise", "wrap", "clip"):
        raise_here(ArgumentValueError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    if mode == "raise" and places.tensor.constant() is not None:
        _core.places_of(places.tensor, size, 0)
    if mode != "raise":
        index = index % size if mode == "wrap" else np.clip(index, 0, size - 1)
    count, given = index.shape[0], values.shape[0]
    if given == 0 or count == 0:
        return
    if not _core.dims_equal(count, given):
        values = np.tile(values, -(-count // given))[:count]
    x.view_of(_core.reshape(x.tensor, (-1,)))[index] = values


@implements(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    x = written(arr, "put_along_axis")
    places = solid(indices)
    if axis is None:
        x, axis = x.view_of(_core.reshape(x.tensor, (-1,))), 0
    axis = one_axis(axis, x.ndim, "put_along_axis")
    if places.ndim != x.ndim:
        raise_here(
            ArgumentValueError,
            f"indices must have as many dimensions as the array, got {places.ndim} and {x.ndim}",
            "take_along_rank",
        )
    x[along(x, places, axis)] = values


@implements(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    x, condition = written(a, "putmask"), solid(mask).astype(bool)
    if not _core.dims_equal(condition.size, x.size):
        raise_here(
            ArgumentValueError,
            f"putmask: mask and data must be the same size, got {condition.size} and {x.size}",
            "putmask_size",
        )
    new = np.ravel(fitting(values, x, "putmask"))
    if not isinstance(new.shape[0], int) or new.shape[0] == 0:
        return
    if not _core.dims_equal(new.shape[0], 1) and not _core.dims_equal(new.shape[0], x.size):
        new = np.tile(new, -(-x.size // new.shape[0]))[: x.size]
    new = np.broadcast_to(new[0], x.shape) if _core.dims_equal(new.shape[0], 1) else np.reshape(new, x.shape)
    x[...] = np.where(np.reshape(condition, x.shape), new, x)


def fitting(values: Any, x: TracedArray, name: str) -> Any:
    """Values of the array's dtype: arrays where they cast safely, numbers and lists always."""
    if not hasattr(values, "dtype"):
        if x.dtype.kind != "c" and as_tensor(values).dtype.kind == "c":
            raise_here(ArgumentTypeError, f"{name}: cannot put complex values into a {x.dtype} array", "cast")
        require_stored(values, x.dtype, is_item=False)
        return wrap(as_tensor(values, x.dtype))
    new = solid(values)
    if not np.can_cast(new.dtype, x.dtype, "safe"):
        raise_here(
            ArgumentTypeError,
            f"{name}: cannot cast array data from {new.dtype!r} to {x.dtype!r} according to the rule 'safe'",
            "cast",
        )
    return new.astype(x.dtype)


@implements(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """One value for all true elements."""
    x = written(arr, "place")
    new = np.ravel(fitting(vals, x, "place"))
    if not _core.dims_equal(new.shape[0], 1):
        raise_here(
            DataDependentError,
            "place with several values gives each true element the next one, which depends on how many came before; write arr[...] = np.where(mask, values, arr)",
            "mask_assignment",
        )
    putmask(x, mask, new)


# -- questions -----------------------------------------------------------------------------------------------------


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    if kind not in (None, "sort", "table"):
        raise_here(ArgumentValueError, f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.", "isin_kind")
    x, tests = solid(element), np.ravel(solid(test_elements))
    if is_worth_sorting(x, tests):
        common = np.result_type(x.dtype, tests.dtype)
        values, ordered = x.astype(common), np.sort(tests.astype(common))
        place = np.minimum(np.searchsorted(ordered, values), ordered.shape[0] - 1)
        found = np.equal(ordered[place], values)
    else:
        found = np.any(np.equal(x[..., None], tests), axis=-1)
    return ~found if invert else found


def is_worth_sorting(x: Any, tests: Any) -> bool:
    """Whether a search in the sorted tests takes less than to compare with each: from about 256 tests on."""
    kinds = x.dtype.kind + tests.dtype.kind
    return isinstance(tests.shape[0], int) and tests.shape[0] > 256 and kinds in ("ii", "uu", "ff", "fi", "if")


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    a = solid(x)
    return np.not_equal(a.imag, 0) if a.dtype.kind == "c" else own.zeros(a.shape, bool)


@implements(np.isreal)
def isreal(x: Any) -> Any:
    result = np.equal(np.imag(solid(x)), 0)
    return python_truth(result) if getattr(x, "weak", None) else result


def signed_infinity(x: Any, out: Any, negative: bool) -> Any:
    a = solid(x)
    if a.dtype.kind == "c":
        raise_here(
            ArgumentTypeError,
            f"this operation is not supported for {a.dtype} values because it would be ambiguous",
            "complex_order",
        )
    return np.logical_and(
        np.isinf(a),
        np.signbit(a) if negative and a.dtype.kind == "f" else np.less(a, 0) if negative else np.greater(a, 0),
        out=out,
    )


implements(np.isneginf)(lambda x, out=None: signed_infinity(x, out, True))
implements(np.isposinf)(lambda x, out=None: signed_infinity(x, out, False))


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    a = solid(z)
    result = np.arctan2(a.imag, a.real) if a.dtype.kind == "c" else np.arctan2(0, a)
    return result * result.dtype.type(180 / np.pi) if deg else result


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Real arrays, which come back as they are."""
    x = solid(a)
    if x.dtype.kind == "c":
        raise_here(
            DataDependentError,
            "real_if_close gives real or complex numbers as their values have it, known only when the program runs; write x.real",
            "data_dependent",
        )
    return wrap(x.tensor) if x.scalar else x


@implements(np.common_type)
def common_type(*arrays: Any) -> Any:
    with untraced():
        return np.common_type(*[own.empty(0, a.dtype) for a in arrays])


implements(np.can_cast)(lambda from_, to, casting="safe": np.can_cast(dtype_of(from_), dtype_of(to), casting))


def dtype_of(value: Any) -> Any:
    return value.dtype if isinstance(value, TracedArray) else value


# -- indices -------------------------------------------------------------------------------------------------------


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    rest = solid(indices)
    if rest.dtype.kind not in "iu":
        raise_here(ArgumentTypeError, f"only int indices permitted, got {rest.dtype}", "index_dtype")
    rest = rest.astype(np.int64)
    extents, order = extents_of(shape), order_letter(order, allowed="CF")
    if all(isinstance(extent, int) for extent in extents):
        require(np.logical_and(rest >= 0, rest < product(extents)))
    places: list[Any] = []
    for extent in reversed(extents) if order == "C" else extents:
        places.append(rest % extent)
        rest = rest // extent
    return tuple(reversed(places)) if order == "C" else tuple(places)


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    parts = [solid(p) for p in multi_index]
    if any(part.dtype.kind not in "biu" for part in parts):
        raise_here(ArgumentTypeError, "only int indices permitted", "index_dtype")
    parts = [part.astype(np.int64) for part in parts]
    extents, order = extents_of(dims), order_letter(order, allowed="CF")
    if any(how not in ("raise", "wrap", "clip") for how in (mode if isinstance(mode, (tuple, list)) else (mode,))):
        raise_here(ArgumentValueError, f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}", "take_mode")
    modes = tuple(mode) if isinstance(mode, (tuple, list)) else (mode,) * len(parts)
    if len(parts) != len(extents) or len(modes) != len(extents):
        raise_here(
            ArgumentValueError,
            f"parameter multi_index must be a sequence of length {len(extents)}, got {len(parts)}",
            "multi_index",
        )
    if is_empty(tuple(extents)) and not all(is_empty(part.shape) for part in parts):
        raise_here(ArgumentValueError, "cannot unravel if shape has zero entries (is empty).", "multi_index")
    result: Any = 0
    steps = [product(extents[i + 1 :]) if order == "C" else product(extents[:i]) for i in range(len(extents))]
    for part, extent, step, how in zip(parts, extents, steps, modes, strict=True):
        if how == "raise" and isinstance(extent, int):
            require(np.logical_and(part >= 0, part < extent))
        place = part % extent if how == "wrap" else np.clip(part, 0, extent - 1) if how == "clip" else part
        result = result + place * step
    return result


def indices_of(function: Any) -> Any:
    """The form of np.tril_indices_from and its like: they ask an array only for its shape."""

    def form(arr: Any, *args: Any, **kwargs: Any) -> Any:
        for axis in range(arr.ndim):
            fixed_extent(arr, axis, function.__name__)
        with untraced():
            known = function(np.broadcast_to(0, arr.shape), *args, **kwargs)
            return tuple(wrap(_core.constant(own.ascontiguousarray(index))) for index in known)

    return form


for _function in (np.tril_indices_from, np.triu_indices_from, np.diag_indices_from):
    implements(_function)(indices_of(_function))
