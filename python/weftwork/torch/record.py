"""Records a piece of a torch graph as a program, through the functions of arrays that all front ends share."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.fx import Node, map_arg

from .. import _core
from ..errors import InternalError, UnsupportedError
from ..numpy.tracer import Trace, TracedArray, as_tensor, tracing, wrap
from .bridge import array_of, dense_order
from .dtypes import FROM_TORCH
from .exchanges import group_of
from .extents import Extents
from .kinds import GETITEM, has_no_elements, value_of
from .places import frames_of
from .rules.shapes import padded
from .table import TABLE, Want, cast

__all__ = ["Failed", "Program", "Recording"]


class Failed(Exception):
    """The nodes that could not be recorded, each with why."""

    def __init__(self, reasons: dict[Node, str]) -> None:
        super().__init__("; ".join(f"{node.target}: {reason}" for node, reason in reasons.items()))
        self.reasons = reasons


@dataclass(eq=False)
class Program:
    """A recorded piece: which nodes are its inputs and outputs, symbols that no shape tells, whose ranks exchange in it."""

    graph: Any
    inputs: list[Node]
    outputs: list[Node]
    stored: list[tuple[Node, Node]]
    carried: list[str]
    group: Any


class Recording:
    """The recording of one piece. ``inputs`` come from outside; ``stored`` are (placeholder, value) pairs that are written.

    ``constants`` are inputs whose elements are known. A program that ``stands_alone`` has row-major arrays whatever torch's layout is.
    The inputs of one that ``is_shared`` are named by their place, so that equal ones are told to be.
    """

    def __init__(
        self,
        name: str,
        extents: Extents,
        kinds: dict[Node, str],
        constants: dict[Node, torch.Tensor],
        stands_alone: bool = False,
        is_shared: bool = False,
    ) -> None:
        self.name, self.extents, self.kinds = name, extents, kinds
        self.constants, self.stands_alone, self.is_shared = constants, stands_alone, is_shared
        self.values: dict[Node, Any] = {}
        self.parameters: dict[Node, Any] = {}
        self.failed: dict[Node, str] = {}
        self.current: Node | None = None

    def record(
        self, nodes: list[Node], inputs: list[Node], outputs: list[Node], stored: list[tuple[Node, Node]]
    ) -> Program:
        trace = Trace(self.name, bake=True)
        self.extents.used.clear()
        _core.set_interpreted_calls(lambda: frames_of(self.current))
        try:
            with tracing(trace), np.errstate():
                for node in inputs:
                    self.add_parameter(node)
                inputs = [node for node in inputs if node in self.parameters]
                for node in nodes:
                    self.current = node
                    self.add(node)
                if self.failed:
                    raise Failed(self.failed)
                graph, carried = self.finish(inputs, outputs, stored, trace)
                return Program(graph, inputs, outputs, stored, carried, group_of(nodes))
        finally:
            _core.set_interpreted_calls(None)

    def finish(
        self, inputs: list[Node], outputs: list[Node], stored: list[tuple[Node, Node]], trace: Trace
    ) -> tuple[Any, list[str]]:
        """The graph, and the symbols that no shape tells."""
        results = [(self.in_order(node, self.operand(node)), f"output{i}", -1) for i, node in enumerate(outputs)]
        for target, source in stored:
            want = self.want(target.meta["val"])
            value: Any = wrap(as_tensor(self.values[source], want.dtype))
            is_spread = value.ndim < len(want.shape) or any(isinstance(e, int) and e == 1 for e in value.shape)
            value = as_tensor(np.broadcast_to(value, want.shape) if is_spread else extended(value, want.shape))
            name = f"x{inputs.index(target)}" if self.is_shared else target.name
            results.append((self.in_order(target, wrap(value)), f"{name}_written", inputs.index(target)))
        parameters = [
            (self.parameters[node], f"x{i}" if self.is_shared else node.name, -1) for i, node in enumerate(inputs)
        ]
        told = {repr(extent) for tensor, _, _ in parameters for extent in tensor.shape if isinstance(extent, _core.Dim)}
        carried = [name for name in sorted(self.extents.used) if name not in told]
        for name in carried:
            shape = (self.extents.symbols[name], 0)
            parameters.append((_core.parameter(shape, np.dtype(np.bool_), f"extent_{name}"), f"extent_{name}", -1))
        graph = _core.record_graph(self.name, parameters, results, trace.effects)
        return graph, carried

    def want(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return tuple(self.want(item) for item in value)
        return (
            Want(FROM_TORCH[value.dtype], self.extents.shape(value), value) if isinstance(value, torch.Tensor) else None
        )

    def add_parameter(self, node: Node) -> None:
        """An input in the order of its memory, and what it is in its own order."""
        fake = value_of(node)
        if node in self.constants:
            elements = np.ascontiguousarray(array_of(self.constants[node])).reshape(tuple(fake.shape))
            self.values[node] = TracedArray(_core.constant(elements))
            return
        if not isinstance(fake, torch.Tensor):
            dtype = np.int64 if isinstance(fake, torch.SymInt) else np.float64
            self.parameters[node] = _core.parameter((), np.dtype(dtype), node.name)
            self.values[node] = TracedArray(self.parameters[node])
            return
        shape, order = self.extents.shape(fake), self.order_of(node)
        dims = shape if order is None else tuple(shape[d] for d in order)
        tensor = self.parameters[node] = _core.parameter(dims, FROM_TORCH[fake.dtype], node.name)
        if order is not None:
            inverse = [order.index(d) for d in range(len(order))]
            tensor = _core.apply("transpose", [tensor], {"permutation": inverse})
        self.values[node] = TracedArray(tensor)

    def order_of(self, node: Node) -> tuple[int, ...] | None:
        return None if self.stands_alone else dense_order(value_of(node))

    def in_order(self, node: Node, value: Any) -> Any:
        """The value with its dimensions in the order that torch has its memory in."""
        order = self.order_of(node)
        tensor = as_tensor(value)
        return tensor if order is None else _core.apply("transpose", [tensor], {"permutation": order})

    def operand(self, node: Node) -> Any:
        value = value_of(node)
        if isinstance(value, (int, float, bool)):
            return value
        if isinstance(value, torch.SymInt) and node not in self.parameters:
            return self.extents.of(value)
        return self.values[node]

    def add(self, node: Node) -> None:
        try:
            if self.kinds[node] == GETITEM:
                self.values[node] = operator.getitem(self.operand(node.args[0]), node.args[1])
                return
            args, kwargs = map_arg((node.args, node.kwargs), self.operand)
            want = self.want(value_of(node))
            if has_no_elements(value_of(node)):
                self.values[node] = nothing(want)
            else:
                self.values[node] = self.checked(TABLE[node.target].record(want, *args, **kwargs), want)
        except InternalError:
            raise
        except Exception as error:
            self.failed[node] = str(error).split("\n")[0].split("  [")[0]
            self.stand_in(node)

    def stand_in(self, node: Node) -> None:
        """What torch will compute, so that all that cannot be recorded is found at once."""
        value = value_of(node)
        try:
            if isinstance(value, (tuple, list)):
                wants = self.want(value)
                parts = [w and TracedArray(_core.parameter(w.shape, w.dtype, node.name)) for w in wants]
                self.values[node] = tuple(parts)
            else:
                self.add_parameter(node)
        except UnsupportedError as error:
            raise Failed(self.failed) from error

    def checked(self, result: Any, want: Any) -> Any:
        """What a rule gave, held to what torch says."""
        if isinstance(want, tuple):
            return tuple(
                None if w is None or r is None else self.checked(r, w) for r, w in zip(result, want, strict=True)
            )
        given = tuple(result.shape)
        same = len(given) == len(want.shape) and all(map(same_extent, given, want.shape))
        if result.dtype != want.dtype or not same:
            raise UnsupportedError(
                f"{want.dtype} of shape {want.shape} was wanted, the rule gives {result.dtype} of shape {given}"
            )
        if self.extents.taken:
            return extended(result, want.shape)
        return result


def extended(x: Any, shape: tuple[Any, ...]) -> Any:
    """In a shape of the same extents, which guards tell: with none more along those that are written in another form."""
    if all(map(_core.dims_equal, x.shape, shape)):
        return x
    more = [wanted - given for given, wanted in zip(x.shape, shape, strict=True)]
    return padded(x, 0, [0] * len(shape), more)


def nothing(want: Any) -> Any:
    """Results without elements."""
    if want is None or isinstance(want, tuple):
        return want and tuple(map(nothing, want))
    return wrap(as_tensor(np.broadcast_to(cast(0, want.dtype), want.shape)))


def same_extent(a: Any, b: Any) -> bool:
    # Extents that are equal for other reasons than their form are told apart when the program runs.
    return a == b if isinstance(a, int) and isinstance(b, int) else True
