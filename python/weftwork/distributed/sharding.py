"""One program for all ranks of a mesh: arguments and results are divided among them."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from ..device import Lent
from ..errors import ArgumentTypeError, ArgumentValueError
from ..graph import Executable, Graph
from ..jit import native_executable, plain_function
from ..knobs import target_name
from ..lazy.tensor import Tensor, tensor_of
from ..numpy.tracer import TracedArray, as_tensor
from ..pytree import flatten
from ..result import LEAF, NUMBER, SCALAR
from ..spec import Spec
from ..trace import Traced, is_array_leaf, positional_names
from .collectives import all_gather
from .ranks import rank as current_rank

__all__ = ["Mesh", "Sharded", "Sharding", "constrain", "shard", "shard_graph"]

#: What divides a dimension: an axis of the mesh, several from major to minor, or none.
Divisor = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Mesh:
    """Ranks in a grid, numbered row by row, whose axes have names.

    >>> import weftwork as wf
    >>> mesh = wf.distributed.Mesh((2, 4), ("data", "model"))
    >>> mesh.size, mesh.coordinates(6), mesh.group("data", 6)
    (8, {'data': 1, 'model': 2}, [2, 6])
    """

    shape: tuple[int, ...]
    axes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(int(extent) for extent in self.shape))
        object.__setattr__(self, "axes", tuple(self.axes))
        names = all(isinstance(name, str) and name.isidentifier() for name in self.axes)
        if (
            not names
            or len(self.shape) != len(self.axes)
            or len(set(self.axes)) != len(self.axes)
            or min(self.shape, default=1) < 1
        ):
            raise ArgumentValueError(
                f"a mesh needs a name of its own and an extent of 1 or more for each axis, got {self.shape} and {self.axes}  [mesh]"
            )

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return math.prod(self.shape)

    def coordinates(self, rank: int | None = None) -> dict[str, int]:
        """Where a rank, or this one, stands along each axis."""
        place = np.unravel_index(self._rank(rank), self.shape) if self.shape else ()
        return {axis: int(at) for axis, at in zip(self.axes, place, strict=True)}

    def group(self, axis: str, rank: int | None = None) -> list[int]:
        """The ranks that differ from a rank, or this one, along ``axis`` alone: a group for collectives."""
        place = list(self.coordinates(rank).values())
        at = self._number(axis)
        return [
            int(np.ravel_multi_index((*place[:at], i, *place[at + 1 :]), self.shape)) for i in range(self.shape[at])
        ]

    def sharding(self, *divisors: Divisor) -> Sharding:
        """Dimension i is divided by ``divisors[i]``, the dimensions after those by none; without any all is everywhere.

        >>> import weftwork as wf
        >>> wf.distributed.Mesh((2, 4), ("data", "model")).sharding("data", None).part_shape((6, 5))
        (3, 5)
        """
        return Sharding(self, divisors)

    def _rank(self, rank: int | None) -> int:
        rank = current_rank() if rank is None else rank
        if not 0 <= rank < self.size:
            raise ArgumentValueError(f"a mesh of {self.size} ranks has no rank {rank}  [mesh]")
        return rank

    def _number(self, axis: str) -> int:
        if axis not in self.axes:
            raise ArgumentValueError(f"the mesh has the axes {self.axes}, not {axis!r}  [mesh]")
        return self.axes.index(axis)


@dataclass(frozen=True)
class Sharding:
    """How an array is divided among the ranks of a mesh: see :meth:`Mesh.sharding`."""

    mesh: Mesh
    divisors: tuple[Divisor, ...] = ()

    def __post_init__(self) -> None:
        named = [axis for number in range(len(self.divisors)) for axis in self._axes(number)]
        if len(set(map(self.mesh._number, named))) != len(named):
            raise ArgumentValueError(f"an axis of the mesh divides one dimension, got {self.divisors}  [sharding]")

    def part_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a rank's part of an array. Raises an :class:`ArgumentValueError` where a dimension has no equal parts."""
        self._require_rank(shape)
        parts = [self._parts(number) for number in range(len(shape))]
        for number, (extent, count) in enumerate(zip(shape, parts, strict=True)):
            if extent % count:
                raise ArgumentValueError(
                    f"dimension {number} of an array of shape {tuple(shape)} cannot be divided into {count} equal parts  [sharding]"
                )
        return tuple(extent // count for extent, count in zip(shape, parts, strict=True))

    def whole_shape(self, part_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the array whose parts have this one."""
        self._require_rank(part_shape)
        return tuple(extent * self._parts(number) for number, extent in enumerate(part_shape))

    def part(self, array: Any, rank: int | None = None) -> Any:
        """A rank's part, or this one's, of a whole array: a view."""
        shape, place, index = self.part_shape(np.shape(array)), self.mesh.coordinates(rank), []
        for number, extent in enumerate(shape):
            at = 0
            for axis in self._axes(number):
                at = at * self.mesh.shape[self.mesh._number(axis)] + place[axis]
            index.append(slice(at * extent, (at + 1) * extent))
        return np.asarray(array)[tuple(index)]

    def whole(self, part: Any) -> Any:
        """The array of which every rank gives its part; all ranks call it."""
        self._require_rank(np.shape(part))
        for number in range(len(self.divisors)):
            # From the minor axis on, whose parts lie beside each other.
            for axis in reversed(self._axes(number)):
                part = all_gather(part, axis=number, group=self.mesh.group(axis))
        return part

    def _text(self, rank: int) -> str:
        """As Shardy writes it."""
        axes = ", ".join(f"{name}={extent}" for name, extent in zip(self.mesh.axes, self.mesh.shape, strict=True))
        return f"mesh<[{axes}]>, [{', '.join('{' + ', '.join(self._axes(number)) + '}' for number in range(rank))}]"

    def _axes(self, number: int) -> tuple[str, ...]:
        divisor = self.divisors[number] if number < len(self.divisors) else None
        return () if divisor is None else (divisor,) if isinstance(divisor, str) else tuple(divisor)

    def _parts(self, number: int) -> int:
        return math.prod(self.mesh.shape[self.mesh._number(axis)] for axis in self._axes(number))

    def _require_rank(self, shape: Sequence[int]) -> None:
        if any(self._axes(number) for number in range(len(shape), len(self.divisors))):
            raise ArgumentValueError(
                f"an array of shape {tuple(shape)} cannot be divided as {self.divisors} says  [sharding]"
            )

    def _numbers(self, rank: int) -> list[list[int]]:
        return [[self.mesh._number(axis) for axis in self._axes(number)] for number in range(rank)]


@dataclass
class _Program:
    traced: Traced
    graph: Any
    results: Any  # a sharding for each array
    executable: Executable | None = None  # made by the first call: who looks at the program alone compiles nothing


class Sharded:
    """A function that every rank of a mesh calls with its parts; made by :func:`shard`."""

    def __init__(self, function: Callable[..., Any], mesh: Mesh, in_shardings: Any, out_shardings: Any) -> None:
        self.mesh, self.in_shardings, self.out_shardings = mesh, in_shardings, out_shardings
        self._function, self._options = plain_function(function)
        self._programs: dict[Any, _Program] = {}
        self._making = threading.Lock()
        functools.update_wrapper(self, self._function)

    def __call__(self, *parts: Any) -> Any:
        lent = Lent([], (), parts, {})
        program = self._program(lent.args)
        leaves = [leaf for _, leaf in self._leaves(lent.args)]
        traced = program.traced
        results = self._compiled(program)(*(leaves[i] for i, _ in traced.input_leaves), *traced.captured)
        results = results if isinstance(results, tuple) else (results,)
        values = []
        for slot in traced.slots:
            value = leaves[slot.index] if slot.source == LEAF else results[slot.index]
            values.append(value.item() if slot.form == NUMBER else value[()] if slot.form == SCALAR else value)
        return lent.result(traced.build_result(values))

    def graph(self, *parts: Any) -> Graph:
        """The program of a rank for such parts, or ``wf.spec(shape, dtype)`` of them: with its collectives, at the lines of
        the function that need them."""
        return Graph(self._program(Lent([], (), parts, {}).args).graph)

    def result_shardings(self, *parts: Any) -> Any:
        """How the result is divided: a :class:`Sharding` in the place of each array."""
        return self._program(Lent([], (), parts, {}).args).results

    def _leaves(self, parts: tuple[Any, ...]) -> list[tuple[str, Any]]:
        names = positional_names(self._function)
        names += [f"arg{i}" for i in range(len(names), len(parts))]
        return [
            leaf for name, part in zip(names, parts, strict=False) for leaf in flatten(part, is_array_leaf, name)[0]
        ]

    def _program(self, parts: tuple[Any, ...]) -> _Program:
        key = _key_of(parts)
        found = self._programs.get(key)
        if found is None:
            # Ranks that are threads come at once, and one program is enough.
            with self._making:
                found = self._programs.get(key) or self._programs.setdefault(key, self._made(parts))
        return found

    def _compiled(self, program: _Program) -> Executable:
        if program.executable is None:
            with self._making:
                if program.executable is None:
                    target = target_name(self._options.target)
                    program.executable = Executable(
                        native_executable(Graph(program.graph), target, self._options.device)
                    )
        return program.executable

    def _made(self, parts: tuple[Any, ...]) -> _Program:
        shardings: list[Sharding] = []
        wholes = [
            _mapped(part, given, self.mesh, functools.partial(_whole_of, shardings))
            for part, given in zip(parts, self._given(self.in_shardings, len(parts)), strict=True)
        ]
        traced = self._options.trace(self._function, tuple(wholes), {}, bake=True)
        inputs = [shardings[i] for i, _ in traced.input_leaves]
        divided = [s._numbers(len(info[2])) for s, info in zip(inputs, traced.graph.input_infos, strict=False)]
        divided += [[[] for _ in captured.shape] for captured in traced.captured]
        ranks = [len(info[2]) for info in traced.graph.output_infos]
        wanted = self._wanted(traced, ranks)
        axes = list(zip(self.mesh.axes, self.mesh.shape, strict=True))
        graph, outputs = _core.shard(traced.graph, axes, divided, wanted)
        results = [
            shardings[slot.index] if slot.source == LEAF else self._sharding(outputs[slot.index])
            for slot in traced.slots
        ]
        return _Program(traced, graph, traced.build_result(results))

    def _given(self, shardings: Any, count: int) -> Sequence[Any]:
        if shardings is None or isinstance(shardings, Sharding):
            return [shardings] * count
        if len(shardings) != count:
            raise ArgumentValueError(f"in_shardings has {len(shardings)} items for {count} arguments  [sharding]")
        return shardings

    def _wanted(self, traced: Traced, ranks: list[int]) -> list[Any]:
        """For each output what ``out_shardings`` says, as numbers of axes; None where it says nothing."""
        if self.out_shardings is None:
            return [None] * len(ranks)
        marks = [_Mark(i) for i in range(len(traced.slots))]
        found: dict[int, Sharding | None] = {}
        _mapped(
            traced.build_result(list(marks)),
            self.out_shardings,
            self.mesh,
            lambda mark, s: found.setdefault(mark.slot, s),
            _Mark,
        )
        wanted: list[Any] = [None] * len(ranks)
        for number, sharding in found.items():
            slot = traced.slots[number]
            if slot.source != LEAF and sharding is not None:
                sharding._require_rank((0,) * ranks[slot.index])
                wanted[slot.index] = sharding._numbers(ranks[slot.index])
        return wanted

    def _sharding(self, numbers: list[list[int]]) -> Sharding:
        axes = [tuple(self.mesh.axes[i] for i in dim) for dim in numbers]
        return self.mesh.sharding(*(None if not dim else dim[0] if len(dim) == 1 else dim for dim in axes))


@dataclass(eq=False)
class _Mark:
    """Stands for an array of the result."""

    slot: int


def _key_of(value: Any) -> Any:
    """What a program depends on: structure, shapes, dtypes, and values that are no arrays."""
    if isinstance(value, Spec):
        return tuple(value.shape), np.dtype(value.dtype)
    if is_array_leaf(value):
        return np.shape(value), getattr(value, "dtype", type(value))
    if type(value) is dict:
        return dict, tuple((key, _key_of(item)) for key, item in value.items())
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_key_of, value))
    is_other_array = hasattr(value, "__array__") or hasattr(value, "__dlpack__")
    if is_other_array or getattr(type(value), "__hash__", None) is None:
        raise ArgumentTypeError(
            f"NumPy's arrays, containers of them and values that can be hashed are wanted, got {type(value).__name__}  [argument]"
        )
    return type(value), value


def _mapped(value: Any, sharding: Any, mesh: Mesh, function: Callable[..., Any], leaf: type | None = None) -> Any:
    """``function(leaf, sharding)`` of each array of nested containers. ``sharding`` is nested alike; one Sharding, or None,
    is that of all that it stands for."""
    if isinstance(sharding, Sharding) and sharding.mesh != mesh:
        raise ArgumentValueError(f"a sharding of another mesh is given: {sharding.mesh}, not {mesh}  [sharding]")
    one = sharding is None or isinstance(sharding, Sharding)
    if isinstance(value, leaf) if leaf else is_array_leaf(value):
        if not one:
            raise ArgumentTypeError(
                f"a Sharding or None is wanted for an array, got {type(sharding).__name__}  [sharding]"
            )
        return function(value, sharding)
    if type(value) is dict:
        if not one and (type(sharding) is not dict or sharding.keys() != value.keys()):
            raise ArgumentValueError(f"shardings must have the keys of what they are for: {list(value)}  [sharding]")
        return {
            key: _mapped(item, sharding if one else sharding[key], mesh, function, leaf) for key, item in value.items()
        }
    if isinstance(value, (tuple, list)):
        if not one and (not isinstance(sharding, (tuple, list)) or len(sharding) != len(value)):
            raise ArgumentValueError(f"shardings must be as many as what they are for: {len(value)}  [sharding]")
        items = [_mapped(item, sharding if one else sharding[i], mesh, function, leaf) for i, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _whole_of(shardings: list[Sharding], part: Any, sharding: Sharding | None) -> Any:
    """What is traced in the place of a rank's part."""
    if not isinstance(part, (np.ndarray, Spec)):
        shardings.append(Sharding(sharding.mesh) if sharding else Sharding(Mesh((), ())))
        return part
    sharding = sharding or Sharding(Mesh((), ()))
    shardings.append(sharding)
    return Spec(sharding.whole_shape(tuple(part.shape)), part.dtype)


def shard(function: Callable[..., Any], mesh: Mesh, in_shardings: Any = None, out_shardings: Any = None) -> Sharded:
    """Makes of a function of whole arrays one that each rank of ``mesh`` calls with its parts of them.

    ``in_shardings`` says how the positional arguments are divided, one for each: a :class:`Sharding`, None (every rank has all
    of it), or containers of these as the argument has; one Sharding stands for all arrays in what it is given for.
    ``out_shardings`` says the same of the result; where it is None, results are divided as is cheapest, which
    :meth:`Sharded.result_shardings` tells. The function is compiled once for all ranks, as one program with collectives
    where parts must be combined; what it reads from its surroundings is part of it (see ``wf.trace``). Sums over divided
    dimensions are rounded in another order than on one rank.

    Raises an :class:`ArgumentValueError`, label ``sharding``, for extents that cannot be divided into equal parts, and what
    ``wf.trace`` raises for functions that are no program. Arguments may be lazy tensors or buffers, as those of jitted functions.

    >>> import numpy as np, weftwork as wf
    >>> mesh = wf.distributed.Mesh((2,), ("data",))
    >>> rows = mesh.sharding("data")
    >>> mean = wf.distributed.shard(lambda x: x.mean(0), mesh, [rows])
    >>> x = np.arange(8.0).reshape(4, 2)
    >>> wf.distributed.spawn(lambda: mean(rows.part(x)).tolist(), 2, method="thread")
    [[3.0, 4.0], [3.0, 4.0]]
    """
    return Sharded(function, mesh, in_shardings, out_shardings)


def constrain(array: Any, sharding: Sharding) -> Any:
    """In a function that :func:`shard` divides: the array, which is divided so from here on. Anywhere else the array itself.

    A lazy tensor keeps what is said of it: :func:`shard_graph` divides ``tensor.graph()`` by it.
    """
    sharding.part_shape(np.shape(array))
    if not isinstance(array, (TracedArray, Tensor)):
        return array
    tensor = array._recorded if isinstance(array, Tensor) else as_tensor(array)
    parameter = _core.parameter(tensor.shape, tensor.dtype, "x")
    identity = _core.record_graph("sharding_constraint", [(parameter, "x", -1)], [(parameter, "", -1)], []).flat()
    config = f'{{sharding = "{sharding._text(array.ndim)}"}}'
    [result] = _core.apply_composite("sdy.sharding_constraint", [tensor], identity, config)
    return tensor_of(result) if isinstance(array, Tensor) else TracedArray(result)


def shard_graph(graph: Graph) -> Graph:
    """The program of a rank of one that says itself how its parameters and values are divided, as :func:`constrain` does, and
    StableHLO text by attributes ``sdy.sharding`` and calls of ``sdy.sharding_constraint``. Its inputs and outputs are parts.

    >>> import weftwork as wf
    >>> graph = wf.stablehlo.parse('''
    ... sdy.mesh @mesh = <["data"=2]>
    ... func.func @main(%x: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<4x3xf32> {
    ...   %0 = stablehlo.tanh %x : tensor<4x3xf32>
    ...   return %0 : tensor<4x3xf32>
    ... }''')
    >>> wf.distributed.shard_graph(graph).outputs[0].shape
    (2, 3)
    """
    return Graph(_core.shard(graph.core))
