"""What a program's ``jit`` may be: wf.jit, nothing at all, or one that is wrong on purpose so that it must be caught."""

from __future__ import annotations

import contextlib
import copy
import functools
import types
from collections.abc import Callable
from typing import Any


def nothing(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper that only calls."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def first_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrong: the first result for ever."""
    results: list[Any] = []

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not results:
            results.append(function(*args, **kwargs))
        return results[0]

    return call


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrong: all that is done is done twice."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        function(*args, **kwargs)
        return function(*args, **kwargs)

    return call


def copied_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrong: what is written is written to a copy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(TypeError):
            args, kwargs = copy.deepcopy((args, kwargs))
        return function(*args, **kwargs)

    return call


def globals_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrong: globals are those of the first call."""
    frozen: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not frozen:
            plain = getattr(function, "__func__", function)
            again = types.FunctionType(
                plain.__code__, dict(plain.__globals__), plain.__name__, plain.__defaults__, plain.__closure__
            )
            again.__kwdefaults__ = plain.__kwdefaults__
            frozen.append(again if plain is function else types.MethodType(again, function.__self__))
        return frozen[0](*args, **kwargs)

    return call


def copied_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrong: results share no memory with anything."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        try:
            return copy.deepcopy(result)
        except TypeError:
            return result

    return call


def weftwork(function: Callable[..., Any]) -> Any:
    import weftwork as wf

    return wf.jit(function)


#: By name, as ``--wrapper`` takes them; those that are wrong are listed in BROKEN.
WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "jit": weftwork,
    "plain": passing,
    "first": first_result,
    "twice": twice,
    "copies": copied_arguments,
    "globals": globals_once,
    "results": copied_results,
}
BROKEN = ("first", "twice", "copies", "globals", "results")
