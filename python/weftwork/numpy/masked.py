"""x[mask] for a mask that is known only when the program runs: element-wise work, reductions, and writing back.

How many elements are selected is not known, so the whole array is computed and what is not selected is left out where it
would be seen: of reductions, and of ``y[mask] = …``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, DataDependentError, OutOfBoundsError
from .advanced import is_empty
from .dispatch import broadcast_to
from .functions import product
from .indexing import assigned, basic_view, element, expand_ellipsis, has_ellipsis, is_basic, is_integer, is_place
from .layout import scalars
from .quantiles import DISCRETE
from .reductions import normalized_axes
from .tracer import BoundMethod, Selection, Tensor, TracedArray, as_tensor, frozen, note_created, raise_here, wrap
from .ufuncs import op
from .validity import asks, demanded, require

#: Functions whose result has an element for each element of their arguments.
ELEMENTWISE: set[Callable[..., Any]] = {
    np.where, np.clip, np.round, np.around, np.real, np.imag, np.angle, np.sinc, np.i0, np.nan_to_num, np.isclose, np.copy, np.astype,
    np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.fix, np.isposinf, np.isneginf, np.iscomplex, np.isreal,
}  # fmt: skip
#: Those whose result shares its memory with their argument.
VIEWS = (np.real, np.imag)
#: Functions that are element-wise in one argument: its position.
ELEMENTWISE_IN: dict[Callable[..., Any], int] = {
    np.interp: 0,
    np.searchsorted: 1,
    np.take: 1,
    np.digitize: 0,
    np.isin: 0,
    np.polyval: 1,
}
#: Reductions that take where=.
REDUCTIONS: set[Callable[..., Any]] = {
    np.sum, np.prod, np.mean, np.std, np.var, np.any, np.all, np.max, np.min, np.amax, np.amin,
    np.nansum, np.nanprod, np.nanmean, np.nanstd, np.nanvar, np.nanmax, np.nanmin,
}  # fmt: skip
QUANTILES: dict[Callable[..., Any], Callable[..., Any]] = {
    np.median: np.nanmedian, np.quantile: np.nanquantile, np.percentile: np.nanpercentile,
    np.nanmedian: np.nanmedian, np.nanquantile: np.nanquantile, np.nanpercentile: np.nanpercentile,
}  # fmt: skip
#: Reductions that raise where there is no element, and the ufunc that each repeats.
EXTREMES = {
    np.max: np.maximum, np.amax: np.maximum, np.nanmax: np.fmax,
    np.min: np.minimum, np.amin: np.minimum, np.nanmin: np.fmin,
}  # fmt: skip
REDUCING_UFUNCS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}

#: Other functions of a selection as their first argument, and its methods: selected.py fills both.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}

UNKNOWN_COUNT = "x[mask] gives as many elements as the mask has true values, known only when the program runs"
ADVICE = "; write np.where(mask, x, 0), use where= of a reduction, or assign x[mask] = value"


class SelectedMethod(BoundMethod):
    """A method of selected elements."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return taken(self.form, f"x[mask].{self.name}", self.owner, args, kwargs)


def taken(form: Any, name: str, selected: Any, args: Any, kwargs: Any) -> Any:
    """What a form gives for arguments that it knows; others are refused."""
    try:
        inspect.signature(form).bind(selected, *args, **kwargs)
    except TypeError:
        selected.refuse(f"{name} of it with these arguments")
    return form(selected, *args, **kwargs)


