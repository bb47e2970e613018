"""What a compiled graph does at each call, step by step, over a list of values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy
import torch
from torch.fx import Node, map_arg

from .. import _core
from ..errors import LinAlgError
from .bridge import array_of, dense_order, is_on_device, on_cpu, on_device, reader, writer
from .draws import GIVEN
from .exchanges import in_group
from .extents import SYMBOLIC, solved
from .kinds import value_of
from .record import Program

__all__ = ["Call", "Numbers", "Run", "Show", "Store"]

Values = list[Any]


class Numbers:
    """Symbolic numbers of a graph at a call: expressions over what its arguments and torch's calls tell."""

    def __init__(self, whole: dict[Any, str]) -> None:
        self.whole = whole  # extents that are symbols of their own
        # Symbol → slot, dimension of the tensor there, and a and b: what is there is a * symbol + b.
        self.sources: dict[str, tuple[int, int | None, int, int]] = {}
        self.compiled: dict[str, Any] = {}

    def note(self, slot: int, value: Any) -> None:
        """The value in a slot tells the symbols that it shows as they are."""
        if isinstance(value, torch.Tensor):
            for dimension, extent in enumerate(value.shape):
                self._note(extent, slot, dimension)
        else:
            self._note(value, slot, None)

    def _note(self, value: Any, slot: int, dimension: int | None) -> None:
        expression = getattr(getattr(value, "node", None), "expr", None)
        if expression is None:
            return
        if expression in self.whole:
            self.sources.setdefault(self.whole[expression], (slot, dimension, 1, 0))
        line = solved(expression)
        if line is not None:
            self.sources.setdefault(line[0].name, (slot, dimension, *line[1:]))

    def symbol(self, name: str, values: Values) -> Any:
        slot, dimension, a, b = self.sources[name]
        value = values[slot] if dimension is None else values[slot].shape[dimension]
        return value if a == 1 and not b else (value - b) // a

    def of(self, number: Any, values: Values) -> Any:
        """A number at this call."""
        expression = getattr(getattr(number, "node", None), "expr", None)
        if expression is None:
            return number
        return self.function(expression)(values)

    def function(self, expression: Any) -> Callable[[Values], Any]:
        """An expression as a function of the values of a call."""
        key = str(expression)
        if key not in self.compiled:
            expression = expression.xreplace({e: sympy.Symbol(name) for e, name in self.whole.items()})
            if expression.is_number:
                constant = (
                    int(expression)
                    if expression.is_Integer
                    else float(expression)
                    if expression.is_real
                    else bool(expression)
                )
                self.compiled[key] = lambda values: constant
            else:
                from torch.utils._sympy.printers import PythonPrinter

                names = [str(symbol) for symbol in expression.free_symbols]
                code = compile(PythonPrinter().doprint(expression), "<extent>", "eval")
                space = {"math": __import__("math"), "torch": torch}
                self.compiled[key] = lambda values: eval(code, space, {n: self.symbol(n, values) for n in names})
        return self.compiled[key]


def in_order(read: Callable[[Any], np.ndarray], order: tuple[int, ...]) -> Callable[[Any], np.ndarray]:
    return lambda tensor: read(tensor.permute(order))


class Found(NamedTuple):
    """Which inputs were parameters at a call, and the arrays over these; it is never changed, as other threads may read it."""

    arrays: list[Any]
    kept: list[tuple[int, int]]  # slots of parameters, and where these are
    moving: list[tuple[int, int, Callable[[Any], Any]]]  # place, slot and reader of the others


