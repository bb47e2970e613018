"""Attributes while a call is recorded: found as Python finds them, and guarded where they are outside of the call."""

from __future__ import annotations

import functools
import threading
import types
from typing import Any

import numpy as np

from ..numpy.growing import GrownList
from ..numpy.tracer import BoundMethod, Selection, TracedArray
from .grown_lists import ListMethod
from .host import is_compiled, is_generator
from .kinds import (
    ABSENT,
    HEAP,
    INTEGERS,
    contains_traced,
    instance_space,
    is_method_of_users,
    is_own_constant,
    is_user_object,
    lookup,
    type_of,
)
from .outside import ATTRIBUTE, BASES, ENTRY, HostValue
from .plain_arrays import PlainArrays

__all__ = ["Attributes"]

#: What every object has, and has of its own kind.
OF_THE_STAND_IN = frozenset(
    ["__repr__", "__str__", "__format__", "__doc__", "__module__", "__dict__", "__weakref__", "__sizeof__", "__dir__",
     "__reduce__", "__reduce_ex__", "__getstate__", "__init__", "__new__", "__annotations__", "__getattribute__"]
)  # fmt: skip
CALLABLES = (types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType)
#: Texts that classes and functions have, and may be given anew.
NAMES = frozenset(["__name__", "__qualname__", "__doc__", "__module__"])
FUNCTION_CONSTANTS = NAMES | {"__code__", "__get__", "__call__", "__class__"}


def is_of_memory(name: str) -> bool:
    """Whether it is something of an array that only NumPy's own has."""
    from ..numpy.methods import METHODS, PROPERTIES

    return (
        hasattr(np.ndarray, name) and not hasattr(TracedArray, name) and name not in METHODS and name not in PROPERTIES
    )


