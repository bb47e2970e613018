"""The public functions and methods of a library, found by the code that they run."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .catalogue import NEVER, Library

GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass
class Target:
    """A function that is recorded, and by which names it is found again."""

    module: str
    qualname: str
    function: types.FunctionType
    owner: type | None = None  # of a method of a class

    def matches(self, local: dict[str, Any]) -> bool:
        """Whether a frame with these variables is of this function and not of another one with the same code."""
        names = self.function.__code__.co_freevars
        cells = self.function.__closure__ or ()
        if self.owner is not None and local.get(self.function.__code__.co_varnames[0]) is not self.owner:
            return False
        return all(holds(cell, local.get(name)) for name, cell in zip(names, cells))


def holds(cell: Any, value: Any) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:
        return value is None


def modules_of(library: Library) -> Iterator[types.ModuleType]:
    """All modules of a library that can be imported."""
    package = importlib.import_module(library.package)
    yield package
    for found in pkgutil.walk_packages(
        getattr(package, "__path__", []), package.__name__ + ".", onerror=lambda _: None
    ):
        if set(found.name.split(".")) & set(NEVER) or found.name.startswith(library.skip or ("-",)):
            continue
        # A module may need a package that is not installed, or a display.
        with contextlib.suppress(Exception, SystemExit):
            yield importlib.import_module(found.name)


def resolve(module: str, qualname: str) -> Any:
    """What a name in a module stands for."""
    value: Any = importlib.import_module(module)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value


def is_found(module: str, qualname: str, function: Any) -> bool:
    try:
        value = resolve(module, qualname)
        return getattr(value, "__func__", value) is function
    except Exception:
        return False


def members(module: types.ModuleType, library: Library) -> Iterator[tuple[str, Any]]:
    """Names in a module of the library's own functions, and of the methods of its classes."""
    for name, value in list(vars(module).items()):
        if name.startswith("_") or not isinstance(value, (types.FunctionType, type)):
            continue
        if not str(value.__module__).startswith(library.package):
            continue
        if isinstance(value, types.FunctionType):
            yield name, value
        elif isinstance(value, type):
            for method, entry in list(vars(value).items()):
                function = entry.__func__ if isinstance(entry, (staticmethod, classmethod)) else entry
                if isinstance(function, types.FunctionType) and (method == "__call__" or not method.startswith("_")):
                    yield f"{name}.{method}", function


def targets_of(library: Library) -> dict[types.CodeType, list[Target]]:
    """The functions to record, by their code; generators and coroutines are none."""
    found: dict[int, Target] = {}
    for module in modules_of(library):
        for name, function in members(module, library):
            if id(function) in found or function.__code__.co_flags & GENERATES:
                continue
            for names in ((function.__module__, function.__qualname__), (module.__name__, name)):
                if is_found(*names, function):
                    owner = getattr(resolve(*names), "__self__", None)
                    found[id(function)] = Target(*names, function, owner)
                    break
    codes: dict[types.CodeType, list[Target]] = {}
    for target in found.values():
        codes.setdefault(target.function.__code__, []).append(target)
    return codes
