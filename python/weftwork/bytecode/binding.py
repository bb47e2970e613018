"""The parameters of a call of a Python function, bound as Python binds them."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from .decode import VERSION
from .frame import DefaultOf

__all__ = ["bind"]

VARIABLE_ARGS, VARIABLE_KWARGS, VARIABLE = 0x4, 0x8, 0xC


def bind(function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The variables with which a call begins; TypeError as Python's."""
    code = function.__code__
    count = code.co_argcount
    names = code.co_varnames
    missing = count - len(args)
    if not (kwargs or code.co_kwonlyargcount or missing < 0 or code.co_flags & VARIABLE):
        defaults = function.__defaults__ or ()
        if missing <= len(defaults):
            variables: dict[str, Any] = dict(zip(names, args))
            for at in range(-missing, 0):
                variables[names[count + at]] = DefaultOf(defaults[at])
            return variables
    variables = dict(zip(names[:count], args))
    at = count + code.co_kwonlyargcount
    if code.co_flags & VARIABLE_ARGS:
        variables[names[at]] = args[count:]
        at += 1
    elif len(args) > count:
        raise_binding(function, args, kwargs)
    if not bind_named(code, variables, kwargs, names[at] if code.co_flags & VARIABLE_KWARGS else None):
        raise_binding(function, args, kwargs)
    bind_defaults(function, variables)
    for name in names[: count + code.co_kwonlyargcount]:
        if name not in variables:
            raise_binding(function, args, kwargs)
    return variables


def bind_named(code: CodeType, variables: dict[str, Any], kwargs: dict[str, Any], rest_name: str | None) -> bool:
    """Binds the arguments that are given by name; False if they do not fit."""
    named = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    rest: dict[str, Any] = {}
    for name, value in kwargs.items():
        if not isinstance(name, str):
            return False
        if name in named:
            if name in variables:
                return False
            variables[name] = value
        elif rest_name is not None:
            rest[name] = value
        else:
            return False
    if rest_name is not None:
        variables[rest_name] = rest
    return True


def bind_defaults(function: FunctionType, variables: dict[str, Any]) -> None:
    code = function.__code__
    defaults = function.__defaults__ or ()
    count = code.co_argcount
    # More defaults than parameters: the last ones count.
    for name, value in zip(reversed(code.co_varnames[:count]), reversed(defaults)):
        if name not in variables:
            variables[name] = DefaultOf(value)
    if code.co_kwonlyargcount and function.__kwdefaults__:
        for name in code.co_varnames[count : count + code.co_kwonlyargcount]:
            if name not in variables and name in function.__kwdefaults__:
                variables[name] = DefaultOf(function.__kwdefaults__[name])


def raise_binding(function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> None:
    """Raises the TypeError that Python raises for such arguments: it binds them itself, to a function that does nothing."""
    code = function.__code__
    stub_code = code.replace(co_code=RETURN_NONE.co_code, **same_tables(code))
    stub = FunctionType(stub_code, {}, function.__name__, function.__defaults__, function.__closure__)
    stub.__kwdefaults__ = function.__kwdefaults__
    stub.__qualname__ = function.__qualname__
    stub(*args, **kwargs)
    raise TypeError(f"{function.__qualname__}() got arguments that do not fit")


RETURN_NONE: CodeType = (lambda: None).__code__


def same_tables(code: CodeType) -> dict[str, Any]:
    tables: dict[str, Any] = {"co_consts": RETURN_NONE.co_consts, "co_stacksize": max(code.co_stacksize, 2)}
    if VERSION >= (3, 11):
        tables |= {"co_exceptiontable": b"", "co_linetable": RETURN_NONE.co_linetable}
    return tables
