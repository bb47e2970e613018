# Made by scripts/generate_core_stub.py.
"""Weftwork's native core; the package weftwork is its public face."""

from collections.abc import Callable, Iterable, Sequence
import os
from typing import Any, overload

class Dim:
    """
    A symbolic extent: Dim(name, min, opt, max), both bounds included; `opt` is the value to schedule for.
    Supports +, -, *, //, %, min, max with integers and other extents; a comparison that depends on the
    value raises.
    """

    def __init__(self, name: str, min: int = 1, opt: int = 64, max: int = 2147483648) -> None: ...

    @property
    def min(self) -> int: ...

    @property
    def opt(self) -> int: ...

    @property
    def max(self) -> int: ...

    @property
    def symbols(self) -> list: ...

    def substitute(self, arg0: str, arg1: object, /) -> Any:
        """The extent with a symbol replaced by an integer or extent."""

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple: ...

    def __hash__(self) -> int: ...

    def __add__(self, arg: object, /) -> Any: ...

    def __radd__(self, arg: object, /) -> Any: ...

    def __sub__(self, arg: object, /) -> Any: ...

    def __rsub__(self, arg: object, /) -> Any: ...

    def __mul__(self, arg: object, /) -> Any: ...

    def __rmul__(self, arg: object, /) -> Any: ...

    def __neg__(self) -> Any: ...

    def __floordiv__(self, arg: object, /) -> Any: ...

    def __rfloordiv__(self, arg: object, /) -> Any: ...

    def __rmod__(self, arg: object, /) -> Any: ...

    def __mod__(self, arg: object, /) -> Any: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __ne__(self, arg: object, /) -> bool: ...

    def __lt__(self, arg: object, /) -> bool: ...

    def __ge__(self, arg: object, /) -> bool: ...

    def __gt__(self, arg: object, /) -> bool: ...

    def __le__(self, arg: object, /) -> bool: ...

    def __bool__(self) -> bool: ...

def dim_of_text(arg0: str, arg1: object, /) -> Dim:
    """
    The extent of such a text, over symbols given as (name, min, opt, max).
    """

def dim_min(arg0: object, arg1: object, /) -> Any: ...

def dim_max(arg0: object, arg1: object, /) -> Any: ...

def dims_equal(arg0: object, arg1: object, /) -> bool:
    """Whether two extents are the same for every value of the symbols."""

class KnobScope:
    """Values of knobs for this thread, until it is closed."""

    def __init__(self, arg: Sequence[tuple[str, str | None]], /) -> None: ...

    def close(self) -> None: ...

def knob(arg: str, /) -> str:
    """The value of a knob here and now, as text."""

def knob_rows() -> list: ...

def environment_problems() -> list[str]: ...

class Location:
    """A place in the user's program."""

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    def __repr__(self) -> str: ...

    def trace_text(self) -> str: ...

def set_interpreted_calls(calls: object | None) -> None:
    """
    Says who knows the calls that are interpreted on this thread; None: those that Python runs count.
    """

def caller_location() -> Location:
    """The user's line that is running."""

class Graph:
    """A tensor program."""

    @property
    def name(self) -> str: ...

    @property
    def level(self) -> str: ...

    def __len__(self) -> int: ...

    def short_text(self, arg: str, /) -> str: ...

    def mlir(self, arg0: str, arg1: dict, arg2: bool, /) -> str: ...

    def flat(self) -> Graph: ...

    def substitute(self, arg: dict, /) -> Graph: ...

    def equal(self, arg: Graph, /) -> bool:
        """Structural equality, locations aside."""

    def verify(self) -> None: ...

    def interpret(self, arg: object, /) -> list: ...

    @property
    def interpreted_work(self) -> float: ...

    def interpret_kernels(self, arg: object, /) -> list: ...

    def kernels_text(self) -> str: ...

    def cuts(self) -> list[str]: ...

    @property
    def op_names(self) -> list: ...

    @property
    def input_infos(self) -> list: ...

    @property
    def output_infos(self) -> list: ...

    @property
    def functions(self) -> list: ...