class Run:
    """Runs a program.

    Arrays over the parameters of modules are kept for as long as these stay where they are in memory.
    """

    def __init__(self, program: Program, core: Any, slots: dict[Node, int], numbers: Numbers) -> None:
        self.program, self.numbers = program, numbers
        self.call = partial(_core.call, core) if program.group is None else partial(in_group, program.group, core)
        self.inputs = [slots[node] for node in program.inputs]
        self.readers = [self._reader(node) for node in program.inputs]
        self.outputs = [(slots[node], *self._writer(node)) for node in program.outputs]
        self.found: Found | None = None
        fakes = list(map(value_of, program.inputs))
        self.given = [
            (i, slots[program.inputs[i]], f, np.int64 if isinstance(f, torch.SymInt) else np.float64)
            for i, f in enumerate(fakes)
            if not isinstance(f, torch.Tensor)
        ]
        self.is_single = len(self.outputs) + len(program.stored) == 1

    def _reader(self, node: Node) -> Callable[[Any], Any]:
        fake = value_of(node)
        if not isinstance(fake, torch.Tensor):
            return np.float64
        order, read = dense_order(fake), reader(fake.dtype)
        if is_on_device(fake):
            read = on_cpu(read)
        return read if order is None else in_order(read, order)

    def _writer(self, node: Node) -> tuple[Callable[[Any], Any], tuple[int, ...] | None]:
        fake = value_of(node)
        order = dense_order(fake)
        write = writer(fake.dtype)
        if any(not isinstance(e, int) or not e for e in fake.shape):
            write = self._with_strides(write, fake.dtype)
        if is_on_device(fake):
            write = on_device(write)
        return write, None if order is None else tuple(order.index(d) for d in range(len(order)))

    @staticmethod
    def _with_strides(write: Callable[[Any], Any], dtype: torch.dtype) -> Callable[[Any], Any]:
        """NumPy's arrays without elements have other strides than torch's."""
        return lambda array: write(array) if array.size else torch.empty(array.shape, dtype=dtype)

    def _find(self, values: Values) -> Found:
        found = Found([None] * len(self.inputs), [], [])
        for i, (slot, read) in enumerate(zip(self.inputs, self.readers, strict=True)):
            value = values[slot]
            if not isinstance(value_of(self.program.inputs[i]), torch.Tensor):
                continue
            if (
                isinstance(value, torch.nn.Parameter)
                and value.data_ptr()
                and not (value.is_conj() or value.is_neg())
                and all(isinstance(e, int) for e in value_of(self.program.inputs[i]).shape)
            ):
                found.arrays[i] = read(value.detach())
                found.kept.append((slot, value.data_ptr()))
            else:
                found.moving.append((i, slot, read))
        return found

    def __call__(self, values: Values) -> None:
        found = self.found
        if found is None or any([values[slot].data_ptr() != address for slot, address in found.kept]):
            found = self.found = self._find(values)
        arrays = found.arrays.copy()
        try:
            for i, slot, read in found.moving:
                arrays[i] = read(values[slot])
        except (RuntimeError, TypeError):
            # Lazily conjugated ones, ones with a gradient, subclasses.
            arrays = [self._carefully(i, values[slot]) for i, slot in enumerate(self.inputs)]
        for i, slot, number, scalar in self.given:
            arrays[i] = scalar(self.numbers.of(number, values) if values[slot] is None else values[slot])
        for name in self.program.carried:
            arrays.append(np.empty((self.numbers.symbol(name, values), 0), np.bool_))
        try:
            results = self.call(arrays)
        except LinAlgError as error:
            raise torch.linalg.LinAlgError(str(error)) from error
        if self.is_single:
            results = (results,)
        for (slot, write, order), result in zip(self.outputs, results):
            tensor = write(result)
            values[slot] = tensor if order is None else tensor.permute(order)

    def _carefully(self, i: int, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return None
        order = dense_order(value_of(self.program.inputs[i]))
        return array_of(value if order is None else value.permute(order))


class Call:
    """Calls torch for one node."""

    def __init__(self, node: Node, slots: dict[Node, int], numbers: Numbers) -> None:
        self.node, self.slot, self.numbers = node, slots[node], numbers
        self.target = node.target
        self.arguments = map_arg((node.args, node.kwargs), lambda n: Place(n, slots))  # type: ignore[return-value]
        self.arguments = ((*node.meta.get(GIVEN, ()), *self.arguments[0]), self.arguments[1])
        self.dtype = getattr(value_of(node), "dtype", None)

    def __call__(self, values: Values) -> None:
        args, kwargs = filled_in(self.arguments, values, self.numbers)
        result = self.target(*args, **kwargs)  # type: ignore[operator]
        # Some of torch's operations give another dtype than torch told when the graph was made, which is for that one.
        if self.dtype is not None and result.dtype != self.dtype:
            result = result.to(self.dtype)
        values[self.slot] = result


class Place:
    """Where an argument stands in the list of values, or the number that it is."""

    def __init__(self, node: Node, slots: dict[Node, int]) -> None:
        self.slot, self.value = slots[node], value_of(node)
        self.is_number = not isinstance(self.value, (torch.Tensor, tuple, list)) and node.op == "call_function"
        self.target = node.target
        self.arguments: Any = map_arg(node.args, lambda n: Place(n, slots)) if self.is_number else ()  # type: ignore[return-value]

    def number(self, values: Values, numbers: Numbers) -> Any:
        """By its expression, or where nothing tells what is in that, by the operations of the graph."""
        try:
            return numbers.of(self.value, values)
        except KeyError:
            return self.target(*filled_in(self.arguments, values, numbers))  # type: ignore[operator]


def filled_in(arguments: Any, values: Values, numbers: Numbers) -> Any:
    if isinstance(arguments, Place):
        value = values[arguments.slot]
        return arguments.number(values, numbers) if value is None and arguments.is_number else value
    if isinstance(arguments, (tuple, list)):
        return type(arguments)(filled_in(item, values, numbers) for item in arguments)
    if isinstance(arguments, dict):
        return {key: filled_in(item, values, numbers) for key, item in arguments.items()}
    if isinstance(arguments, slice):
        return slice(*(filled_in(item, values, numbers) for item in (arguments.start, arguments.stop, arguments.step)))
    return numbers.of(arguments, values) if isinstance(arguments, SYMBOLIC) else arguments


class Show:
    """Makes a view of a tensor as torch's operations on it would have; by these where its layout is not the one that was known."""

    def __init__(self, node: Node, root: Node, slots: dict[Node, int], numbers: Numbers) -> None:
        fake, whole = value_of(node), value_of(root)
        self.slot, self.root, self.numbers = slots[node], slots[root], numbers
        self.shape, self.strides, self.known = tuple(fake.shape), tuple(fake.stride()), tuple(whole.stride())
        self.offset = fake.storage_offset() - whole.storage_offset()
        self.is_static = all(isinstance(n, int) for n in (*self.shape, *self.strides, *self.known, self.offset))
        self.chain: list[Call] = []
        while node is not root:
            self.chain.insert(0, Call(node, slots, numbers))
            node = node.args[0]  # type: ignore[assignment]

    def __call__(self, values: Values) -> None:
        root = values[self.root]
        shape, strides, known, offset = self.shape, self.strides, self.known, self.offset
        if not self.is_static:
            try:
                shape, strides, known = (
                    tuple(self.numbers.of(n, values) for n in line) for line in (shape, strides, known)
                )
                offset = self.numbers.of(offset, values)
            except KeyError:  # numbers that nothing but the operations tell
                known = ()
        if root.stride() == known:
            values[self.slot] = root.as_strided(shape, strides, root.storage_offset() + offset)
            return
        for call in self.chain:
            call(values)


class Store:
    """Copies a new value to an argument."""

    def __init__(self, node: Node, slots: dict[Node, int]) -> None:
        self.target, self.source = (slots[n] for n in node.args[:2])  # type: ignore[index]

    def __call__(self, values: Values) -> None:
        values[self.target].copy_(values[self.source])