class Attributes(PlainArrays):
    """The part of a recorder that reads and stores attributes."""

    # -- attributes ------------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        if type(owner) is HostValue:
            if type(owner.value) not in INTEGERS:
                return getattr(self.concrete(owner), name)
            owner = self.traced(owner)
        if name == "__class__":
            return type_of(owner)
        if type(owner) is GrownList:
            return ListMethod(owner, name) if hasattr(list, name) else getattr([], name)
        if name in ("__module__", "__doc__") and type_of(owner) is range:
            return getattr(range(0), name)
        if isinstance(owner, (TracedArray, Selection)):
            return self.traced_attribute(owner, name)
        if type(owner) is types.ModuleType or isinstance(owner, types.ModuleType):
            return self.module_attribute(owner, name)
        if isinstance(owner, type):
            return self.class_attribute(owner, owner, name)
        if type(owner) is super:
            return self.super_attribute(owner, name)
        if is_user_object(owner):
            return self.instance_attribute(owner, name)
        if type(owner) is types.MethodType and not hasattr(types.MethodType, name):
            return self.attribute(owner.__func__, name)
        if isinstance(owner, types.FunctionType) and name not in FUNCTION_CONSTANTS:
            return self.function_attribute(owner, name)
        if is_generator(owner):
            return getattr(owner, name)
        if is_compiled(owner) and not isinstance(getattr(owner, name, None), CALLABLES):
            value = getattr(owner, name)
            self.outside(value, ATTRIBUTE, self.steps.object(owner), name)
            return value
        if type(owner) is threading.local:
            return self.of_the_thread(owner, name)
        if id(owner) in self.opaque:
            return self.opaque_attribute(owner, name)
        value = self.guarded(getattr, (owner, name), {})
        if not isinstance(owner, types.FunctionType) or id(owner) in self.own_functions:
            return value
        self.note_function(owner)
        return self.outside(value, ATTRIBUTE, self.steps.object(owner), name) if name in NAMES else value

    def function_attribute(self, owner: types.FunctionType, name: str) -> Any:
        space = owner.__dict__
        stored = self.overlay.get((ENTRY, id(space), name))
        if stored is not None:
            return stored[2]
        if name in space:
            return space[name] if id(owner) in self.own_functions else self.outside(space[name], ENTRY, space, name)
        if id(owner) not in self.own_functions:
            self.steps.entry(space, name, ABSENT)
        if hasattr(owner, name):
            return self.refuse(f"the attribute '{name}' of a function")
        return getattr(owner, name)  # raises

    def of_the_thread(self, owner: threading.local, name: str) -> Any:
        """An attribute of a threading.local: each thread has a dictionary of its own."""
        space = self.outside(owner.__dict__, ATTRIBUTE, self.steps.object(owner), "__dict__")
        if name == "__dict__":
            return space
        if name not in space:
            raise AttributeError(f"'_thread._local' object has no attribute '{name}'")
        return space[name]

    def traced_attribute(self, owner: Any, name: str) -> Any:
        kind = type_of(owner)
        is_ours = name in OF_THE_STAND_IN and not self.bakes
        if is_ours or (name.startswith("__") and hasattr(kind, name) and not hasattr(type(owner), name)):
            self.refuse(f"'{name}' of an array")
        if not hasattr(kind, name) and not (self.bakes and hasattr(type(owner), name)):
            raise AttributeError(f"'{kind.__module__}.{kind.__name__}' object has no attribute '{name}'")
        if name == "base" and isinstance(owner, TracedArray):
            return self.base_of(owner)
        if name == "__array_priority__":
            given = np.zeros((), owner.dtype)
            return (given[()] if type_of(owner) is not np.ndarray else given).__array_priority__
        if self.can_break() and isinstance(owner, TracedArray) and not owner.scalar and is_of_memory(name):
            return self.by_host(owner, name)
        return self.guarded(getattr, (owner, name), {})

    def base_of(self, owner: TracedArray) -> None:
        """None where an array has its memory itself: one that was computed, or given so."""
        given = next((g for g in self.arrays.values() if not owner._steps and g[1]._storage is owner._storage), None)
        if given is not None and given[0].base is None:
            self.steps.check("is", self.steps.step(ATTRIBUTE, given[2], "base"), None)
        elif not owner.scalar and (owner._steps or not owner._storage.owned):
            self.refuse("'base' of an array that may be a view")

    def by_host(self, owner: TracedArray, name: str) -> Any:
        """A method or attribute that only an array of NumPy's own has."""
        if callable(getattr(np.ndarray, name)):
            return BoundMethod(owner, name, None)
        return self.refuse(f"'{name}' of an array")

    def can_break(self) -> bool:
        return False

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        raise NotImplementedError

    def attribute_place(self, owner: Any, name: str) -> Any:
        raise NotImplementedError

    def module_attribute(self, module: types.ModuleType, name: str) -> Any:
        space = vars(module)
        stored = self.overlay.get((ENTRY, id(space), name))
        if stored is not None:
            return stored[2]
        if type(module) is not types.ModuleType:
            value, definer = self.found_in_class(type(module), name)
            if definer is not None and definer.__flags__ & HEAP and is_descriptor(value):
                if hasattr(type(value), "__set__"):
                    return self.described(module, value, name)
                if name not in space:
                    self.steps.entry(space, name, ABSENT)
                    return self.bound(module, value, name, definer)
        if name not in space:
            finder = space.get("__getattr__")
            if isinstance(finder, types.FunctionType) and not module.__name__.startswith("numpy"):
                self.steps.entry(space, name, ABSENT)
                return self.call(finder, (name,), {})
            if isinstance(finder, types.MethodWrapperType) and finder.__name__ == "__getattribute__":
                self.steps.entry(space, name, ABSENT)
                self.steps.entry(space, "__getattr__", finder)
                return self.attribute(finder.__self__, name)
            try:
                value = self.attribute_of_type(module, name)  # np.random and the like are found by __getattr__
            except AttributeError:
                self.steps.entry(space, name, ABSENT)
                raise
            if not isinstance(value, types.ModuleType) and name not in vars(module):
                self.refuse(f"'{name}' is computed by the module '{module.__name__}'")
            return value
        return self.outside(space[name], ENTRY, space, name)

    def class_attribute(self, kind: type, owner: Any, name: str) -> Any:
        if name == "__dict__":
            self.refuse("the attributes of a class as a dictionary")
        stored = self.stored_in_class(kind.__mro__, name)
        if stored is not ABSENT:
            return stored
        value, definer = self.found_in_class(kind, name)
        meta, _ = lookup(type(kind), name)
        if definer is None or (meta is not ABSENT and hasattr(type(meta), "__set__")) or not kind.__flags__ & HEAP:
            found = self.attribute_of_type(kind, name)
            is_name = name in NAMES and kind.__flags__ & HEAP
            return self.outside(found, ATTRIBUTE, self.steps.object(kind), name) if is_name else found
        if isinstance(value, staticmethod):
            return value.__func__
        if isinstance(value, classmethod):
            return types.MethodType(value.__func__, kind)
        if isinstance(value, (types.FunctionType, property)) or hasattr(type(value), "__get__"):
            return value if isinstance(value, types.FunctionType) else getattr(kind, name)
        return self.outside(value, "class", self.steps.object(definer), name)

    def found_in_class(self, kind: type, name: str) -> tuple[Any, type | None]:
        """An attribute as it stands in a class or a base, and the class that has it: at later calls, too."""
        if kind.__flags__ & HEAP:
            self.steps.entry(kind, BASES, kind.__mro__)
        return self.found_among(kind.__mro__, name)

    def found_among(self, bases: tuple[type, ...], name: str) -> tuple[Any, type | None]:
        """An attribute of the first of some classes that has it. What is no method is looked at where it is read."""
        for base in bases:
            own = vars(base).get(name, ABSENT)
            if base.__flags__ & HEAP and (own is ABSENT or is_descriptor(own)):
                self.steps.entry(base, name, own)
            if own is not ABSENT:
                return own, base
        return ABSENT, None

    def stored_in_class(self, mro: tuple[type, ...], name: str) -> Any:
        """What this call has stored in the first of some classes that has such an attribute; ABSENT where that is older."""
        for base in mro if self.overlay else ():
            stored = self.overlay.get((ATTRIBUTE, id(base), name))
            if stored is not None or name in vars(base):
                return ABSENT if stored is None else stored[2]
            if base.__flags__ & HEAP:
                self.steps.entry(base, name, ABSENT)
        return ABSENT

    def attribute_of_type(self, owner: Any, name: str) -> Any:
        """What a class has from its metaclass, a module from its class."""
        found = self.found_in_class(type(owner), name)[0]
        function = found.fget if isinstance(found, property) else found
        if found is ABSENT:
            function = self.found_in_class(type(owner), "__getattr__")[0]
        if not is_method_of_users(function):
            return getattr(owner, name)
        if isinstance(found, property):
            return self.call(function, (owner,), {})
        return self.call(function, (owner, name), {}) if found is ABSENT else types.MethodType(function, owner)

    def super_attribute(self, owner: super, name: str) -> Any:
        this, instance = owner.__thisclass__, owner.__self__
        kind = instance if isinstance(instance, type) else type_of(instance)
        rest = kind.__mro__[kind.__mro__.index(this) + 1 :]
        stored = self.stored_in_class(rest, name)
        if stored is not ABSENT:
            return stored
        value, definer = self.found_among(rest, name)
        if isinstance(value, types.FunctionType):
            return value if isinstance(instance, type) or name == "__new__" else types.MethodType(value, instance)
        if isinstance(value, property):
            return self.call(value.fget, (instance,), {})
        if definer is not None and definer.__flags__ & HEAP and not hasattr(type(value), "__get__"):
            return self.outside(value, "class", self.steps.object(definer), name)
        return getattr(owner, name)

    def opaque_attribute(self, owner: Any, name: str) -> Any:
        value, definer = lookup(type(owner), name)
        if is_own_constant(type(owner)):
            return getattr(owner, name)
        if id(owner) in self.structures and isinstance(value, types.MemberDescriptorType):
            return self.outside(getattr(owner, name), ATTRIBUTE, self.steps.object(owner), name)
        if definer is None or not isinstance(value, (types.MethodDescriptorType, types.BuiltinFunctionType)):
            self.refuse(f"'{name}' of an object of type {type(owner).__name__}")
        return getattr(owner, name)

    def instance_attribute(self, owner: Any, name: str) -> Any:
        """An attribute as an object has it; what it lacks, or gets by code that finds none, its `__getattr__` is asked for."""
        try:
            return self.own_attribute(owner, name)
        except AttributeError:
            fallback, where = self.found_in_class(type(owner), "__getattr__")
            if where is None:
                raise
        return self.call(fallback, (owner, name), {})

    def own_attribute(self, owner: Any, name: str) -> Any:
        kind = type(owner)
        stored = self.overlay.get((ATTRIBUTE, id(owner), name))
        if stored is not None:
            return stored[2]
        self.require_ordinary(kind, "__getattribute__")
        given = self.stored_in_class(kind.__mro__, name)
        value, definer = self.found_in_class(kind, name) if given is ABSENT else (given, None)
        if definer is not None and (hasattr(type(value), "__set__") or hasattr(type(value), "__delete__")):
            return self.described(owner, value, name)
        space, is_outside = instance_space(owner), id(owner) not in self.fresh
        if space is not None and is_outside:
            self.steps.entry(owner, "__dict__", space)
        if space is not None and name in space:
            return self.outside(space[name], ENTRY, space, name) if is_outside else space[name]
        if space is not None and is_outside:
            self.steps.entry(space, name, ABSENT)
        if given is not ABSENT:
            return given
        if definer is not None:
            return self.bound(owner, value, name, definer)
        raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")

    def require_ordinary(self, kind: type, name: str) -> None:
        """That a class of the user's says nothing of its own about attributes: `__setattr__ = dict.__setitem__`."""
        found, definer = self.found_in_class(kind, name)
        is_slot = isinstance(found, types.WrapperDescriptorType) and found.__objclass__ in (definer, object)
        if definer is not None and definer.__flags__ & HEAP and not is_slot:
            self.refuse(f"{kind.__name__} has a {name} of its own")

    def described(self, owner: Any, value: Any, name: str) -> Any:
        """An attribute that a property or slot gives."""
        if name == "__dict__":
            return self.call(vars, (owner,), {})
        if type(value) is property:
            if value.fget is None:
                raise AttributeError(f"property '{name}' of '{type(owner).__name__}' object has no getter")
            return self.call(value.fget, (owner,), {})
        if isinstance(value, types.MemberDescriptorType):
            if id(owner) in self.fresh or self.found_unset(value, owner):
                return value.__get__(owner)
            return self.outside(value.__get__(owner), ATTRIBUTE, self.steps.object(owner), name)
        getter = self.found_in_class(type(value), "__get__")[0]
        if isinstance(getter, types.FunctionType):
            return self.call(getter, (value, owner, type(owner)), {})
        if name == "__weakref__":
            return self.refuse(f"'{name}' of an object")
        return getattr(owner, name)

    def bound(self, owner: Any, value: Any, name: str, definer: type) -> Any:
        if isinstance(value, types.FunctionType):
            return types.MethodType(value, owner)
        if isinstance(value, staticmethod):
            return value.__func__
        if isinstance(value, classmethod):
            return types.MethodType(value.__func__, type(owner))
        if type(value) is functools.cached_property:
            found = self.call(value.func, (owner,), {})
            self.set_attribute(owner, value.attrname, found)
            return found
        getter = self.found_in_class(type(value), "__get__")[0]
        if isinstance(getter, types.FunctionType):
            return self.call(getter, (value, owner, type(owner)), {})
        if getter is not ABSENT:
            return getattr(owner, name)
        return self.outside(value, "class", self.steps.object(definer), name)

    def store_attribute(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, TracedArray):
            if name in ("shape", "strides", "dtype") and self.is_given(owner) and not self.strict:
                self.refuse(f"'{name}' of an array that the function was given is set")
            self.require_no_user_objects(value)
            self.guarded(setattr, (owner, name, value), {})
            return
        if isinstance(owner, types.ModuleType):
            self.changes(owner, f"'{name}' of a module", self.entry_of_space(vars(owner), name))
            self.overlay[ENTRY, id(vars(owner)), name] = (vars(owner), name, value)
            return
        if is_compiled(owner) and type(value) in (str, int, bool, type(None)) and getattr(owner, name, ABSENT) == value:
            self.steps.check("equal", self.steps.step(ATTRIBUTE, self.steps.object(owner), name), value)
            return  # it has this value
        if type(owner) is threading.local:
            self.store_item(self.of_the_thread(owner, "__dict__"), name, value)
            return
        if id(owner) in self.errors and not contains_traced(value):
            self.changes(owner, f"the attribute '{name}' of an error", self.attribute_place(owner, name))
            object.__setattr__(owner, name, value)
            return
        if id(owner) in self.own_functions:
            self.changes(owner, f"the attribute '{name}' of a function", self.attribute_place(owner, name))
            setattr(owner, name, value)
            return
        if isinstance(owner, types.FunctionType) and not hasattr(types.FunctionType, name):
            self.changes(owner, f"the attribute '{name}' of a function", self.entry_of_space(owner.__dict__, name))
            self.overlay[ENTRY, id(owner.__dict__), name] = (owner.__dict__, name, value)
            return
        if not is_user_object(owner) and not isinstance(owner, type):
            self.refuse(f"the attribute '{name}' of {type(owner).__name__} is stored")
        setter = self.found_in_class(type(owner), "__setattr__")[0]
        if isinstance(setter, types.FunctionType):
            self.call(setter, (owner, name, value), {})
            return
        self.require_ordinary(type(owner), "__setattr__")
        self.set_attribute(owner, name, value)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """object.__setattr__"""
        descriptor = self.found_in_class(type(owner), name)[0]
        if type(descriptor) is property:
            if descriptor.fset is None:
                raise AttributeError(f"property '{name}' of '{type(owner).__name__}' object has no setter")
            self.call(descriptor.fset, (owner, value), {})
            return
        if descriptor is not ABSENT:
            setter = self.found_in_class(type(descriptor), "__set__")[0]
            if isinstance(setter, types.FunctionType):
                self.call(setter, (descriptor, owner, value), {})
                return
            if setter is not ABSENT and not isinstance(descriptor, types.MemberDescriptorType):
                self.refuse(f"the attribute '{name}' is stored by {type(descriptor).__name__}")
        if (
            instance_space(owner) is None
            and not isinstance(descriptor, types.MemberDescriptorType)
            and not isinstance(owner, type)
        ):
            raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
        if isinstance(owner, type) and (name[:2] == "__" or any(map(is_descriptor, (value, lookup(owner, name)[0])))):
            self.refuse(f"the method '{name}' of a class is stored")
        self.changes(owner, f"the attribute '{name}'", self.attribute_place(owner, name))
        if id(owner) in self.looked:
            self.refuse("the attributes of an object are stored, and looked at as a dictionary")
        if id(owner) in self.fresh:
            object.__setattr__(owner, name, value)
        else:
            self.overlay[ATTRIBUTE, id(owner), name] = (owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        if id(owner) not in self.fresh:
            self.refuse(f"the attribute '{name}' is deleted")
        self.require_ordinary(type(owner), "__delattr__")
        self.changes(owner)
        delattr(owner, name)


def is_descriptor(value: Any) -> bool:
    """Whether it is a method or the like, which Python binds."""
    return hasattr(type(value), "__get__") or hasattr(type(value), "__set__")