def parse(text: str, file: str = '<text>') -> Graph: ...

def interpret_op(arg0: str, arg1: object, /) -> Any:
    """One op without attributes, by the reference interpreter."""

def pass_table() -> list:
    """
    Name, what it does, the level it takes, and why it stands in the pipeline where it does.
    """

def run_passes(graph: Graph, names: Sequence[str], limit: int | None = None) -> tuple:
    """
    The program after these passes, and each application of a rule: the rule, the op, the user's line.
    """

@overload
def shard(graph: Graph, axes: Sequence[tuple[str, int]], parameters: Sequence[Sequence[Sequence[int]]], outputs: Sequence[Sequence[Sequence[int]] | None]) -> tuple:
    """
    The program of each rank of a mesh, and how its outputs are divided: for each dimension the numbers of axes.
    """

@overload
def shard(graph: Graph) -> Graph:
    """The same by what the program says itself."""

def op_table() -> list:
    """The op registry, a dict for each op."""

def hlo_proto(graph: Graph) -> bytes:
    """A serialized xla.HloModuleProto."""

def used_parameters(arg0: object, arg1: object, /) -> list:
    """Which of the parameters the outputs depend on, as indices."""

def read_to_the_last(arg0: object, arg1: object, /) -> list:
    """Of which of the tensors the outputs need each element, as indices."""

def element_work(outputs: object, since: int = 0) -> float:
    """
    About how many elements the calls that the outputs depend on, of those recorded since, take in turn; infinite where that says little.
    """

def computed(buffer: Buffer) -> Tensor:
    """
    The elements of a buffer, which nobody may write from now on, as a recorded value that is there.
    """

def evaluate(tensors: object) -> None:
    """
    Computes recorded values as one program; an error of the program where it ends in one.
    """

def recorded_program(tensors: object) -> Graph:
    """
    The Graph that would compute recorded values of those that are there, its parameters.
    """

def eval_counts() -> tuple:
    """
    How often recorded values were computed, how many programs were made for that, and the newest one's number of calls and types of inputs.
    """

def apply(op: str, operands: object, attrs: object | None = None) -> Tensor: ...

@overload
def apply_all(op: str, operands: object, attrs: object | None = None) -> list: ...

@overload
def apply_all(op: str, operands: object, attrs: object | None = None, regions: object = ()) -> list:
    """A call with all its results."""

def apply_with_body(op: str, body: str, operands: object, attrs: object) -> Tensor: ...

def apply_composite(name: str, operands: object, decomposition: Graph, attributes: str) -> list: ...

class Tensor:
    """A recorded value."""

    @property
    def dtype(self) -> Any: ...

    @property
    def shape(self) -> tuple: ...

    @property
    def ndim(self) -> int: ...

    @property
    def is_wide(self) -> bool:
        """Whether more than one axis may have more than one element."""

    @property
    def op(self) -> str: ...

    @property
    def loc(self) -> Location: ...

    @property
    def serial(self) -> int:
        """Grows with every call that is recorded."""

    @property
    def is_computed(self) -> bool:
        """Whether the elements are there."""

    def buffer(self) -> Buffer:
        """The elements of a value that is computed."""

    def is_same(self, arg: Tensor, /) -> bool: ...

    def type_text(self) -> str: ...

    def constant(self) -> Any:
        """The value of a constant as an array; None for anything computed."""

def parameter(shape: object, dtype: object, name: str, from_outside: bool = False) -> Tensor: ...

def constant(array: object, live: bool = False) -> Tensor: ...

def broadcast_shapes(*args) -> tuple: ...

def same_value(arg0: Tensor, arg1: Tensor, /) -> bool:
    """Whether both are the same calls on the same placeholders."""

def next_serial() -> int: ...

def record_region(parameters: object, outputs: object, since: int, effects: object = ()) -> tuple:
    """
    The body of a loop: (Graph, tensors of the surroundings that it takes after its own parameters).
    """

def record_graph(name: str, parameters: object, outputs: object, effects: object = ()) -> Graph:
    """A Graph of (tensor, name, alias) triples: parameters and outputs."""

