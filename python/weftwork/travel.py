"""How jitted functions, programs and operations are copied and pickled."""

from __future__ import annotations

import copy
import importlib
import sys
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from . import _core
from .device import Device
from .errors import ArgumentValueError
from .knobs import target_name

if TYPE_CHECKING:
    from .custom import CustomOp
    from .graph import Executable, Graph
    from .jit import Jit

__all__ = ["copied", "reduced_executable", "reduced_graph", "reduced_jit", "reduced_op"]

#: What a jitted function has of its own; all else was set on it, and travels.
OWN = frozenset(
    [
        "_programs",
        "_function",
        "_options",
        "_strict",
        "_has_trials",
        "_jointly",
        "_next_look",
        "_is_recorded_again",
        "refusals",
        "__wrapped__",
    ]
)


def reduced_jit(jitted: Jit, pickler: Any) -> Any:
    """Its name where it is found under it, as with functions; else the function, by the name or value that it has."""
    module, name = getattr(jitted, "__module__", None), getattr(jitted, "__qualname__", None)
    if found(module, name) is jitted and not takes_by_value(pickler, module):
        return name
    return made, (jitted._function, jitted._options, jitted._strict), state_of(jitted)


def state_of(jitted: Jit) -> tuple[dict[str, Any], dict[str, Any]]:
    attributes = {name: value for name, value in vars(jitted).items() if name not in OWN}
    return attributes, {"most_plans": jitted.most_plans}


def made(function: Any, options: Any, strict: bool) -> Jit:
    from .jit import Jit

    return Jit(function, options, strict)


def found(module: str | None, name: str | None) -> Any:
    """What is found under a qualified name of a module that is there; None where nothing is."""
    value: Any = sys.modules.get(module or "")
    for part in (name or "").split("."):
        value = getattr(value, part, None)
    return value


def takes_by_value(pickler: Any, module: str | None) -> bool:
    """Whether a pickler, as that of cloudpickle, takes what a module defines by value: the reader does not have it."""
    if not hasattr(pickler, "reducer_override"):
        return False
    registries = [
        getattr(sys.modules.get(kind.__module__), "list_registry_pickle_by_value", None)
        for kind in type(pickler).__mro__
    ]
    if not any(registries):
        return False
    name = module or "__main__"
    parents = {name[:end] for end in range(len(name) + 1) if name[end : end + 1] in ("", ".")}
    return name == "__main__" or any(parents & set(registry()) for registry in registries if registry)


def pickler_that_asks() -> Any:
    """The pickler that called the ``__reduce_ex__`` which calls this, where it has a method in Python."""
    return sys._getframe(2).f_locals.get("self")


def copied(jitted: Jit, memo: dict[int, Any]) -> Jit:
    """Itself, as a function's copy is; where it is of a method, or of an object, that of the copied one."""
    if isinstance(jitted._function, FunctionType):
        return jitted
    function = copy.deepcopy(jitted._function, memo)
    if function is jitted._function:
        return jitted
    other = made(function, jitted._options, jitted._strict)
    attributes, settings = state_of(jitted)
    vars(other).update(attributes)
    for name, value in settings.items():
        setattr(other, name, value)
    return other


def reduced_graph(graph: Graph) -> Any:
    return graph_of, (type(graph), _core.graph_content(graph.core))


def graph_of(kind: type[Graph], content: bytes) -> Graph:
    return kind(_core.graph_of_content(content))


def reduced_executable(executable: Executable) -> Any:
    return executable_of, (type(executable), executable._core.content(), executable.device)


def executable_of(kind: type[Executable], content: bytes, device: Device) -> Executable:
    """Its machine code where this CPU has what it needs; else its program compiled anew."""
    target = target_name()
    return kind(_core.load_content(content, "native" if target.startswith("neuron") else target, device))


#: The operations of this process, by name.
operations: dict[str, CustomOp] = {}


def reduced_op(op: CustomOp, pickler: Any) -> Any:
    """Where a module has it, the module and its name there; else the functions that it is made of."""
    for function in (op._infer, op._reference, op._body):
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        name = next((name for name, value in list(vars(module).items()) if value is op), None) if module else None
        if isinstance(module, ModuleType) and name is not None and not takes_by_value(pickler, module.__name__):
            return op_of_module, (module.__name__, name)
    return op_of, (op.name, op._infer, op._reference, op._body, op._native is not None)


def op_of_module(module: str, name: str) -> CustomOp:
    return getattr(importlib.import_module(module), name)


def op_of(name: str, infer: Any, reference: Any, body: Any, is_native: bool) -> CustomOp:
    """The operation that this process has under the name, or one made anew."""
    from .custom import CustomOp

    if name not in operations and is_native and reference is None:
        raise ArgumentValueError(
            f"custom operation '{name}' has a C function, which no pickle holds: make it before what uses it is loaded  [custom_op_name]"
        )
    return operations[name] if name in operations else CustomOp(name, infer, reference, body, None, 0)


def dim_of(text: str, symbols: tuple[tuple[str, int, int, int], ...]) -> _core.Dim:
    """The extent of such a text, over symbols with their ranges."""
    return _core.dim_of_text(text, symbols)
