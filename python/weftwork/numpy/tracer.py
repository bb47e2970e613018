"""The array that stands for a value while a NumPy function is traced."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, DataDependentError, UnsupportedError
from .axis_order import constant_in_place
from .checks import Checks, holds_complex
from .frozen import is_frozen, same_bytes

Tensor = _core.Tensor
#: The type itself: np.ndarray may be a stand-in while a function is traced.
NDARRAY = np.ndarray


def raise_here(kind: type[Exception], message: str, label: str) -> Any:
    """Raises an error that names the user's line."""
    place = _core.caller_location().trace_text()
    error = kind(f"{message}  [{label}]\n{place}" if place else f"{message}  [{label}]")
    error.label = label  # type: ignore[attr-defined]
    raise error


def pinned(array: TracedArray, is_extent: bool = True) -> Any:
    """What Python has at each call as the value of an array: the program is for this value. None where that is not known, or Python is asked."""
    trace = current_trace()
    return None if trace is None or trace.recorder is None else trace.recorder.pinned(array, is_extent)


class Capture:
    """An array of the surrounding program that a traced function reads."""

    __slots__ = ("array", "snapshot", "tensor")

    def __init__(self, array: np.ndarray, snapshot: np.ndarray, tensor: Tensor) -> None:
        self.array, self.snapshot, self.tensor = array, snapshot, tensor


class Read:
    """An array that a recorded function reads from its surroundings, where it is at each call."""

    __slots__ = ("array", "name", "step", "tensor", "traced")

    def __init__(self, array: np.ndarray, name: str, step: int, tensor: Tensor, traced: Any) -> None:
        self.array, self.name, self.step, self.tensor, self.traced = array, name, step, tensor, traced


class LayoutUse:
    """A decision that an array's layout took: whether another array is a view of it, or in which order it is read."""

    __slots__ = ("base", "other", "version")

    def __init__(self, base: Storage, other: Storage | None) -> None:
        self.base, self.version, self.other = base, base.version, other

    def matters(self) -> bool:
        """Whether the program would be another one if the decision were."""
        return self.other is None or self.base.version != self.version or self.other.version > 0


class Trace:
    """One tracing of one function, on one thread.

    Writable arrays that the function reads from its surroundings become hidden inputs (``captures``), read anew at each
    call; read-only ones are constants. With ``bake`` all of them are constants, as they are at the time of tracing.
    """

    #: Whether a function runs in it, which other jitted functions are to be recorded in too.
    is_of_function = True

    def __init__(self, name: str, *, bake: bool = False) -> None:
        self.name = name
        self.bake = bake
        # Loops that are being recorded, outermost first; those to be written out, and how many first turns of others.
        self.loops: list[Any] = []
        self.unrolled: dict[Any, str] = {}
        self.written_out: list[weakref.ref] = []  # loops that go on, turn by turn
        self.peeled: weakref.ref | None = None  # the loop of whose first turns this is one
        self.peels: dict[Any, int] = {}
        #: Variables with lists that loops make grow, by loop and name: what was found of their elements, see bytecode/grown_lists.py.
        self.growing: dict[Any, tuple[Any, ...]] = {}
        self.known: set[Any] = set()  # while statements of whose turns Python knew which is the last
        self.decided: Any = None  # the loop of which a condition is recorded
        self.loop_count = 0
        self.arguments: list[TracedArray] = []
        self.captures: list[Capture] = []
        self.constants: dict[tuple[Any, ...], tuple[np.ndarray, Tensor]] = {}
        self.layouts: list[LayoutUse] = []
        # What the recorder reads from outside: numbers as (tensor, step), arrays as Read.
        self.numbers: list[tuple[Tensor, int]] = []
        self.reads: list[Read] = []
        self.recorder: Any = None
        self.checks = Checks()
        # Calls that are made whether or not a result is needed, one result of each, in their order: what ranks exchange.
        self.effects: list[Tensor] = []
        # Integers that are known to lie in [0, n): by the identity of their tensors.
        self.bounded: dict[int, tuple[Tensor, Any]] = {}
        self.spans: dict[int, tuple[Tensor, tuple[int, int]]] = {}  # likewise, between two numbers
        self.predicate: Any = None  # of a way of a condition that only the run knows, see bytecode/branches.py
        # Values that may be numbers of Python's instead, by their identity: the marks of mixed.py.
        self.mixed: dict[int, Any] = {}

    @property
    def taken(self) -> Any:
        """Whether the way of a condition that is recorded is taken, where it is computed elsewhere too; None where that is not to be asked."""
        return None if self.predicate is None else self.predicate.holds

    @property
    def is_repeated(self) -> bool:
        """Whether what is recorded happens more than once, or only in a way of a condition."""
        return bool(self.loops) or self.predicate is not None

    def capture(self, array: np.ndarray) -> Tensor:
        if is_frozen(array):
            key = (array.ctypes.data, array.shape, array.strides, array.dtype)
            known = self.constants.get(key)
            if known is None:
                known = self.constants[key] = (array, constant_in_place(array))
            return known[1]
        # What NumPy computed while the function was recorded is the program's own.
        own = self.recorder is not None and self.recorder.is_own(array)
        if self.bake or own or not array.size:
            return _core.constant(array.copy())
        for capture in self.captures:
            if capture.array is array and same_bytes(array, capture.snapshot):
                return capture.tensor
        tensor = _core.parameter(array.shape, array.dtype, f"captured{len(self.captures)}", from_outside=True)
        self.captures.append(Capture(array, array.copy(), tensor))
        return tensor

    def taken_effects(self, begun: int, since: int) -> list[Tensor]:
        """The effects recorded since, which are those of a loop or branch from now on; what was recorded since it begun is forgotten."""
        taken = [effect for effect in self.effects if effect.serial >= since]
        self.effects = [effect for effect in self.effects if effect.serial < begun]
        return taken

    def captured_arrays(self) -> list[np.ndarray]:
        """What to pass for the hidden inputs: the array itself, or what it held if the function wrote to it since."""
        return [c.array if same_bytes(c.array, c.snapshot) else c.snapshot for c in self.captures]