def elementwise_names() -> list:
    """The names of the functions of NumPy that elementwise knows."""

def special_names() -> list:
    """The names of the functions of scipy.special that elementwise knows."""

def total_type(arg: object, /) -> Any:
    """
    The dtype in which NumPy adds and multiplies up: small integers and booleans as 64 bits.
    """

def reduction(name: str, x: Tensor, axes: object | None, keepdims: bool = False, dtype: object | None = None, initial: object | None = None, where: object | None = None, ddof: float = 0.0, mean: object | None = None) -> Tensor:
    """
    NumPy's sum, prod, max, min, any, all, mean, var or std. `dtype` is what is computed in, and of the result; the others are as in NumPy.
    """

def place(name: str, x: Tensor, axis: object | None, keepdims: bool = False) -> Tensor:
    """NumPy's argmax or argmin."""

def linspace(start: object, stop: object, count: object, endpoint: bool = True, dtype: object | None = None, axis: object = 0, weak: int = 0) -> tuple:
    """
    NumPy's function: the numbers, and their distance. Operands and `weak` as of elementwise.
    """

def elementwise(ufunc: str, x: object, y: object | None = None, weak: int = 0, in_loop: bool = False) -> Any:
    """
    The result of NumPy's element-wise function of that name, or a pair of results; None where it is not among those that C++ has, or
    types of ml_dtypes meet others. Operands are recorded values and Python's numbers; bit i of `weak` says that operand i, a value, promotes as a number of Python's; `in_loop` that they have the types that NumPy computes in.
    """

def where(condition: Tensor, x: object, y: object, weak: int = 0) -> Any:
    """
    NumPy's where of three arguments; None where types of ml_dtypes meet others. Operands and `weak`, of x and y, as of elementwise.
    """

def clip(x: Tensor, low: object | None, high: object | None, weak: int = 0) -> Any:
    """
    NumPy's clip, where None bounds nothing; None where types of ml_dtypes meet others. Operands and `weak`, of the bounds, as of elementwise.
    """

def cast(x: Tensor, dtype: object) -> Tensor:
    """The value as ndarray.astype would give it."""

def current_trace() -> Any:
    """The trace that runs on this thread, or None."""

def swap_trace(trace: object | None) -> Any:
    """
    Makes a trace, or None, the one that this package's own functions record in on this thread, and returns the one before.
    """

def set_lazy_arrays(type: type, longest: int, tensor_of: object) -> None:
    """
    Says what `operated` takes for lazy arrays, and how one of a recorded value is made that is on top of a chain of more than so many calls.
    """

def operated(ufunc: str, x: object, y: object | None = None) -> Any:
    """
    The result of NumPy's element-wise function of that name on lazy arrays and Python's numbers; None where that takes the longer way: other operands, a function that is traced, an error to be explained.
    """

def set_traced_arrays(type: type, storage: type, births: object, note_created: object) -> None:
    """
    Says what `traced_operated` takes for traced arrays, and what it makes them of.
    """

def traced_operated(ufunc: str, x: object, y: object | None = None) -> Any:
    """
    The array that NumPy's element-wise function of that name gives of traced arrays and Python's numbers; None where that takes the longer way: other operands, two results, a layout to be followed, an error.
    """

def arange(arg0: object, arg1: object, arg2: object, arg3: object, /) -> Tensor: ...

def eye(arg0: object, arg1: object, arg2: object, arg3: object, /) -> Tensor: ...

def reshape(arg0: Tensor, arg1: object, /) -> Tensor:
    """
    NumPy's function: a view where calls that only move elements suffice, of which moves() tells.
    """

def transpose(x: Tensor, axes: object | None = None) -> Tensor: ...

def swapaxes(arg0: Tensor, arg1: object, arg2: object, /) -> Tensor: ...

def moveaxis(arg0: Tensor, arg1: object, arg2: object, /) -> Tensor: ...

def expand_dims(arg0: Tensor, arg1: object, /) -> Tensor: ...

def squeeze(x: Tensor, axes: object | None = None) -> Tensor: ...

