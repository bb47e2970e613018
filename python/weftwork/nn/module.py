"""Modules: objects whose tensors are found by their attributes, and saved and loaded by their names."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import _core, safetensors
from ..errors import ArgumentTypeError, ArgumentValueError
from ..lazy import Tensor, asarray
from ..lazy import eval as compute

__all__ = ["Module"]


class SignatureOfForward:
    """A call of a module takes what its ``forward`` takes; the class itself takes what its ``__init__`` takes."""

    def __get__(self, instance: Module | None, owner: type) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return inspect.signature(instance.forward)


class Module:
    """A part of a model: its attributes that are tensors are its state, those that are modules are its parts.

    Subclasses make them in ``__init__`` and define ``forward``, which a call of the module is. Lists, tuples and dictionaries of
    tensors and modules count too; names that begin with an underscore do not. Tensors that ``BUFFERS`` names are state, but no
    parameters. Names are those that torch gives: "blocks.0.attention.weight". A tensor may stand under several names.

    ``wf.compile(module, wf.spec(...))`` makes a program of ``forward`` in which the state is constant.

    >>> import weftwork as wf
    >>> class Classifier(wf.Module):
    ...     def __init__(self):
    ...         self.first, self.second = wf.nn.Linear(4, 8), wf.nn.Linear(8, 3)
    ...     def forward(self, x):
    ...         return self.second(wf.nn.relu(self.first(x)))
    >>> model = Classifier()
    >>> model(wf.ones((2, 4))).shape, list(model.state_dict())
    ((2, 3), ['first.weight', 'first.bias', 'second.weight', 'second.bias'])
    """

    #: Names of attributes that hold tensors which are state, but are not trained.
    BUFFERS: tuple[str, ...] = ()
    #: Whether layers that differ in training, such as dropout, do as in training; :meth:`train` and :meth:`eval` set it.
    training = False
    __signature__ = SignatureOfForward()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call of the module computes."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def entries(self) -> Iterator[tuple[str, Any]]:
        """Names and values of what may hold tensors or modules."""
        return ((name, value) for name, value in vars(self).items() if not name.startswith("_"))

    # -- parts and state -------------------------------------------------------------------------------------------

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module by the name of the prefix and all parts of it, each once."""
        return ((name, part) for name, part, _ in places(self, prefix) if isinstance(part, Module))

    def modules(self) -> Iterator[Module]:
        """This module and all parts of it, each once."""
        return (part for _, part in self.named_modules())

    def state_dict(self) -> dict[str, Tensor]:
        """All tensors by their names: parameters and buffers."""
        return {name: value for name, value, _ in places(self) if isinstance(value, Tensor)}

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Names and tensors of the parameters, each tensor once."""
        return self._named(lambda is_buffer: not is_buffer)

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Names and tensors of the buffers, each tensor once."""
        return self._named(lambda is_buffer: is_buffer)

    def parameters(self) -> list[Tensor]:
        """The parameters, each once."""
        return [value for _, value in self.named_parameters()]

    def _named(self, wanted: Callable[[bool], bool]) -> Iterator[tuple[str, Tensor]]:
        known: set[int] = set()
        for name, value, is_buffer in places(self):
            if isinstance(value, Tensor) and wanted(is_buffer) and id(value) not in known:
                known.add(id(value))
                yield name, value

    @property
    def parameter_count(self) -> int:
        """How many elements the parameters have."""
        return sum(value.size for value in self.parameters())

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Takes over tensors by their names: tensors, arrays, or what has ``__dlpack__``, converted to the dtype that the module has.

        Nothing is copied that nobody can write to. ``strict=False`` leaves out names that only one side has. An ArgumentValueError
        lists all names and shapes that do not fit, and then nothing is changed.
        """
        own = self.state_dict()
        problems = [f"'{name}' is missing" for name in own if name not in state] if strict else []
        if strict:
            problems += [
                f"'{name}' is no state of {type(self).__name__}{nearest(name, own)}"
                for name in state
                if name not in own
            ]
        # A tensor of its own: what is written to it is not seen by whoever gave it.
        taken = {
            name: asarray(state[name], copy=isinstance(state[name], Tensor) or None) for name in own if name in state
        }
        for name, value in taken.items():
            if value.shape != own[name].shape:
                problems.append(f"'{name}' has shape {value.shape}, the module's is {own[name].shape}")
            elif value.dtype.kind == "c" and own[name].dtype.kind != "c":
                problems.append(f"'{name}' has dtype {value.dtype}, the module's is {own[name].dtype}")
        if problems:
            raise ArgumentValueError("load_state_dict: " + "; ".join(problems) + "  [state_dict]")
        self._replace({id(own[name]): value.astype(own[name].dtype, copy=False) for name, value in taken.items()})

    def _replace(self, made: dict[int, Any]) -> None:
        """Puts other tensors in the places of those with these identities."""
        for part in list(self.modules()):
            for name, value in list(part.entries()):
                changed = with_others(value, made)
                if changed is not value:
                    part.assign(name, changed)

    def assign(self, name: str, value: Any) -> None:
        """Sets what :meth:`entries` gave by that name."""
        setattr(self, name, value)

    def astype(self, dtype: Any) -> Module:
        """Converts all state of floats; the module itself is the result."""
        if np.dtype(dtype).kind not in "fV" and np.dtype(dtype).name not in FLOATS:
            raise ArgumentTypeError(f"a module has floats, got dtype {np.dtype(dtype)}  [dtype]")
        floats = [value for value in self.state_dict().values() if value.dtype.name in FLOATS]
        self._replace({id(value): value.astype(dtype) for value in floats})
        return self

    def train(self, mode: bool = True) -> Module:
        """Sets ``training`` of this module and its parts; the module itself is the result."""
        for part in self.modules():
            part.training = mode
        return self

    def eval(self) -> Module:
        """As ``train(False)``: what modules are from the start."""
        return self.train(False)

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the state to a .safetensors file, whole or not at all; 4-bit integers, which it cannot hold, as 8-bit ones.

        A FileError where it cannot be written.
        """
        state = self.state_dict()
        compute(*state.values())
        arrays = {name: value.numpy() for name, value in state.items()}
        arrays = {name: a.astype(HELD.get(a.dtype.name, a.dtype), copy=False) for name, a in arrays.items()}
        _core.write_file(path, safetensors.written(arrays))

    def load(self, path: str | os.PathLike[str], strict: bool = True) -> Module:
        """Takes over the state of a .safetensors file, which is mapped and not copied; the module itself is the result.

        A FileError where it cannot be read, and the errors of :meth:`load_state_dict`.
        """
        self.load_state_dict(safetensors.map_file(path), strict)
        return self

    def __repr__(self) -> str:
        parts = [(name, value) for name, value, _ in children("", self) if isinstance(value, Module)]
        texts = [
            f"{name}: {value.dtype}{list(value.shape)}"
            for name, value, _ in children("", self)
            if isinstance(value, Tensor)
        ]
        texts += [
            f"{name}={value!r}"
            for name, value in self.entries()
            if isinstance(value, (bool, int, float, str)) and name != "training"
        ]
        lines = [*([", ".join(texts)] if texts else []), *(f"{name}: {value!r}" for name, value in parts)]
        if not parts:
            return f"{type(self).__name__}({''.join(lines)})"
        return f"{type(self).__name__}(\n{textwrap.indent(chr(10).join(lines), '  ')}\n)"