def frozen(values: Any, dtype: Any = None) -> np.ndarray:
    """Values that nobody else has, as an array that is a constant of the program: another one would be read anew at each call."""
    with untraced():
        array = np.array(values, dtype)
    array.flags.writeable = False
    return array


def current_trace() -> Trace | None:
    """The trace that runs on this thread."""
    return _core.current_trace()


#: Makes a trace the one that this package's own functions record in on this thread, and returns the one before.
swap_trace: Callable[[Trace | None], Trace | None] = _core.swap_trace


@contextmanager
def tracing(trace: Trace | None) -> Iterator[Trace | None]:
    previous = swap_trace(trace)
    _core.set_tracing(trace is not None and trace.is_of_function)
    try:
        yield trace
    finally:
        swap_trace(previous)
        _core.set_tracing(previous is not None and previous.is_of_function)


def untraced() -> Any:
    """While it lasts, NumPy's functions on this thread are NumPy's own: for what is computed at trace time."""
    return tracing(None)


def note_created(array: TracedArray | Selection) -> None:
    """Tells the loops that are being recorded: what their bodies make must not be kept."""
    trace = current_trace()
    if trace is not None and trace.loops:
        for loop in trace.loops:
            loop.note_created(array)


class Storage:
    """The value of a whole array; writes through any view replace it."""

    births = itertools.count()
    guard: str | None = None  # why it must not be written
    checks: tuple[Callable[[], None], ...] = ()  # called before a write
    owned = False  # whether NumPy's array surely has the memory itself, so that its base is None
    peers: tuple[Storage, ...] = ()  # what a loop gave as arrays of their own and NumPy has as one memory
    # Those of them that one loop gave; and which, if it may be written out.
    linked: tuple[tuple[Storage, Any], ...] = ()
    # A loop gave as an array of its own what NumPy has as a view of an older one; or which loop, if it may be written out.
    apart: Any = False
    foreign = False  # given in the other byte order, which shows where bytes do
    locked = False  # given read-only: the run refuses what writes elements, the recording a write of none
    # NumPy's layout of the array, see layout.py: strides in elements (None: row-major, UNKNOWN: not told), the
    # storages whose layout decides it, and those that NumPy may or may not have let share this memory.
    strides: Any = None
    parents: tuple[Storage, ...] | None = None
    twins: tuple[Storage, ...] = ()
    choice: Any = None  # of a condition: NumPy has one of several arrays, see shared_arrays.py
    stale: str | None = None  # where a twin was written

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.version = 0
        self.born = next(Storage.births)
        self.arrays: list[weakref.ref[TracedArray]] = []  # that are views of it, or the whole

    def replace(self, tensor: Tensor) -> None:
        self.read()
        for check in self.checks:
            check()
        trace = current_trace()
        if trace is not None:
            for loop in trace.loops:
                loop.note_write(self)
            if trace.predicate is not None:
                trace.predicate.written.setdefault(id(self), (self, self.tensor))
        self.tensor = tensor
        self.version += 1
        for twin in self.twins:
            twin.stale = twin.stale or _core.caller_location().trace_text()

    def set_back(self, tensor: Tensor) -> None:
        """For a loop that is being recorded: another value, without a write."""
        self.tensor = tensor
        self.version += 1

    def read(self) -> Tensor:
        """The value; an error where it depends on a layout, or a choice, that only the run knows."""
        if self.stale is not None:
            raise_stale(self.stale)
        return self.tensor