def broadcast_to(arg0: Tensor, arg1: object, /) -> Tensor: ...

def flip(x: Tensor, axes: object | None = None) -> Tensor: ...

def concatenate(tensors: object, axis: object | None) -> Tensor: ...

def stack(arg0: object, arg1: object, /) -> Tensor: ...

def split(arg0: Tensor, arg1: object, arg2: object, /) -> list: ...

def array_split(arg0: Tensor, arg1: object, arg2: object, /) -> list: ...

def split_at(arg0: Tensor, arg1: object, arg2: object, /) -> list:
    """NumPy's split at places."""

def repeat(arg0: Tensor, arg1: object, arg2: object, /) -> Tensor: ...

def tile(arg0: Tensor, arg1: object, /) -> Tensor: ...

def pad(arg0: Tensor, arg1: object, arg2: Tensor, /) -> Tensor: ...

def roll(arg0: Tensor, arg1: object, arg2: object, /) -> Tensor: ...

def tril(arg0: Tensor, arg1: object, /) -> Tensor: ...

def triu(arg0: Tensor, arg1: object, /) -> Tensor: ...

def index(x: Tensor, items: object) -> Tensor:
    """
    x[items] of integers, ranges, new axes, an ellipsis, and places that are known to lie inside.
    """

def update(x: Tensor, items: object, value: Tensor, combine: object | None = None) -> Tensor:
    """
    The value after x[items] = value, or with what an operation makes of both.
    """

def places_of(indices: Tensor, extent: object, axis: int) -> tuple:
    """
    Indices of an axis counted from its beginning, and whether none of them has to be looked at when the program runs; an error where one that is known lies outside.
    """

def require_inside(arg0: int, arg1: object, arg2: int, /) -> None: ...

def diagonal(arg0: Tensor, arg1: object, arg2: object, arg3: object, /) -> Tensor: ...

class Move:
    """A call that only moves elements, as a step of a view."""

    @property
    def op(self) -> str: ...

    @property
    def attrs(self) -> dict: ...

    def read(self, arg: Tensor, /) -> Tensor: ...

    def write(self, base: Tensor, part: Tensor) -> Tensor:
        """The base with the part in the place of what read gives."""

    def __eq__(self, other: object | None) -> bool: ...

    def __hash__(self) -> int: ...

def moves(arg0: Tensor, arg1: Tensor, /) -> Any:
    """
    The moves that made a part of a value, the first of them first; None where it is made of it in another way.
    """

