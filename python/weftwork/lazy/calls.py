"""Calls on lazy arrays: recorded by the functions that traced NumPy has, and done by NumPy where these need values."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..errors import DataDependentError, UnsupportedError
from ..numpy.asked import as_numpy_raises
from ..numpy.dispatch import FUNCTIONS
from ..numpy.operators import RECORDED
from ..numpy.tracer import Selection, Trace, TracedArray, contains_traced, current_trace, swap_trace
from ..pytree import flatten
from .blame import explained
from .tensor import HEAVY, LONGEST_CHAIN, Method, Tensor, copied, eval_all, leaf, tensor_of

__all__ = ["SHORTEST", "as_own", "called", "recorded_or_run"]


class NeedsValues(Exception):
    """A result has a shape that values decide."""


class Recording(Trace):
    """What the functions of traced NumPy record in outside of any traced function."""

    is_of_function = False

    def __init__(self) -> None:
        super().__init__("eval", bake=True)

    def capture(self, array: np.ndarray) -> Any:
        return leaf(array).tensor

    def forget(self) -> None:
        """What was noted of one call says nothing of the next."""
        self.layouts.clear()
        self.bounded.clear()


_state = threading.local()


#: NumPy's functions that write to their first argument.
WRITERS = frozenset([np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask])


def called(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], *, writes: bool = False) -> Any:
    """What ``function`` gives of these arguments, recorded. Where that cannot be (a mask as an index, ``np.unique``), the
    tensors among them are computed and NumPy's own function is called; ``writes`` says that it changes its first argument.
    """
    if current_trace() is not None:
        taken, named = [in_trace(arg) for arg in args], {name: in_trace(arg) for name, arg in kwargs.items()}
        # NumPy does not look at every argument for what is traced: not at the indices of np.take.
        form = FUNCTIONS.get(function, function) if contains_traced((*taken, *named.values())) else function
        return form(*taken, **named)
    writes = writes or function in WRITERS or getattr(function, "__name__", "") == "at"
    if (writes and isinstance(args[0], np.ndarray)) or (kwargs and holds_arrays(kwargs.get("out"))):
        return run(function, args, kwargs, writes)
    inner = Unwrapped(args, kwargs)
    inner.length += HEAVY if function is np.concatenate else 1
    try:
        # By the shortest way where NumPy would dispatch to it.
        form = FUNCTIONS.get(function, function) if inner.storages else function
        return inner.wrapped(in_recording(form, inner.args, inner.kwargs))
    except (UnsupportedError, DataDependentError, NeedsValues):
        return run(function, args, kwargs, writes)
    except Exception as error:
        refused = as_numpy_raises(error, False, "", numpys(function), tuple(inner.args), inner.kwargs)
        if refused is None and getattr(error, "label", "") != "copy":
            # What no program computes NumPy may compute: the greatest of complex numbers. It would view the computed
            # elements, which lie in another order, where copy=False cannot view the tensor.
            with contextlib.suppress(Exception):
                return run(function, args, kwargs, writes)
        raise explained(refused or error, args, kwargs) from None


def in_recording(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function of recorded arrays gives, with new arrays that its form in a trace makes recorded too."""
    recording = getattr(_state, "recording", None)
    if recording is None:
        recording = _state.recording = Recording()
    swap_trace(recording)
    try:
        return function(*args, **kwargs)
    finally:
        swap_trace(None)
        recording.forget()


def numpys(function: Callable[..., Any]) -> Any:
    """The function that NumPy is asked about."""
    return getattr(np.ndarray, function.__name__) if isinstance(function, Method) else function


def holds_arrays(out: Any) -> bool:
    return any(isinstance(array, np.ndarray) for array in (out if isinstance(out, tuple) else (out,)))


NUMBERS = frozenset([bool, int, float, complex])
#: The names of NumPy's functions that may go the shortest way, which is _core.operated. Not of those that copy: see `copied`.
SHORTEST = {ufunc: name for ufunc, name in RECORDED.items() if ufunc not in (np.positive, np.conjugate)}
_core.set_lazy_arrays(Tensor, LONGEST_CHAIN, tensor_of)


def recorded_or_run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """:func:`called` by its arguments."""
    return called(function, args, kwargs)