def named(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments behind the first one, by NumPy's names of them."""
    try:
        bound = inspect.signature(function).bind(None, *args, **kwargs).arguments
    except ValueError:  # a function of C without a signature
        return kwargs
    return {name: value for name, value in list(bound.items())[1:] if value is not np._NoValue}


class Selected(Selection, np.lib.mixins.NDArrayOperatorsMixin):
    """The elements of ``value`` where ``mask`` holds: axes before it, one axis for its own, and axes behind it."""

    __slots__ = ("__weakref__", "is_shared", "lead", "mask", "place", "value")
    __array_priority__ = 2000.0

    def __init__(self, value: Tensor, mask: Tensor, lead: int) -> None:
        self.value, self.mask, self.lead = value, mask, lead
        self.is_shared = False
        self.place = _core.caller_location().trace_text()
        note_created(self)

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim - self.mask.ndim + 1

    @property
    def behind(self) -> int:
        """How many axes come behind the selected one."""
        return self.ndim - self.lead - 1

    @property
    def count(self) -> TracedArray:
        """How many elements the mask selects."""
        return TracedArray(op("convert", as_tensor(np.sum(wrap(self.mask))), type=np.dtype(np.int64)), int)

    @property
    def shape(self) -> tuple[Any, ...]:
        return (*self.value.shape[: self.lead], self.count, *self.value.shape[self.lead + self.mask.ndim :])

    @property
    def size(self) -> Any:
        return product(self.shape)

    def wide_mask(self) -> TracedArray:
        """The mask with the axes of the value."""
        dims = (*(1,) * self.lead, *self.mask.shape, *(1,) * self.behind)
        return wrap(broadcast_to(op("reshape", self.mask, dims=dims), self.value.shape))

    def filled(self, other: Any) -> Any:
        """The value with a number in the place of what is not selected."""
        return np.where(self.wide_mask(), wrap(self.value), frozen(other, self.dtype))

    def inside(self) -> Any:
        """The value with zeros in the place of integers that are not selected: those may be no indices."""
        return self.filled(0) if self.dtype.kind in "iu" else wrap(self.value)

    def sharing(self, value: Any, lead: int) -> Selected:
        """What shares its memory with this one: neither is written to from now on."""
        result = Selected(as_tensor(value), self.mask, lead)
        self.is_shared = result.is_shared = True
        return result

    def has_mask_of(self, other: Selected) -> bool:
        return self.lead == other.lead and _core.same_value(self.mask, other.mask)

    def __repr__(self) -> str:
        return f"<x[mask], {self.dtype}, {self.ndim} axes>"

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return SelectedMethod(self, name, METHODS[name])
        if name in ("real", "imag"):
            return getattr(np, name)(self)
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
        return self.refuse(f"x[mask].{name}")

    # -- element-wise ------------------------------------------------------------------------------------------------

    def aligned(self, operand: Any) -> Any:
        """An operand as it combines with the whole value."""
        if isinstance(operand, Selected):
            if not self.has_mask_of(operand) or operand.behind != self.behind:
                self.refuse("combining elements that different masks select")
            return wrap(operand.value)
        if not isinstance(operand, (TracedArray, np.ndarray, list)):
            return operand
        array = wrap(as_tensor(operand))
        place = array.ndim - self.behind - 1
        if place < 0:
            return array
        if not _core.dims_equal(array.shape[place], 1):
            self.refuse(f"combining it with an array of shape {array.shape}")
        return np.reshape(array, (*array.shape[:place], *(1,) * self.mask.ndim, *array.shape[place + 1 :]))

    def fitted(self, value: Any, array: TracedArray) -> Tensor:
        """What is written to these elements of an array, for the whole value."""
        if isinstance(value, Selected):
            if not self.has_mask_of(value):
                value.refuse("assigning it through another mask")
            return broadcast_to(as_tensor(self.aligned(value), array.dtype), self.value.shape)
        new = wrap(assigned(value, array))
        if new.ndim > self.behind and not _core.dims_equal(new.shape[new.ndim - self.behind - 1], 1):
            raise_here(
                DataDependentError,
                "the values assigned through a mask must not depend on how many elements it has: write x[...] = np.where(mask, values, x)",
                "mask_assignment",
            )
        return broadcast_to(as_tensor(self.aligned(new), array.dtype), self.value.shape)

    def like(self, value: Any) -> Any:
        """The selected elements of a result of the whole."""
        if isinstance(value, tuple):
            return tuple(map(self.like, value))
        tensor = as_tensor(value)
        behind = self.value.shape[self.lead + self.mask.ndim :]
        shape = _core.broadcast_shapes(
            (*self.value.shape[: self.lead], *self.mask.shape, *(1,) * len(behind)), tensor.shape
        )
        return Selected(broadcast_to(tensor, shape), self.mask, self.lead)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        lead = next(i for i in (*inputs, self) if isinstance(i, Selected))
        if method == "at" and isinstance(inputs[0], TracedArray):
            return inputs[0].__array_ufunc__(ufunc, method, *inputs)
        if method == "reduce" and ufunc in REDUCING_UFUNCS and out is None:
            return taken(REDUCING_UFUNCS[ufunc], f"numpy.{ufunc.__name__}.reduce", inputs[0], (), {"axis": 0, **kwargs})
        if method != "__call__":
            return lead.refuse(f"numpy.{ufunc.__name__}.{method} of it")
        if ufunc.signature is not None:
            if out is not None or kwargs:
                lead.refuse(f"numpy.{ufunc.__name__} of it with these arguments")
            return lead.product(ufunc, inputs)
        if isinstance(kwargs.get("where", True), (Selected, TracedArray, np.ndarray)):
            lead.refuse("where= beside it")
        result = lead.like(ufunc(*map(lead.aligned, inputs), **kwargs))
        if out is None:
            return result
        target = out[0]
        if len(out) != 1 or not isinstance(target, Selected) or not target.has_mask_of(result) or target.is_shared:
            return lead.refuse("out= for it")
        casting = kwargs.get("casting", "same_kind")
        if not np.can_cast(result.dtype, target.dtype, casting):
            raise_here(
                ArgumentTypeError,
                f"cannot cast {ufunc.__name__} output from {result.dtype} to {target.dtype} with casting rule '{casting}'",
                "out_cast",
            )
        target.value = broadcast_to(as_tensor(wrap(result.value), target.dtype), target.value.shape)
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        lead = next((v for v in (*args, *kwargs.values()) if isinstance(v, Selected)), self)
        name = f"numpy.{function.__name__}"
        is_first = bool(args) and args[0] is lead
        known = named(function, args[1:], kwargs) if is_first else kwargs
        if known.get("out") is not None and function not in REDUCTIONS:
            lead.refuse(f"{name} of it with out=")
        if function in ELEMENTWISE and not (function is np.where and len(args) == 1):
            return lead.elementwise(function, args, kwargs, known)
        if (
            function in ELEMENTWISE_IN
            and sum(isinstance(a, Selected) for a in (*args, *kwargs.values())) == 1
            and args[ELEMENTWISE_IN[function] :][:1] == (lead,)
            and not (function is np.take and (np.ndim(args[0]) != 1 or len(args) > 3))
        ):
            return lead.like(function(*[lead.inside() if a is lead else a for a in args], **kwargs))
        for table, form in ((REDUCTIONS, lead.reduced), (QUANTILES, lead.quantile)):
            if function in table and is_first:
                result = form(function, **known)
                return scalars(result) if known.get("out") is None else result
        if function in FUNCTIONS and is_first:
            return taken(FUNCTIONS[function], name, lead, args[1:], kwargs)
        if function in (np.dot, np.vdot, np.inner) and len(args) == 2 and not kwargs:
            if function is np.inner and any(np.ndim(a) != 1 for a in args):
                lead.refuse("numpy.inner of it and of matrices")
            return lead.product(np.vecdot if function is np.vdot else np.matmul, args)
        return lead.refuse(f"{name} of it")

    def elementwise(self, function: Any, args: Any, kwargs: Any, known: dict[str, Any]) -> Selected:
        if function is np.nan_to_num and not known.get("copy", True):
            self.refuse("numpy.nan_to_num of it in place")
        args = [self.aligned(a) if isinstance(a, (Selected, TracedArray, np.ndarray, list)) else a for a in args]
        kwargs = {k: self.aligned(v) if isinstance(v, Selected) else v for k, v in kwargs.items()}
        result = self.like(function(*args, **kwargs))
        is_view = function in VIEWS or (function is np.astype and not known.get("copy", True))
        return self.sharing(result.value, self.lead) if is_view else result

    # -- reductions --------------------------------------------------------------------------------------------------

    def whole_axes(self, axis: Any) -> tuple[int, ...] | None:
        """The axes of the value for axes of the selection; None where the selected axis is not among them."""
        axes = normalized_axes(axis, self.ndim, "reduction")
        if self.lead not in axes:
            return None
        inside = range(self.lead, self.lead + self.mask.ndim)
        return (*(self.wide_axis(a) for a in axes if a != self.lead), *inside)

    def reduced(self, function: Callable[..., Any], axis: Any = None, keepdims: bool = False, **kwargs: Any) -> Any:
        axes = self.whole_axes(axis)
        if kwargs.get("where", True) is not True:
            self.refuse("where= of its reductions")
        if axes is None:
            wide = self.wide_axes(axis)
            value = function(wrap(self.value), wide, keepdims=keepdims, **kwargs)
            return Selected(as_tensor(value), self.mask, self.lead)
        if keepdims and kwargs.get("out") is not None:
            self.refuse("keepdims= with out= of its reductions")
        kwargs["where"] = self.wide_mask()
        if function in EXTREMES and "initial" not in kwargs:
            function = self.extreme(function)
        result = function(wrap(self.value), axes, **kwargs)
        if not keepdims:
            return result
        reduced = normalized_axes(axis, self.ndim, "reduction")
        kept = (1 if i in reduced else self.value.shape[self.wide_axis(i)] for i in range(self.ndim))
        return np.reshape(result, tuple(kept))

    def extreme(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """np.max and its like without ``initial``, which NumPy refuses where nothing is selected."""
        ufunc = EXTREMES[function]
        refusal = f"zero-size array to reduction operation {ufunc.__name__} which has no identity"

        def form(value: Any, axes: Any, where: Any, **kwargs: Any) -> TracedArray:
            kwargs["initial"] = self.beyond(ufunc)
            result = function(value, axes, where=where, **kwargs)
            if function in (np.nanmax, np.nanmin) and self.dtype.kind == "f":
                is_number = np.any(~np.isnan(value), axis=axes, where=where)
                result = np.where(is_number, result, frozen(np.nan, self.dtype))
            extents = [value.shape[a] for a in axes if not self.lead <= a < self.lead + self.mask.ndim]
            return self.unless_empty(result, refusal, extents=extents)

        return form

    def beyond(self, extreme: np.ufunc) -> np.ndarray:
        """What is no more than any element for a maximum, no less for a minimum."""
        if self.dtype.kind not in "fiub":
            self.refuse(f"the extreme of {self.dtype} of it")
        is_greatest = extreme in (np.maximum, np.fmax)
        limits: tuple[Any, Any] = (False, True)
        if self.dtype.kind == "f":
            limits = (-np.inf, np.inf)
        elif self.dtype.kind != "b":
            limits = (np.iinfo(self.dtype).min, np.iinfo(self.dtype).max)
        return frozen(limits[0] if is_greatest else limits[1], self.dtype)

    def unless_empty(
        self, result: Any, message: str, label: str = "empty_reduction", extents: Sequence[Any] = ()
    ) -> TracedArray:
        """A result that NumPy refuses with this message where nothing is selected, or one of the extents is zero."""
        some = np.any(wrap(self.mask))
        for extent in extents:
            some = np.logical_and(some, np.greater(extent, 0))
        tensor = as_tensor(result)
        if is_empty(tensor.shape):
            self.refuse("an empty array of extremes")
        return wrap(demanded(tensor, some, label, message))

    def wide_axis(self, axis: int) -> int:
        """The axis of the value for one of the selection that is not the selected one."""
        return axis if axis < self.lead else axis + self.mask.ndim - 1

    def wide_axes(self, axis: Any) -> tuple[int, ...]:
        """The same for axes that all come behind the selected one."""
        axes = normalized_axes(axis, self.ndim, "reduction")
        if axes and axes[0] < self.lead:
            self.refuse("reducing an axis before the mask")
        return tuple(map(self.wide_axis, axes))

    def quantile(self, function: Callable[..., Any], axis: Any = None, **kwargs: Any) -> Any:
        """Elements that are not selected are NaN for the NaN-ignoring form; a NaN among those selected is the result."""
        axes, q = self.whole_axes(axis), kwargs.get("q", 0.5)
        ignores = QUANTILES[function] is function
        # Integers are their own results by some methods, and so are they at q = 0 and q = 1 where those are integers.
        is_exact = kwargs.get("method", "linear") in DISCRETE or (
            function in (np.quantile, np.nanquantile) and as_tensor(q).dtype.kind != "f"
        )
        if (
            axes is None
            or self.dtype.kind in "bc"
            or "weights" in kwargs
            or (is_exact and self.dtype.kind != "f")
            or (kwargs.get("keepdims") and self.mask.ndim != 1)
            or (ignores and np.ndim(q))  # NumPy gives one NaN where nothing is selected
        ):
            self.refuse(f"numpy.{function.__name__} of it with these arguments")
        value = wrap(self.value)
        inner = value if self.dtype.kind == "f" else value.astype(np.float64)
        if self.dtype.kind == "i" and asks():
            # NumPy's differences of neighbors wrap around.
            high = np.max(inner, initial=-np.inf, where=self.wide_mask())
            low = np.min(inner, initial=np.inf, where=self.wide_mask())
            require(high - low < float(np.iinfo(self.dtype).max))
        result = QUANTILES[function](
            np.where(self.wide_mask(), inner, frozen(np.nan, inner.dtype)), axis=axes, **kwargs
        )
        if function in (np.quantile, np.percentile):
            result = self.unless_empty(result, "index 0 is out of bounds for axis 0 with size 0", "index_bounds")
        if ignores or self.dtype.kind != "f":
            return result
        return np.where(np.any(np.isnan(value), axis=axes, where=self.wide_mask()), frozen(np.nan, inner.dtype), result)

    @property
    def T(self) -> Selected:
        if self.ndim == 1:
            return self
        if self.mask.ndim != 1:
            self.refuse("the transpose of it")
        return self.sharing(np.transpose(wrap(self.value)), self.behind)

    def without_others(self) -> Any:
        """The value with its selected axes as one, and zeros where nothing is selected."""
        kept = self.filled(0)
        return np.reshape(
            kept, (*kept.shape[: self.lead], product(self.mask.shape), *kept.shape[self.lead + self.mask.ndim :])
        )

    def product(self, ufunc: np.ufunc, inputs: Any) -> Any:
        """An inner or matrix product: along the selected axis of two selections by one mask, or along another axis of one."""
        left, right = inputs
        both = isinstance(left, Selected) and isinstance(right, Selected)
        if ufunc not in (np.matmul, np.vecdot) or (ufunc is np.vecdot and not (both and left.ndim == right.ndim == 1)):
            return self.refuse(f"numpy.{ufunc.__name__} of it")
        if both and left.ndim == right.ndim == 1 and left.has_mask_of(right):
            return np.sum(
                (np.conjugate(left) if ufunc is np.vecdot else left) * right,
                dtype=np.result_type(left.dtype, right.dtype),
            )
        is_along = both and _core.same_value(left.mask, right.mask) and not left.behind and not right.lead
        if is_along and left.ndim <= 2 and right.ndim <= 2:
            return np.matmul(left.without_others(), right.without_others())
        if not isinstance(right, Selected) and left.behind == 1 and np.ndim(right) in (1, 2):
            return Selected(as_tensor(np.matmul(wrap(left.value), right)), left.mask, left.lead)
        is_columns = not isinstance(left, Selected) and right.lead == 1 and right.ndim == 2 and right.mask.ndim == 1
        if is_columns and np.ndim(left) in (1, 2):
            return Selected(as_tensor(np.matmul(left, wrap(right.value))), right.mask, np.ndim(left) - 1)
        return self.refuse(f"numpy.{ufunc.__name__} of it")

    # -- indexing ----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Selected) and index.dtype == bool and index.ndim == 1 and self.has_mask_of(index):
            return Selected(self.value, as_tensor(np.logical_and(wrap(self.mask), wrap(index.value))), self.lead)
        items = expand_ellipsis(index, self.ndim)
        if items[0] is None:
            return self.sharing(wrap(self.value)[None], self.lead + 1)[(slice(None), *items[1:])]
        if (
            not self.lead
            and (is_integer(items[0]) or is_place(items[0]))
            and all(item == slice(None) for item in items[1:])
        ):
            found = self.at_rank(items[0])
            return element(found) if not found.ndim and not has_ellipsis(index) else wrap(found)
        if not all(isinstance(i, slice) and i == slice(None) for i in items[: self.lead + 1]) or not all(
            map(is_basic, items)
        ):
            return self.refuse("indexing it")
        rest = [*[slice(None)] * (self.lead + self.mask.ndim), *items[self.lead + 1 :]]
        return self.sharing(basic_view(wrap(self.value), rest), self.lead)

    def at_rank(self, index: Any) -> Tensor:
        """The selected element of an index."""
        shown = f"index {index if isinstance(index, int) else 'of an element'} is out of bounds for axis 0 of x[mask]"
        chosen = np.reshape(wrap(self.mask), -1)
        last = chosen.shape[0] - 1
        if isinstance(last, int) and last < 0:
            raise_here(OutOfBoundsError, shown, "index_bounds")
        if isinstance(index, int) and index in (0, -1):
            inside, place = np.any(chosen), np.argmax(chosen) if index == 0 else last - np.argmax(chosen[::-1])
        else:
            count = self.count
            rank = np.where(np.less(index, 0), index + count, index)
            inside = np.logical_and(np.greater_equal(rank, 0), np.less(rank, count))
            place = np.searchsorted(np.cumsum(chosen), rank + 1)
        safe = wrap(demanded(as_tensor(place), inside, "index_bounds", shown))
        rows = np.reshape(wrap(self.value), (-1, *self.value.shape[self.mask.ndim :]))
        return as_tensor(np.take(rows, np.minimum(safe, last), axis=0))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.refuse("writing to x[mask] twice: x[mask][…] = y changes a copy, which")

    def __len__(self) -> int:
        return self.refuse("len(x[mask])", "; np.sum(mask) counts them")

    def __iter__(self) -> Any:
        return self.refuse("a loop over x[mask]")

    def __bool__(self) -> bool:
        return self.refuse("the truth of x[mask]")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.refuse("x[mask] here")

    def leave(self) -> None:
        error = DataDependentError(f"{UNKNOWN_COUNT}{ADVICE}  [dynamic_result_shape]\n{self.place}")
        error.label = "dynamic_result_shape"
        raise error

    def refuse(self, what: str, advice: str | None = None) -> Any:
        return raise_here(
            DataDependentError,
            f"{what} cannot be compiled: {UNKNOWN_COUNT}{ADVICE if advice is None else advice}",
            "dynamic_result_shape",
        )


def run_time_mask(items: list[Any]) -> int | None:
    """Where among the items of an index the one mask is that only the run knows."""
    places = [
        i
        for i, item in enumerate(items)
        if isinstance(item, TracedArray) and item.dtype == bool and item.ndim and item.tensor.constant() is None
    ]
    return places[0] if len(places) == 1 else None


def selection(array: TracedArray, items: list[Any]) -> tuple[TracedArray, TracedArray, int] | None:
    """The view, the mask and the axes before it that an index with one run-time mask and otherwise basic items means."""
    place = run_time_mask(items)
    if place is None or any(item is Ellipsis for item in items):
        return None
    before, mask, behind = items[:place], items[place], items[place + 1 :]
    if not stays(before, behind):
        return None
    view = basic_view(array, [*before, *[slice(None)] * mask.ndim, *behind])
    lead = slices_in(before)
    for axis, extent in enumerate(mask.shape):
        if not _core.dims_equal(extent, view.shape[lead + axis]):
            raise_here(
                OutOfBoundsError,
                f"boolean index did not match indexed array along axis {len(before) + axis}; size of axis is "
                f"{view.shape[lead + axis]} but size of corresponding boolean axis is {extent}",
                "mask_shape",
            )
    return view, mask, lead


def stays(before: list[Any], behind: list[Any]) -> bool:
    """Whether what an array selects has its axis in its own place, between the other items of an index.

    Integers are index arrays beside it: only next to it do they not move its axis.
    """
    return all(
        all(is_basic(item) and item is not None and item is not Ellipsis for item in items)
        and (numbers := [not isinstance(item, slice) for item in items]) == sorted(numbers, reverse=items is behind)
        for items in (before, behind)
    )


def slices_in(items: list[Any]) -> int:
    return sum(isinstance(item, slice) for item in items)


def put_selected(view: TracedArray, mask: TracedArray, lead: int, value: Any) -> None:
    """view[mask] = value."""
    target = Selected(view.tensor, mask.tensor, lead)
    new = wrap(target.fitted(value, view))
    view.write(as_tensor(np.where(target.wide_mask(), new, wrap(view.tensor))))