def matmul(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def dot(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def inner(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def vdot(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def outer(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def vecdot(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def matvec(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def vecmat(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def tensordot(arg0: Tensor, arg1: Tensor, arg2: object, arg3: object, /) -> Tensor: ...

def einsum(arg0: str, arg1: object, /) -> Tensor: ...

def packed_lu(arg: Tensor, /) -> tuple[Tensor, Tensor]: ...

def packed_qr(arg: Tensor, /) -> tuple[Tensor, Tensor]: ...

def reflected(arg0: Tensor, arg1: Tensor, /) -> Tensor: ...

def singular_vectors(arg0: Tensor, arg1: bool, /) -> tuple: ...

def singular_values(arg: Tensor, /) -> Tensor: ...

def hermitian_values(arg0: Tensor, arg1: bool, arg2: bool, /) -> tuple[Tensor, Tensor]: ...

def general_values(arg0: Tensor, arg1: bool, /) -> tuple[Tensor, Tensor]: ...

class Device:
    """
    Where programs run, and the memory there: ``wf.Device("cpu:1")``. The devices of the CPU are numbered from 0 to 1023
    and come into being when they are named: each has memory statistics, a limit and a queue of asynchronous runs of
    its own, all share the CPUs and the threads. ``neuron:0`` and so on are the NeuronCores that the Neuron runtime
    shows to this process, which it holds from the first naming of one on.

    Raises an :class:`ArgumentValueError` that lists the devices for a name that there is not, and an
    :class:`ExecutionError` where a Neuron device is named and its runtime cannot be loaded or begun.
    """

    def __init__(self, name: object = 'cpu:0') -> None: ...

    @property
    def name(self) -> str:
        """Kind and number: 'cpu:0'."""

    @property
    def kind(self) -> str:
        """'cpu' or 'neuron'."""

    @property
    def index(self) -> int:
        """Its number among those of its kind."""

    @property
    def memory(self) -> dict:
        """
        Bytes: 'in_use', the 'peak' of that, 'kept' for who asks next, the 'limit' (0: none); and the number of 'allocations'.
        """

    @property
    def memory_limit(self) -> int:
        """
        Bytes that may be in use at once, 0 for as many as there are. What does not fit raises an :class:`ExecutionError`.
        """

    @memory_limit.setter
    def memory_limit(self, arg: int, /) -> None: ...

    def synchronize(self) -> None:
        """
        Waits for all asynchronous runs; their errors are kept for who waits for them. Ctrl-C ends the waiting.
        """

    def release_unused(self) -> None:
        """Gives memory that is kept for later back to the system."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

def devices() -> list[Device]:
    """All devices that there are so far, those of the CPU first."""

class Buffer:
    """
    Dense row-major elements on a device.

    ``wf.Buffer(array)`` is the memory of a NumPy array, of an object with ``__dlpack__`` (such as a tensor of torch or an
    array of jax) or with the buffer protocol, used where it lies and not written where it is read-only. What is not dense,
    aligned or of this machine's byte order is copied. ``copy=True`` copies always, ``copy=False`` raises an
    :class:`ArgumentValueError` instead; on a device without memory of the host elements are always copied.

    ``wf.Buffer(shape, dtype)`` has elements that are not set. ``device`` is a :class:`Device` or its name.

    A buffer is handed on without a copy by ``numpy()``, ``memoryview(buffer)`` and ``__dlpack__``; its memory lives as
    long as anyone uses it. Pickles hold the elements and are read back on ``cpu:0``.

    >>> import numpy as np, weftwork as wf
    >>> wf.Buffer(np.ones((4, 3), np.float32))[1:3]
    <weftwork.Buffer float32[2, 3] on cpu:0>
    """

    def __init__(self, source: object | None, dtype: object | None = None, *, device: object | None = None, copy: object | None = None) -> None: ...

    @property
    def shape(self) -> tuple:
        """The extents, a tuple of ints."""

    @property
    def dtype(self) -> Any:
        """The NumPy dtype; of ml_dtypes for what NumPy lacks."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def device(self) -> Device:
        """Where the elements are."""

    @property
    def writable(self) -> bool:
        """Whether programs may write the elements."""

    def numpy(self) -> Any:
        """
        An array over the same memory, read-only where the buffer is. TypeError for a device without memory of the host.
        """

    def reshape(self, *args) -> Buffer:
        """The same elements with another shape; -1 stands for what is left."""

    def to(self, device: object) -> Buffer:
        """A copy on a device."""

    def copy_from(self, other: object) -> None:
        """
        Takes the elements of a buffer or array of the same shape and dtype, of any device.
        """

    def __getitem__(self, index: object | None) -> Buffer: ...

    def __len__(self) -> int: ...

    def __array__(self, dtype: object | None = None, copy: object | None = None) -> Any: ...

    def __dlpack__(self, *, stream: object | None = None, max_version: object | None = None, dl_device: object | None = None, copy: object | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple: ...

    def __reduce__(self) -> tuple: ...

    def __repr__(self) -> str: ...

class Executable:
    """A compiled program."""

    def profile(self, arg: Callable, /) -> tuple:
        """
        (seconds, [(count, total, min) of each launch]) of the runs that a function makes on this thread.
        """

    @property
    def launch_infos(self) -> list: ...

    @property
    def cut_infos(self) -> list: ...

    def save(self, arg0: str | os.PathLike, arg1: Sequence[str], /) -> None: ...

    def package(self) -> Package: ...

    def content(self) -> bytes:
        """The bytes that its file would have."""

    @property
    def graph(self) -> Graph:
        """What it was compiled from."""

    @property
    def target(self) -> str: ...

    @property
    def device(self) -> Device: ...

    @property
    def name(self) -> str: ...

    @property
    def input_infos(self) -> list: ...

    @property
    def output_infos(self) -> list: ...

    @property
    def kernel_infos(self) -> list: ...

    @property
    def memory(self) -> dict: ...

    @property
    def times(self) -> dict: ...

def is_recording() -> bool: ...

def span_clock() -> int: ...

def record_span(category: str, name: str, arguments: str, begin: int) -> None: ...

def start_recording() -> int: ...

def stop_recording(path: str | os.PathLike, since: int) -> None: ...

def write_file(arg0: str | os.PathLike, arg1: bytes, /) -> None:
    """Writes a file that appears whole or not at all."""

class Package:
    """What an executable's file holds; none of its machine code is loaded."""

    @property
    def builds(self) -> list: ...

    def graph(self) -> Graph: ...

    def assembly(self, arg: int, /) -> list:
        """(function, text) for each function of a build's machine code."""

def read_package(arg: str | os.PathLike, /) -> Package: ...

def graph_content(arg: Graph, /) -> bytes:
    """The bytes that graph_of_content makes the program of."""

def graph_of_content(arg: bytes, /) -> Graph: ...

def compile(graph: Graph, target: str = 'native', keep: object | None = None, device: object | None = None, tiered: bool = False, checks: bool = True) -> Executable: ...

def export_object(graph: Graph, name: str, target: str = 'native') -> tuple:
    """The bytes of an ELF object file, and the text of its C header."""

def load(path: str | os.PathLike, target: str = 'native', device: object | None = None) -> Executable: ...

def load_content(content: bytes, target: str = 'native', device: object | None = None) -> Executable:
    """The executable whose content it is."""

def check_written(arg0: Graph, arg1: object, /) -> None:
    """Raises where an array that the program writes cannot be written."""

def cache_info() -> tuple: ...

def clear_cache() -> None: ...

def set_num_threads(n: int) -> None:
    """Threads that runs use from here on; 0: one for each CPU."""

def num_threads() -> int: ...

def use_lapack(path: str) -> bool:
    """
    Whether the library at this path has a LAPACK, to which large matrices are left from here on.
    """

def load_neff(neff: bytes, device: Device, graph: Graph | None = None) -> Executable: ...

def call(arg0: Executable, arg1: object, /) -> Any:
    """One result, or a tuple of them."""

def run_async(arg0: Executable, arg1: object, /) -> PendingRun: ...

def benchmark(arg0: Executable, arg1: object, arg2: int, arg3: int, /) -> dict: ...

def synchronize(arg: Device, /) -> None: ...

def stop_queues() -> None: ...

class PendingRun:
    """
    A run that :meth:`weftwork.Executable.run_async` began; ``await`` it, or call ``wait()``.
    """

    def wait(self) -> Any:
        """
        Waits, and returns what the call would; raises what it would, every time. Ctrl-C ends the waiting, not the run.
        """

    def done(self) -> bool:
        """Whether the run is over, by an error or not."""

    def __await__(self) -> Any: ...

    def __repr__(self) -> str: ...

def set_tracing(on: bool) -> None:
    """Says whether a function is traced on this thread."""

def turned_axes(array: object) -> Any:
    """
    The axes of an array whose elements fill its memory in another order than by rows, from the outermost to the innermost; None for all others.
    """

class Plan:
    """A way through a jitted function for a signature."""

    def __init__(self, executable: object | None, input_leaves: object, captured: object, outputs: object, build_result: object | None, layout_leaves: object, entries: object, guard: object | None, extra_inputs: int) -> None: ...

    @property
    def steps(self) -> Any: ...

    @steps.setter
    def steps(self, steps: object | None) -> None: ...

    @property
    def pieces(self) -> Any: ...

    @pieces.setter
    def pieces(self, pieces: object | None) -> None: ...

    @property
    def has_trial(self) -> bool: ...

    @has_trial.setter
    def has_trial(self, arg: bool, /) -> None: ...

    @property
    def is_measured_aside(self) -> bool: ...

    @is_measured_aside.setter
    def is_measured_aside(self, arg: bool, /) -> None: ...

    @property
    def plain_nanoseconds(self) -> int: ...

    @property
    def core(self) -> Any: ...

    @property
    def build_result(self) -> Any: ...

    @property
    def guard(self) -> Any: ...

    @property
    def objects(self) -> list: ...

    def with_objects(self, build_result: object | None, entries: object, guard: object | None, steps: object | None) -> Plan: ...

    @property
    def key(self) -> Any: ...

    @property
    def named(self) -> list: ...

    @property
    def inputs_version(self) -> int: ...

    @inputs_version.setter
    def inputs_version(self, arg: int, /) -> None: ...

    def finish(self) -> None: ...

    def enter(self, *args) -> Any: ...

    def run(self, leaves: tuple, extra: object) -> Any: ...

class Dispatcher:
    """The cached call of a jitted function."""

    def __init__(self, arg0: object, arg1: object, arg2: object, arg3: object, arg4: object, arg5: tuple, arg6: dict, arg7: tuple, arg8: bool, /) -> None: ...

    def __call__(self, *args, **kwargs) -> Any: ...

    def clear_plans(self) -> None: ...

    @property
    def plan_count(self) -> int: ...

    @property
    def cores(self) -> list: ...

    def plans(self) -> list: ...

    def plans_for(self, *args, **kwargs) -> list: ...

    def alike(self, *args, **kwargs) -> tuple: ...

    def holds(self, arg0: Plan, /, *args, **kwargs) -> bool: ...

    def drop(self, plan: Plan) -> None: ...

    def integers_of(self, *args, **kwargs) -> list: ...

    def set_inputs(self, paths: Iterable) -> int: ...

    @property
    def inputs_version(self) -> int: ...

    @property
    def is_plain(self) -> bool: ...

    @is_plain.setter
    def is_plain(self, arg: bool, /) -> None: ...

    @property
    def compiled_calls(self) -> int: ...

    @compiled_calls.setter
    def compiled_calls(self, arg: int, /) -> None: ...

    @property
    def piece_calls(self) -> int: ...

    @piece_calls.setter
    def piece_calls(self, arg: int, /) -> None: ...

    @property
    def plain_calls(self) -> int: ...

    @plain_calls.setter
    def plain_calls(self, arg: int, /) -> None: ...

    @property
    def given_back(self) -> int: ...

    @property
    def most_plans(self) -> int: ...

    @most_plans.setter
    def most_plans(self, arg: int, /) -> None: ...

def add_custom_op(name: str, infer: object, evaluate: object | None, native: int) -> None: ...

def capsule_address(arg: object, /) -> int:
    """The address that a PyCapsule holds."""

class Communicator:
    """
    One rank's end of what ranks exchange; made by :func:`weftwork.distributed.init`. Its calls are those of the
    module, made by one thread at a time.
    """

    @property
    def rank(self) -> int:
        """The number of this rank, from 0."""

    @property
    def size(self) -> int:
        """How many ranks there are."""

    def close(self) -> None:
        """Says that this rank makes no more calls; ranks that wait for it raise."""

    def run(self, kind: str, array: object, op: str = 'sum', groups: object | None = None, pairs: object | None = None, root: int = 0, axis: int = 0, shape: object | None = None, out: object | None = None) -> Any:
        """
        One collective by its name; the functions of the module say what each does.
        """

    def __repr__(self) -> str: ...

def set_thread_communicator(communicator: Communicator | None) -> None:
    """
    The communicator of programs that this thread runs, for as long as somebody keeps it; None: that of the process.
    """

def set_process_communicator(communicator: Communicator | None) -> None: ...

def set_joining() -> None:
    """Has programs join the launch where nobody has."""

def local_communicators(arg0: int, arg1: float, /) -> list: ...

def shared_memory_communicator(arg0: str, arg1: int, arg2: int, arg3: float, /) -> Communicator: ...

def carried_communicator(arg0: object, arg1: int, arg2: int, arg3: float, /) -> Communicator: ...
