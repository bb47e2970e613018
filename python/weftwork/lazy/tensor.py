"""The lazy array: what is written is recorded, and computed as one program when a value is asked for."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import _core
from ..device import Buffer, Device
from ..errors import ArgumentValueError, RecompilationWarning, UnsupportedError
from ..graph import Graph
from ..numpy.tracer import BoundMethod, Storage, TracedArray, convert, current_trace, raise_here
from ..numpy.tracer import Tensor as Recorded

__all__ = ["Tensor", "eval_all", "leaf"]

#: A chain of so many calls is computed, so that a loop that never asks for a value does not grow without bound.
LONGEST_CHAIN = 1000
#: A write or a concatenation counts as so many: a program of hundreds takes long to compile.
HEAVY = 16

_making = threading.Lock()  # of an array of a tensor, which has one


class Tensor(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that is computed when it is used.

    Operators, NumPy's functions and methods, and the functions of this package record what is to be done and return at once;
    types and shapes are checked there. ``eval()``, ``numpy()``, printing, ``bool()``, ``float()``, DLPack and conditions
    compute what they need as one compiled program, found again by its structure when the same calls come with other elements.
    What is computed is kept, what nobody asks for is never run.

    ``Tensor(value)`` takes what :func:`weftwork.asarray` takes. Basic slices, transposes and reshapes are views as in NumPy:
    a write through one is seen by all others. Follows the Python array API standard 2024.12.

    >>> import weftwork as wf
    >>> x = wf.arange(4.0)
    >>> y = x * 2 + 1
    >>> y.sum()
    Tensor(16.)
    """

    __slots__ = ("__weakref__", "_length", "_made", "_value")
    __array_priority__ = 2000.0
    __hash__ = None  # type: ignore[assignment]

    _value: Any  # what was recorded, until the array is made
    _made: TracedArray | None
    _length: int

    def __init__(self, value: Any, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> None:
        self._made, self._value, self._length = self._taken(value, dtype, device, copy), None, 0

    @property
    def _array(self) -> TracedArray:
        """The array that views and writes go through: most results of calls never need it."""
        if self._made is None:
            with _making:
                if self._made is None:
                    self._made = TracedArray(self._value)
                    self._value = None
        return self._made

    @property
    def _recorded(self) -> Recorded:
        """The recorded value, as of now."""
        value = self._value  # before another thread makes the array
        return value if self._made is None else self._made.tensor

    @staticmethod
    def _taken(value: Any, dtype: Any, device: Any, copy: bool | None) -> TracedArray:
        """What creation.py makes of a value."""
        raise NotImplementedError

    # -- what it tells of itself -----------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements, a ``numpy.dtype``."""
        return self._recorded.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._recorded.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._recorded.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> Device:
        """Where it is computed."""
        return Device()

    @property
    def is_computed(self) -> bool:
        """Whether the elements are there."""
        return self._recorded.is_computed

    # -- values ----------------------------------------------------------------------------------------------------

    def eval(self) -> Tensor:
        """Computes the elements if they are not there, and returns the tensor itself.

        Raises what the program raises, with the line that recorded the operation: an ``OutOfBoundsError`` for an index.
        """
        eval_all([self])
        return self

    def graph(self) -> Graph:
        """What is recorded and not computed, as a program: ``print(t.graph())`` shows each call with its type and the user's line,
        ``t.graph().stablehlo()`` what other tools read. Values that are there are its parameters."""
        return Graph(_core.recorded_program([self._recorded]))

    def numpy(self) -> np.ndarray:
        """The elements as a NumPy array over the tensor's own memory, which is read-only: ``np.array(t)`` is a copy to write."""
        trace = current_trace()
        if trace is not None and not trace.bake:
            # The program would keep the elements of today.
            raise_here(
                UnsupportedError,
                "a tensor of the surroundings of a jitted function may be written later: pass it as an argument",
                "captured_tensor",
            )
        self.eval()
        result = self._recorded.buffer().numpy()
        result.flags.writeable = False
        return result

    def constant(self) -> np.ndarray:
        """:meth:`numpy` as a constant of what is recorded, which need not be copied."""
        array = self.numpy()
        return np.asarray(Unwritten(array)).view(array.dtype)

    def item(self, *args: int) -> Any:
        """One element as a Python number."""
        return self.numpy().item(*args)

    def tolist(self) -> Any:
        """All elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def to_device(self, device: Device | str, /, *, stream: Any = None) -> Tensor:
        """The tensor on a device, of which there is one so far and no streams. Raises an ``ArgumentValueError`` for others."""
        require_device(device)
        if stream is not None:
            raise ArgumentValueError(f"memory of the host has no streams, got stream={stream!r}  [stream]")
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        self.eval()
        if copy is None and (max_version is None or max_version[0] < 1):
            # Such a capsule cannot say that it is read-only.
            copy = True
        if not copy:
            self._lend()
        source = self._recorded.buffer() if copy else Buffer(self.numpy(), copy=False)
        return source.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def _lend(self) -> None:
        """Makes the memory such that no copy sees what is written there: some libraries write to what they must not."""
        storage = self._array._storage
        if COMMON.get(storage) == storage.version and storage.tensor.is_computed:
            storage.set_back(leaf(storage.tensor.buffer().numpy()).tensor)
            self.eval()
        LENT[storage] = storage.version

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import weftwork

        from . import VERSIONS

        if api_version is not None and api_version not in VERSIONS:
            raise ArgumentValueError(
                f"the array API standard {api_version!r} is not one of {', '.join(VERSIONS)}  [api_version]"
            )
        return weftwork

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __index__(self) -> int:
        return operator.index(self.numpy())

    def __repr__(self) -> str:
        text = np.array2string(self.numpy(), separator=", ", prefix="Tensor(")
        plain = self.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool), np.dtype(complex)) and self.size
        shape = f", shape={self.shape}" if not self.size and self.ndim != 1 else ""
        return f"Tensor({text}{shape}{'' if plain else f', dtype={self.dtype}'})"

    def __str__(self) -> str:
        return str(self.numpy())

    def _repr_html_(self) -> str:
        import html  # large, and for notebooks alone

        kind = f"Tensor {self.dtype}[{', '.join(map(str, self.shape))}]"
        return f"<div><code>{kind}</code><pre>{html.escape(str(self))}</pre></div>"

    def __format__(self, form: str) -> str:
        return format(self.numpy()[()], form)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(np.equal(self, value)))

    def __copy__(self) -> Tensor:
        return tensor_of(copied(self._array), self._length)

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (np.array(self.numpy()),)

    # -- NumPy's protocols -----------------------------------------------------------------------------------------

    # The class is given these by protocols.py: they are made of calls on tensors.
    if TYPE_CHECKING:

        def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def _grew(self, calls: int = 1) -> None:
        """So many calls were recorded on top of what this was."""
        self._length += calls
        if self._length > LONGEST_CHAIN:
            self.eval()


#: The version at which an array had its elements in common with a copy, and at which its memory was lent by DLPack.
COMMON: WeakKeyDictionary[Storage, int] = WeakKeyDictionary()
LENT: WeakKeyDictionary[Storage, int] = WeakKeyDictionary()


def copied(array: TracedArray) -> TracedArray:
    """A copy, which has the elements in common until one of both is written; of memory that was lent, elements of its own."""
    storage, value = array._storage, array.tensor
    if LENT.get(storage) == storage.version and value.is_computed:
        return leaf(value.buffer().numpy())
    result = TracedArray(value)
    COMMON[storage], COMMON[result._storage] = storage.version, result._storage.version
    return result


class Unwritten:
    """The owner of an array's memory to which nobody can write."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__


class Method:
    """A method by name, called as a function of its owner."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        method = getattr(owner, self.__name__)
        return method(*args, **kwargs) if callable(method) or isinstance(method, BoundMethod) else method


def tensor_of(array: TracedArray | Recorded, length: int = 0) -> Tensor:
    """A tensor of an array that is recorded, or of a value that nothing else can write, on top of a chain of so many calls."""
    result = Tensor.__new__(Tensor)
    result._made, result._value = (array, None) if isinstance(array, TracedArray) else (None, array)
    result._length = length
    if length > LONGEST_CHAIN:
        result.eval()
    return result


def eval_all(tensors: list[Tensor]) -> None:
    """Computes what is not there of all of them, as one program."""
    recorded: list[Recorded] = [tensor._recorded for tensor in tensors]
    wanted = [value for value in recorded if not value.is_computed]
    if wanted:
        before = _core.eval_counts()[1]
        _core.evaluate(wanted)
        _, programs, calls, inputs = _core.eval_counts()
        if programs != before:
            note_program(calls, inputs)
    for tensor in tensors:
        tensor._length = 0


#: The user's line → number of calls and inputs of the programs that it compiled. A line that compiles so many is told once.
_PROGRAMS: dict[str, list[tuple[int, str]]] = {}
MANY_PROGRAMS = 16


def note_program(calls: int, inputs: str) -> None:
    """Warns of a line that compiles again and again for other shapes, or for one more turn of a loop each time."""
    place = _core.caller_location().trace_text()
    if len(_PROGRAMS) >= 4096:
        _PROGRAMS.clear()
    programs = _PROGRAMS.setdefault(place, [])
    programs.append((calls, inputs))
    if len(programs) != MANY_PROGRAMS:
        return
    sizes = [size for size, _ in programs]
    if len(set(sizes)) == 1:
        kinds = list(dict.fromkeys(text for _, text in programs[-3:]))
        why = f"their inputs are {'; '.join(kinds)}. Keep shapes the same"
        if len(kinds) == 1:
            why = "their inputs are the same, so that a shape, a slice or a constant differs. Keep these the same"
    elif sizes == sorted(set(sizes)):
        why = f"they have {', '.join(map(str, sizes[-3:]))} calls. Compute what a loop feeds back, so that each turn records the same calls"
    else:
        programs.clear()  # a line that computes this and that
        return
    text = f"{MANY_PROGRAMS} programs were compiled for tensors that are computed at this line: {why}\n{place}"
    warnings.warn(text, RecompilationWarning, stacklevel=4)


def leaf(array: np.ndarray, dtype: Any = None, copy: bool | None = True) -> TracedArray:
    """The elements of a NumPy array, copied unless ``copy`` says otherwise, as a value that is there."""
    buffer = Buffer(array, copy=copy)
    return TracedArray(convert(_core.computed(buffer), dtype))


def require_device(device: Any) -> None:
    """Tensors are computed on the CPU."""
    if device is not None and device != "cpu" and Device(device) != Device():
        raise ArgumentValueError(f"tensors are computed on cpu:0, got device {device!r}  [device]")