def raise_stale(place: str) -> Any:
    """Raises an error that names the line of the write."""
    error = UnsupportedError(
        "whether another array sees this write is known only when the program runs: NumPy's reshape, ravel or ascontiguousarray "
        f"is a view or a copy, a condition chooses one of two arrays; write before, or copy the array  [layout]\n{place}"
    )
    error.label = "layout"
    raise error


def in_way(part: Tensor, before: Callable[[], Tensor]) -> Tensor:
    """What a write stores: in a way of a condition, what was there before where another way is taken."""
    trace = current_trace()
    if trace is None or trace.taken is None:
        return part
    return np.where(trace.taken, TracedArray(part), TracedArray(before())).tensor


class View:
    """A step from a base value to a part of it: how to read the part, and how to put another part in its place. ``_core.Move`` is one, too."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def read(self, base: Tensor) -> Tensor:
        raise NotImplementedError

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        raise NotImplementedError


def written_through(steps: tuple[View | _core.Move, ...], base: Tensor, part: Tensor) -> Tensor:
    """The base with the part in the place that the steps lead to."""
    values = [base]
    for step in steps[:-1]:
        values.append(step.read(values[-1]))
    for step, value in zip(reversed(steps), reversed(values if steps else []), strict=True):
        part = step.write(value, part)
    return part


class TracedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An ndarray whose values are known only when the compiled program runs.

    It has the dtype, shape, operators and methods of an ndarray; basic slices, reshapes and transposes are views, and a
    write through one is seen by all others. ``weak`` is the type of a Python number, which promotes as one.
    ``scalar`` says that NumPy has a scalar here: it is never written, ``s += 1`` makes another one.
    """

    __slots__ = ("__weakref__", "_cache", "_steps", "_storage", "_version", "scalar", "weak")
    __array_priority__ = 1000.0

    def __init__(self, tensor: Tensor, weak: type | None = None) -> None:
        self._storage = Storage(tensor)
        self._steps: tuple[View | _core.Move, ...] = ()
        self._cache: Tensor | None = tensor
        self._version = 0
        self.weak = weak
        self.scalar = weak is not None
        self._storage.arrays.append(weakref.ref(self))
        note_created(self)

    # -- the value -------------------------------------------------------------------------------------------------

    @property
    def tensor(self) -> Tensor:
        """The recorded value, as of now."""
        if self._cache is None or self._version != self._storage.version or self._storage.stale is not None:
            value = self._storage.read()
            for step in self._steps:
                value = step.read(value)
            self._cache, self._version = value, self._storage.version
        return self._cache

    def view_through(self, step: View) -> TracedArray:
        """A view of this array; it sees later writes and its own writes land here."""
        return self._seen((step,), step.read(self.tensor))

    def view_of(self, part: Tensor) -> TracedArray:
        """The view that is ``part``, which calls that only move elements made of the value of this array."""
        return self._seen(_core.moves(self.tensor, part), part)

    def _seen(self, steps: tuple[Any, ...], part: Tensor) -> TracedArray:
        if self.scalar and part.ndim:
            return wrap(part)  # the elements of a scalar are nobody's memory
        result = TracedArray.__new__(type(self))
        result._storage, result._steps = self._storage, (*self._steps, *steps)
        result._cache, result._version = part, self._storage.version
        result.weak = None
        result.scalar = self.scalar and not self.weak and not part.ndim
        self._storage.arrays.append(weakref.ref(result))
        note_created(result)
        return result

    def write(self, part: Tensor, *, is_chosen: bool = False) -> None:
        """Puts another value of the same shape and dtype in the place of this one; ``is_chosen``: see :func:`in_way`."""
        if self.scalar:
            raise_here(
                ArgumentTypeError,
                f"'numpy.{self.dtype}' object does not support item assignment: it is a scalar",
                "scalar_write",
            )
        if self._storage.guard:
            raise_here(ArgumentValueError, f"assignment destination is read-only: {self._storage.guard}", "not_mutable")
        if self._storage.locked and 0 in self.shape:
            raise_here(ArgumentValueError, "assignment destination is read-only", "read_only")
        part = part if is_chosen else in_way(part, lambda: self.tensor)
        self._storage.replace(written_through(self._steps, self._storage.read(), part))
        self._cache, self._version = None, -1

    def guard_writes(self, reason: str | None) -> None:
        """Makes writes to the whole array raise for that reason, or lets them be."""
        self._storage.guard = reason

    # -- what an ndarray tells of itself ---------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        return self.tensor.dtype

    @property
    def shape(self) -> tuple:
        return self.tensor.shape

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    @property
    def size(self) -> Any:
        result: Any = 1
        for extent in self.shape:
            result = result * extent
        return result

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        if not isinstance(self.shape[0], int):
            raise_here(
                ArgumentValueError, f"len() needs a fixed extent, got {self.shape[0]!r}; use x.shape[0]", "symbolic_len"
            )
        return self.shape[0]

    def __copy__(self) -> TracedArray:
        return TracedArray(self.tensor)

    def __deepcopy__(self, memo: Any) -> TracedArray:
        return TracedArray(self.tensor)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return np

    def __contains__(self, value: Any) -> bool:
        found = np.any(np.equal(self, value))
        return bool(found._need_value("'in'", "write np.any(x == value)"))

    def __repr__(self) -> str:
        return f"<traced {self.dtype}[{', '.join(map(str, self.shape))}]>"

    # -- values that only the run knows ----------------------------------------------------------------------------

    def _need_value(self, what: str, instead: str, is_extent: bool = False) -> Any:
        constant = self.tensor.constant()
        if constant is None:
            constant = pinned(self, is_extent)
        if constant is not None:
            return constant
        return raise_here(
            DataDependentError,
            f"{what} needs the value of {self!r}, which is known only when the program runs; {instead}",
            "data_dependent",
        )

    def __bool__(self) -> bool:
        return bool(
            self._need_value("a condition", "use np.where, np.minimum/np.maximum, a mask, wf.cond or wf.while_loop")
        )

    def __int__(self) -> int:
        return int(self._need_value("int()", "keep it an array, or make the argument static"))

    def __index__(self) -> int:
        return self._need_value("an index or extent", "use np.take, or make the argument static", True).__index__()

    def __float__(self) -> float:
        return float(self._need_value("float()", "keep it an array"))

    def __complex__(self) -> complex:
        return complex(self._need_value("complex()", "keep it an array"))

    def __round__(self, digits: int | None = None) -> Any:
        if not self.scalar or self.dtype.kind == "c":
            kind = "numpy.ndarray" if not self.scalar else self.weak.__name__ if self.weak else f"numpy.{self.dtype}"
            raise_here(ArgumentTypeError, f"type {kind} doesn't define __round__ method: write np.round(x)", "round")
        if digits is not None and not self.weak:
            return np.round(self, digits)
        # A whole number in Python, or digits in its way, which rounds the decimal number.
        return round(self._need_value("round()", "write np.round(x)"), *(() if digits is None else (digits,)))

    def __trunc__(self) -> int:
        if not self.scalar:
            raise TypeError("type numpy.ndarray doesn't define __trunc__ method")
        return math.trunc(self._need_value("math.trunc()", "write np.trunc(x)"))

    def __format__(self, form: str) -> str:
        return format(self._need_value("a format", "format what the function returns"), form) if form else repr(self)

    def item(self, *args: int) -> Any:
        return self._need_value("item()", "keep it an array").item(*args)

    def tolist(self) -> Any:
        return self._need_value("tolist()", "keep it an array").tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(
            self._need_value(
                "NumPy",
                "write x.astype(dtype) to convert, and np.take(array, index, axis) to index an array that is not traced",
            ),
            dtype,
        )

    def __hash__(self) -> int:
        if self.scalar:
            return hash(self._need_value("a hash", "keep it out of sets and of keys"))
        raise TypeError("unhashable type: 'numpy.ndarray'")

    # -- NumPy's protocols -----------------------------------------------------------------------------------------

    # Protocols and methods are given to the class by protocols.py: they are made of functions of arrays.
    if TYPE_CHECKING:

        def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __iter__(self) -> Iterator[TracedArray]: ...
        def __getattr__(self, name: str) -> Any: ...