#: What files of tensors have for integers that they cannot hold.
HELD = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}
FLOATS = frozenset(["float64", "float32", "float16", "bfloat16"])


def children(prefix: str, value: Any, is_buffer: bool = False) -> Iterator[tuple[str, Any, bool]]:
    """The tensors and modules that a module, list, tuple or dictionary holds itself."""
    if isinstance(value, Module):
        items: Any = ((name, item, name in value.BUFFERS) for name, item in value.entries())
    elif isinstance(value, dict):
        items = ((str(key), item, is_buffer) for key, item in value.items())
    else:
        items = ((str(i), item, is_buffer) for i, item in enumerate(value))
    for name, item, buffer in items:
        name = f"{prefix}.{name}" if prefix else name
        if isinstance(item, (Tensor, Module)):
            yield name, item, buffer
        elif type(item) in (list, tuple, dict):
            yield from children(name, item, buffer)


def places(module: Module, prefix: str = "") -> Iterator[tuple[str, Any, bool]]:
    """All modules and tensors by name, in the order in which they were made; modules once, whether a tensor is a buffer."""
    known: set[int] = set()
    waiting: list[tuple[str, Any, bool]] = [(prefix, module, False)]
    while waiting:
        name, value, is_buffer = waiting.pop()
        if isinstance(value, Module):
            if id(value) in known:
                continue
            known.add(id(value))
            waiting += reversed(list(children(name, value)))
        yield name, value, is_buffer


def with_others(value: Any, made: dict[int, Any]) -> Any:
    """The value with other tensors in the places of those with these identities; itself where there is none."""
    if isinstance(value, Tensor):
        return made.get(id(value), value)
    if type(value) is dict:
        changed: Any = {key: with_others(item, made) for key, item in value.items()}
        return changed if any(changed[key] is not item for key, item in value.items()) else value
    if type(value) in (list, tuple):
        changed = type(value)(with_others(item, made) for item in value)
        return changed if any(new is not old for new, old in zip(changed, value, strict=True)) else value
    return value


def nearest(name: str, names: Any) -> str:
    found = difflib.get_close_matches(name, list(names), 1)
    return f" (nearest: '{found[0]}')" if found else ""


def spread(fan_in: int) -> float:
    """The limit of the uniform numbers that torch draws for a layer with so many inputs."""
    return 1 / math.sqrt(fan_in) if fan_in else 0.0