def in_trace(value: Any) -> Any:
    """A tensor among the arguments of a function that is traced: its elements, which are constants of the program."""
    if isinstance(value, Tensor):
        return value.constant()
    if isinstance(value, (tuple, list)) and any(isinstance(item, Tensor) for item in value):
        return with_items(value, in_trace)
    return value


def with_items(value: Any, function: Callable[[Any], Any]) -> Any:
    """A tuple, named or not, or a list with what ``function`` gives of each item."""
    items = map(function, value)
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def as_own(array: TracedArray, is_view: bool = False) -> TracedArray:
    """An array of this library: never a scalar, in row-major order unless it is a view of another."""
    array.weak, array.scalar = None, False
    if not is_view:
        array._storage.strides, array._storage.parents = None, ()
    return array


class Unwrapped:
    """The arguments of a call with recorded arrays in the place of tensors and of NumPy's arrays."""

    def __init__(self, args: tuple, kwargs: dict[str, Any]) -> None:
        self.given: dict[int, Tensor] = {}  # by the identity of the recorded array
        self.storages: set[int] = set()
        self.length = 0  # of the chain that ends in the call
        self.args = [self.inner(arg) for arg in args]
        self.kwargs = {name: self.inner(arg) for name, arg in kwargs.items()}

    def inner(self, value: Any) -> Any:
        if value is None or type(value) in NUMBERS:
            return value
        if isinstance(value, Tensor):
            array = value._array
            self.given[id(array)] = value
            self.storages.add(id(array._storage))
            self.length = max(self.length, value._length)
            return array
        if isinstance(value, np.ndarray):
            return leaf(value)
        if isinstance(value, (tuple, list)):
            return with_items(value, self.inner)
        return value

    def wrapped(self, value: Any) -> Any:
        """The result with tensors in the place of recorded arrays, and of arrays that need no computation."""
        if isinstance(value, TracedArray):
            known = self.given.get(id(value))
            if known is not None:
                known._grew()
                return known
            is_view = id(value._storage) in self.storages
            if not is_view:
                same = (tensor for tensor in self.given.values() if value.tensor.is_same(tensor._recorded))
                value = next((copied(tensor._array) for tensor in same), value)
            return tensor_of(as_own(value, is_view), self.length)
        if isinstance(value, Selection):
            raise NeedsValues
        if isinstance(value, (np.ndarray, np.generic)):
            return tensor_of(leaf(np.asarray(value)))
        if isinstance(value, (tuple, list)):
            return with_items(value, self.wrapped)
        return value


def run(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], writes: bool) -> Any:
    """NumPy's function on the elements; what it writes lands in the tensor."""
    found, _ = flatten((args, kwargs), lambda value: isinstance(value, Tensor))
    eval_all([tensor for _, tensor in found])
    copies: dict[int, tuple[Tensor, np.ndarray]] = {}

    def plain(value: Any, written: bool = False) -> Any:
        if isinstance(value, Tensor):
            if not written:
                return value.numpy()
            copies.setdefault(id(value), (value, np.array(value.numpy())))
            return copies[id(value)][1]
        if isinstance(value, (tuple, list)):
            return with_items(value, lambda item: plain(item, written))
        return value

    first = [plain(arg, writes and i == 0) for i, arg in enumerate(args)]
    result = function(*first, **{name: plain(arg, name == "out") for name, arg in kwargs.items()})
    for tensor, array in copies.values():
        tensor._array.write(leaf(array).tensor)
    known: dict[int, Any] = {id(array): tensor for tensor, array in copies.values()}
    outs = kwargs.get("out")
    known |= {
        id(array): array for array in (outs if isinstance(outs, tuple) else (outs,)) if isinstance(array, np.ndarray)
    }
    return with_tensors(result, known)


def with_tensors(value: Any, known: dict[int, Any]) -> Any:
    """What NumPy gave, with tensors in the place of arrays and scalars; ``known`` are those that were written to."""
    if isinstance(value, (np.ndarray, np.generic)):
        return known[id(value)] if id(value) in known else tensor_of(leaf(np.asarray(value)))
    if isinstance(value, (tuple, list)):
        return with_items(value, lambda item: with_tensors(item, known))
    return value