class BoundMethod:
    """A method of an array that stands for a value."""

    __slots__ = ("form", "name", "owner")

    def __init__(self, owner: TracedArray, name: str, method: Callable[..., Any] | None) -> None:
        self.owner, self.name, self.form = owner, name, method

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


#: In the place of a loop that is to be written out: x[mask] is an array, of as many elements as there are in the call.
MASKS = ("x[mask]", 0)


class Selection:
    """x[mask] for a mask that only the run knows, see masked.py."""

    __slots__ = ()

    def leave(self) -> None:
        """Raises the error for being part of the result."""
        raise NotImplementedError


def as_tensor(value: Any, dtype: Any = None) -> Tensor:
    """The recorded value of an array, NumPy scalar or Python number, converted to ``dtype`` if one is given."""
    if isinstance(value, TracedArray):
        return convert(fitted(value, value.tensor, dtype), dtype)
    if isinstance(value, Tensor):
        return convert(value, dtype)
    if isinstance(value, _core.Dim):
        return convert(fitted(value, extent_tensor(value), dtype), dtype)
    if type(value) is np.memmap:
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and type(value) is not NDARRAY:
        raise_here(ArgumentTypeError, f"arrays must be plain ndarrays, got {type(value).__name__}", "array_subclass")
    if isinstance(value, np.ndarray):
        trace = current_trace()
        if trace is None:
            return convert(_core.constant(value), dtype)
        if dtype is not None and value.dtype != dtype and is_frozen(value) and value.size <= 1024:
            return _core.constant(value.astype(dtype))
        return convert(trace.capture(value), dtype)
    if isinstance(value, (list, tuple)) and contains_traced(value):
        if dtype is not None and np.dtype(dtype).kind in "iuf" and holds_complex(value):
            raise_here(ArgumentTypeError, f"a list with a complex number of Python's made {np.dtype(dtype)}", "complex")
        return convert(as_tensor(np.stack([wrap(as_tensor(item)) for item in value])), dtype)
    if isinstance(value, complex) and dtype is not None:
        return _core.constant(np.asarray(value).astype(dtype))  # of which a real dtype takes the real part
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return as_tensor(np.asarray(value), dtype)  # a Buffer, a tensor of torch: memory that may be written later
    # Python numbers and nested lists: NumPy's own conversion, with its own OverflowError.
    return _core.constant(np.asarray(value, dtype))


