"""NumPy's functions called on lists and tuples of traced values, which NumPy's protocols do not look into."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .tracer import TracedArray, as_tensor, untraced, wrap

ARRAY, SEQUENCE = "array", "sequence"
#: Methods of ufuncs → their positional arguments that are arrays.
OF_METHODS = {"reduce": (0,), "accumulate": (0,), "reduceat": (0,), "outer": (0, 1), "at": (2,)}


class Found(Exception):
    """Raised where NumPy asks a probe whether it implements a function."""


class Probe:
    """An argument that finds out whether NumPy takes it for an array."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise Found


@lru_cache(maxsize=1024)
def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def is_asked(function: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> bool:
    """Whether NumPy finds the probe in the value of a parameter, all others being empty."""
    given, named = [], {}
    for other in parameters_of(function):
        chosen = value if other.name == parameter.name else ()
        if other.kind in (other.POSITIONAL_ONLY, other.POSITIONAL_OR_KEYWORD) and (
            other.default is other.empty or chosen is value
        ):
            named[other.name] = chosen
            if other.kind is other.POSITIONAL_ONLY:
                given.append(named.pop(other.name))
        elif other.kind is other.VAR_POSITIONAL and chosen is value:
            given += [*named.values(), value]
            named = {}
        elif other.kind is other.KEYWORD_ONLY and chosen is value:
            named[other.name] = chosen
    try:
        function(*given, **named)
    except Found:
        return True
    except Exception:  # whatever the function makes of empty arguments
        return False
    return False


@lru_cache(maxsize=1024)
def kinds_of(function: Callable[..., Any]) -> dict[str, str]:
    """Parameter → whether it takes an array or a sequence of arrays, as the function's dispatcher has it.

    Others are left out, and so are lists that are nested to any depth, those of np.block.
    """
    kinds = {}
    with untraced(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for parameter in parameters_of(function):
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            if is_asked(function, parameter, [Probe()]):
                if not is_asked(function, parameter, [[Probe()]]):
                    kinds[parameter.name] = SEQUENCE
            elif is_asked(function, parameter, Probe()):
                kinds[parameter.name] = ARRAY
    return kinds


def is_list(value: Any) -> bool:
    """Whether it is a list or tuple with traced arrays in it, at any depth; one of symbolic extents is a shape."""
    return isinstance(value, (list, tuple)) and any(isinstance(item, TracedArray) or is_list(item) for item in value)


def as_array(value: Any) -> Any:
    """np.array of a list that holds traced values; anything else as it is."""
    return wrap(as_tensor(value)) if is_list(value) else value


def as_argument(value: Any, kind: str | None) -> Any:
    if kind == ARRAY:
        return as_array(value)
    if kind == SEQUENCE and is_list(value):
        return type(value)(map(as_array, value)) if type(value) in (list, tuple) else [as_array(item) for item in value]
    return value


def with_arrays(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a function with a dispatcher, with arrays in the place of lists."""
    kinds = kinds_of(function)
    names: list[str] = []
    for parameter in parameters_of(function):
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [parameter.name] * max(len(args) - len(names), 0)
    positional = [as_argument(value, kinds.get(names[i]) if i < len(names) else None) for i, value in enumerate(args)]
    return positional, {name: as_argument(value, kinds.get(name)) for name, value in kwargs.items()}


def call_with_lists(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs), where lists and tuples that hold traced values, nested too, count as the arrays that NumPy
    would make of them: for ufuncs all operands, for functions what their dispatcher takes for arrays."""
    if not any(map(is_list, (*args, *kwargs.values()))):
        return function(*args, **kwargs)
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        args = [as_array(value) if i < function.nin else value for i, value in enumerate(args)]
    elif isinstance(owner, np.ufunc):
        places = OF_METHODS.get(function.__name__, ())
        args = [as_array(value) if i in places else value for i, value in enumerate(args)]
        kwargs = {name: as_array(value) if name == "array" else value for name, value in kwargs.items()}
    elif hasattr(function, "_implementation"):
        args, kwargs = with_arrays(function, args, kwargs)
    return function(*args, **kwargs)
