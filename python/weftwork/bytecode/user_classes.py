"""Operators, conditions and iteration of objects whose classes are Python code: their methods are interpreted."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..numpy.tracer import TracedArray
from .attributes import Attributes
from .kinds import (
    OWN,
    UNWATCHED,
    answers,
    contains_traced,
    holds_object,
    is_method_of_users,
    is_own_constant,
    is_record,
    type_of,
)

__all__ = ["UserClasses"]

DUNDERS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "<<": "lshift",
    ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
COMPARISONS = {"<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
               ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__")}  # fmt: skip
#: What `object` has for comparisons: it knows itself, and nothing else.
COMPARING = frozenset(["__eq__", "__lt__", "__le__", "__gt__", "__ge__"])


#: What holds objects and asks them nothing.
HELD = (list, tuple, set, dict)


class Direct:
    """A method that is called and not interpreted."""

    def __init__(self, method: Any) -> None:
        self.method = method

    def __call__(self, *args: Any) -> Any:
        return self.method(*args)


class UserClasses(Attributes):
    """The part of a recorder that calls the methods behind operators."""

    # -- operators of user's classes ---------------------------------------------------------------------------------

    def special(self, owner: Any, name: str) -> Any:
        if answers(owner):
            return self.special_method(owner, name)
        if id(owner) in self.opaque or type(owner) not in OWN:
            self.refuse(f"'{name}' of an object of type {type(owner).__name__}")
        return Direct(getattr(owner, name))

    def special_method(self, owner: Any, name: str) -> Any:
        value, definer = self.found_in_class(type(owner), name)
        if definer is None:
            raise TypeError(f"'{type(owner).__name__}' object has no {name}")
        if definer is tuple and is_record(type(owner)):
            return getattr(tuple(owner), name)
        if isinstance(owner, type) or isinstance(value, types.FunctionType):
            return value.__get__(owner, type(owner))
        return getattr(owner, name)

    def call_special(self, owner: Any, name: str, *args: Any) -> Any:
        found, definer = self.found_in_class(type(owner), name)
        if definer is None:
            raise TypeError(f"'{type(owner).__name__}' object does not support {name}")
        if definer is object and name == "__ne__":
            equal = self.call_special(owner, "__eq__", *args)
            return equal if equal is NotImplemented else not self.truth(equal)
        if definer is object and name in COMPARING:
            return True if name == "__eq__" and self.same(owner, args[0]) else NotImplemented
        if isinstance(owner, UNWATCHED) and not is_method_of_users(found) and not contains_traced(args):
            return found.__get__(owner, type(owner))(*args)
        return self.call(self.special_method(owner, name), args, {})

    def has_special(self, value: Any, name: str) -> bool:
        return (
            answers(value)
            and self.found_in_class(type(value), name)[1] is not None
            and self.found_in_class(type(value), name)[1] is not object
        )

    def user_binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        name = DUNDERS[symbol.rstrip("=")]
        tries = [(lhs, f"__{name}__", rhs)]
        if answers(rhs):
            tries.insert(
                0 if type(rhs) is not type(lhs) and isinstance(rhs, type(lhs)) else 1, (rhs, f"__r{name}__", lhs)
            )
        if symbol[-1] == "=":
            tries.insert(0, (lhs, f"__i{name}__", rhs))
        for owner, method, other in tries:
            if not answers(owner):
                # An array asks the other side itself, and raises where it is to be changed; others answer NotImplemented.
                is_array = isinstance(owner, (TracedArray, np.ndarray, np.generic))
                if is_array and (symbol[-1] == "=" or not self.declines_arrays(other)):
                    self.refuse(f"an array and a {type(other).__name__} under '{symbol}'")
                continue
            if self.found_in_class(type(owner), method)[1] is not None:
                result = self.call_special(owner, method, other)
                if result is not NotImplemented:
                    return result
        raise TypeError(
            f"unsupported operand type(s) for {symbol}: '{type_of(lhs).__name__}' and '{type_of(rhs).__name__}'"
        )

    def declines_arrays(self, value: Any) -> bool:
        found = self.found_in_class(type(value), "__array_ufunc__")
        return found[1] is not None and found[0] is None

    def user_compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        straight, turned = COMPARISONS[symbol]
        tries = [(lhs, straight, rhs), (rhs, turned, lhs)]
        if answers(rhs) and type(rhs) is not type(lhs) and isinstance(rhs, type(lhs)):
            tries.reverse()
        for owner, method, other in tries:
            if not answers(owner):
                if isinstance(owner, (TracedArray, np.ndarray, np.generic)):
                    self.refuse(f"an array and a {type(other).__name__} under '{symbol}'")
                continue
            result = (
                self.call_special(owner, method, other)
                if self.found_in_class(type(owner), method)[1] is not None
                else NotImplemented
            )
            if result is not NotImplemented:
                return result
        if symbol in ("==", "!="):
            return (self.original(lhs) is self.original(rhs)) == (symbol == "==")
        raise TypeError(
            f"'{symbol}' not supported between instances of '{type_of(lhs).__name__}' and '{type_of(rhs).__name__}'"
        )

    def user_contains(self, container: Any, value: Any) -> Any:
        if self.found_in_class(type(container), "__contains__")[1] is not None:
            return self.truth(self.call_special(container, "__contains__", value))
        assert self.frame is not None
        for item in self.listed(self.frame, container):
            if self.truth(self.same(item, value)) or self.truth(self.compare("==", item, value)):
                return True
        return False

    def user_truth(self, value: Any) -> bool:
        for name in ("__bool__", "__len__"):
            if self.found_in_class(type(value), name)[1] is not None:
                return bool(self.call_special(value, name))
        return True

    def user_iterate(self, value: Any) -> Any:
        if self.found_in_class(type(value), "__iter__")[1] is not None:
            return self.call_special(value, "__iter__")
        return self.refuse(f"{type(value).__name__} is iterated over by its items")

    def require_no_user_objects(self, *values: Any, asked: Callable[[Any], bool] = answers) -> None:
        """For native code that calls methods of what it is given."""
        for value in values:
            if self.strict and hasattr(type(value), "__dlpack__"):
                continue
            if holds_object(value, asked):
                self.refuse("an object whose methods C code may call")
            self.require_known(value)

    def require_plain(self, *values: Any) -> None:
        """For native code that goes through what it is given, or asks it for a number, and keeps what it holds."""
        for value in values:
            if type(value) not in HELD and not is_record(type(value)) and holds_object(value):
                self.refuse("an object whose methods C code may call")

    def require_known(self, value: Any) -> None:
        is_memory = isinstance(value, _core.Buffer) or (self.strict and hasattr(value, "__array__"))
        # np.ogrid, np.s_ and the like; shardings.
        is_constant = type(value).__module__.startswith("numpy.lib.") or is_own_constant(type(value))
        if id(value) in self.opaque and not callable(value) and not is_memory and not is_constant:
            self.refuse(f"an object of type {type(value).__name__} of the surroundings")