def fitted(value: Any, tensor: Tensor, dtype: Any) -> Tensor:
    """What was recorded of a value that meets this dtype, into which an integer of Python's has to fit."""
    trace = current_trace()
    if dtype is not None and trace is not None and trace.recorder is not None:
        is_python = type(value) is _core.Dim or (type(value) is TracedArray and value.weak is int)
        if is_python and np.dtype(dtype).kind in "iu" and dtype != np.int64:
            return trace.recorder.fitted(value, tensor, np.dtype(dtype))
    return tensor


def contains_traced(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(contains_traced(item) for item in value)
    return isinstance(value, (TracedArray, _core.Dim))


def extent_tensor(extent: Any) -> Tensor:
    """A symbolic extent as an int64 value."""
    return _core.apply("extent", [], {"dims": (extent,)})


def convert(tensor: Tensor, dtype: Any) -> Tensor:
    """The value in another dtype, as ndarray.astype would give it."""
    if dtype is None:
        return tensor
    target = np.dtype(dtype)
    if not target.isnative:
        raise_here(
            ArgumentTypeError,
            f"arrays of {target!r} cannot be compiled: use {target.newbyteorder('=')!r}",
            "byte_order",
        )
    return _core.cast(tensor, target)


def python_truth(value: TracedArray) -> TracedArray:
    """A truth value that NumPy gives as a Python bool."""
    value.weak, value.scalar = bool, True
    return value


def wrap(tensor: Tensor) -> TracedArray:
    return TracedArray(tensor)
