"""Calls of builtin functions that look at the frame that calls them: they see the interpreted one."""

from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .frame import NULL, DefaultOf, Frame, content_of

__all__ = ["SEES_FRAME", "call_outside", "zero_super"]

#: Flags of a code object that say what its ``from __future__`` imports are; compile() takes them over from its caller.
FUTURE = 0xFFF0000
#: The call that a native function sees as its caller; it is compiled without the features that this file asks for.
TEMPLATE: dict[str, Any] = {}
exec(
    compile(
        "def call(function, args, kwargs): return function(*args, **kwargs)", "<interpreted>", "exec", dont_inherit=True
    ),
    TEMPLATE,
)


def call_outside(frame: Frame, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Calls what is not interpreted from a Python frame that has the globals of the interpreted one."""
    caller = frame.outside
    if caller is None:
        code = TEMPLATE["call"].__code__
        flags = frame.code.code.co_flags & FUTURE
        caller = frame.outside = FunctionType(
            code.replace(co_flags=code.co_flags | flags) if flags else code, frame.globals
        )
    return caller(function, args, kwargs)


def zero_super(frame: Frame) -> super:
    """What ``super()`` gives in a method: the class from its cell, the object from its first parameter."""
    code = frame.code.code
    if not code.co_argcount:
        raise RuntimeError("super(): no arguments")
    first = code.co_varnames[0]
    owner = frame.locals.get(first, NULL)
    if type(owner) is DefaultOf:
        owner = owner.value
    elif owner is NULL and first in frame.cells:
        owner = content_of(frame.cells[first])
    if owner is NULL:
        raise RuntimeError("super(): arg[0] deleted")
    if "__class__" not in code.co_freevars:
        raise RuntimeError("super(): __class__ cell not found")
    kind = content_of(frame.cells["__class__"])
    if kind is NULL:
        raise RuntimeError("super(): empty __class__ cell")
    if not isinstance(kind, type):
        raise RuntimeError(f"super(): __class__ is not a type ({type(kind).__name__})")
    return super(kind, owner)


# -- builtins ----------------------------------------------------------------------------------------------------------


def call_super(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    return super(*args, **kwargs) if args or kwargs else m.zero_super(frame)


def call_locals(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    return locals(*args, **kwargs) if args or kwargs else frame.namespace()  # type: ignore[call-arg]


def call_globals(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    return globals(*args, **kwargs) if args or kwargs else frame.globals  # type: ignore[call-arg]


def call_vars(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    return vars(*args, **kwargs) if args or kwargs else frame.namespace()


def call_dir(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    return dir(*args, **kwargs) if args or kwargs else sorted(frame.namespace())


def evaluates(function: Any) -> Callable[..., Any]:
    """``eval`` and ``exec``: the namespaces that are not given are those of the frame."""

    def call(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = dict(zip(("source", "globals", "locals"), args))
        if sys.version_info >= (3, 13) and not given.keys() & kwargs.keys():
            given |= {name: kwargs[name] for name in ("globals", "locals") if name in kwargs}
        if "source" not in given or len(args) > 3 or given.get("globals") is not None:
            return call_outside(frame, function, args, kwargs)
        own = given["locals"] if given.get("locals") is not None else frame.namespace()
        others = {name: value for name, value in kwargs.items() if name not in given}
        return call_outside(frame, function, (given["source"], frame.globals, own), others)

    return call


def outside(function: Any) -> Callable[..., Any]:
    """A builtin function that asks for the globals of its caller, or for the features that it was compiled with."""

    def call(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
        return call_outside(frame, function, args, kwargs)

    return call


def module_of_frame(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The name of the module of the call that is so many calls further out."""
    depth = kwargs.get("depth", args[0] if args else 0)
    found: Frame | None = frame
    while found is not None and depth > 0:
        found, depth = found.caller, depth - 1
    if found is None:
        m.refuse("a call looks at calls outside of those that are interpreted")
    assert found is not None
    return found.globals.get("__name__")


def refused(name: str) -> Callable[..., Any]:
    def call(m: Any, frame: Frame, args: tuple, kwargs: dict[str, Any]) -> Any:
        m.refuse(f"{name} looks at the frames of the calls")

    return call


SEES_FRAME: dict[Any, Callable[[Any, Frame, tuple, dict[str, Any]], Any]] = {
    builtins.super: call_super,
    builtins.locals: call_locals,
    builtins.globals: call_globals,
    builtins.vars: call_vars,
    builtins.dir: call_dir,
    builtins.eval: evaluates(builtins.eval),
    builtins.exec: evaluates(builtins.exec),
    builtins.compile: outside(builtins.compile),
    builtins.__import__: outside(builtins.__import__),
    type.__new__: outside(type.__new__),
    warnings.warn: outside(warnings.warn),
    sys._getframe: refused("sys._getframe"),
}
if sys.version_info >= (3, 12):
    SEES_FRAME[sys._getframemodulename] = module_of_frame  # type: ignore[attr-defined]
