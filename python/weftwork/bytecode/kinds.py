"""What kind of value something is: a constant, an object of the user's, a container, what stands for an array."""

from __future__ import annotations

import collections
import decimal
import enum
import re
import types
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import _core
from ..numpy.growing import GrownList
from ..numpy.maybe import Maybe
from ..numpy.tracer import Selection, TracedArray
from ..pytree import is_record, items_of
from .outside import HostValue

__all__ = [
    "ABSENT",
    "Mirror",
    "answers",
    "attributes_of",
    "contains_traced",
    "held_by",
    "holds_object",
    "is_record",
    "is_unset",
    "is_user_object",
    "type_of",
]

#: Containers of the surroundings that hold more are not taken into a program.
LARGEST = 256
#: In the place of an entry: it is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "nothing"})()
#: Values that are what they are: two that are equal need not be told apart.
#: Python's own numbers.
NUMBERS = (int, float, complex, bool)
#: NumPy's integers are indices and extents where Python's are: numbers that Python has.
INTEGERS = frozenset(np.dtype(code).type for code in "bhilqBHILQ")
CONSTANTS = (str, int, bytes, type(Ellipsis), type(NotImplemented), range, slice)
SAME = (
    bool,
    type(None),
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodType,
    np.ufunc,
    np.dtype,
    types.UnionType,
    types.GenericAlias,
    re.Pattern,
)
#: Instances of classes of the user's whose attributes are not watched.
UNWATCHED = (type, np.generic, BaseException, enum.Enum)
#: Modules of Python's, and NumPy, whose special methods have no effects.
STANDARD = frozenset(["abc", "enum", "typing", "numbers", "_collections_abc", "numpy"])
#: Special methods that no operator calls; what gives texts is known by has_own_text.
NO_OPERATORS = frozenset(
    [
        "__init__",
        "__new__",
        "__del__",
        "__repr__",
        "__str__",
        "__format__",
        "__dir__",
        "__reduce__",
        "__reduce_ex__",
        "__getstate__",
        "__setstate__",
        "__copy__",
        "__deepcopy__",
        "__getattr__",
        "__setattr__",
        "__delattr__",
        "__init_subclass__",
        "__subclasshook__",
        "__instancecheck__",
        "__subclasscheck__",
        "__set_name__",
        "__prepare__",
        "__class_getitem__",
    ]
)
#: Classes of the user's that are derived from these hold more than their attributes.
CONTAINERS = (dict, list, set, bytearray, collections.deque, tuple, frozenset)


class Mirror:
    """What stands for a list or dictionary of the surroundings while a call is recorded: a copy with traced values in it."""

    __slots__ = ("copy", "original", "snapshot", "step")

    def __init__(self, original: Any, copy: Any, step: int) -> None:
        self.original, self.copy, self.step = original, copy, step
        self.snapshot = contents(copy)

    def is_changed(self) -> bool:
        now = contents(self.copy)
        return len(now) != len(self.snapshot) or any(a is not b for a, b in zip(now, self.snapshot, strict=True))


def contents(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [part for pair in container.items() for part in pair]
    return list(container)


def is_user_object(value: Any) -> bool:
    """Whether it is an instance of a class that Python code defines, whose attributes are watched."""
    kind = type(value)
    return kind is types.SimpleNamespace or (
        kind.__flags__ & HEAP != 0 and kind not in OWN and not issubclass(kind, UNWATCHED) and has_python(kind)
    )


def answers(value: Any) -> bool:
    """Whether Python code of its class may say what operators do with it: an object of the user's, or a class, an
    error, a member of an enum or a NumPy scalar with methods of its own for them."""
    kind: Any = type(value)
    if not kind.__flags__ & HEAP or not issubclass(kind, UNWATCHED):
        return is_user_object(value)
    named = [pair for base in kind.__mro__ for pair in vars(base).items()]
    return any(k[:2] == "__" and k not in NO_OPERATORS and is_method_of_users(v) for k, v in named)


def is_method_of_users(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and str(value.__module__).partition(".")[0] not in STANDARD


def answers_equality(value: Any) -> bool:
    """Whether Python code of its class may say what it is equal to."""
    return answers(value) and not (isinstance(value, UNWATCHED) and compares_by_identity(value))


def holds_object(value: Any, asked: Callable[[Any], bool] = answers, depth: int = 0) -> bool:
    """Whether it is, or holds, an object whose class answers; what lies deep in others may be one."""
    if type(value) in (list, tuple, set, frozenset):
        return depth > 6 or any(holds_object(item, asked, depth + 1) for item in value)
    if type(value) is slice:
        return any(map(asked, (value.start, value.stop, value.step)))
    if isinstance(value, dict) and not is_user_object(value):
        return depth > 6 or any(holds_object(item, asked, depth + 1) for item in (*value, *value.values()))
    return asked(value)


#: Types whose text is their own, whatever they hold.
TEXTS = frozenset(
    (*NUMBERS, *CONSTANTS, bytearray, type(None), decimal.Decimal, re.Pattern, np.ufunc)
    + (types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
)


def has_own_text(value: Any, depth: int = 0) -> bool:
    """Whether repr() runs code of Python, NumPy and this package alone, for all that it shows."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return depth < 6 and all(has_own_text(item, depth + 1) for item in value)
    if kind is dict:
        return depth < 6 and all(has_own_text(item, depth + 1) for item in (*value, *value.values()))
    if kind is slice:
        return all(map(has_own_text, (value.start, value.stop, value.step)))
    if isinstance(value, type):
        return kind.__repr__ is type.__repr__
    if isinstance(value, enum.Enum):
        return kind.__repr__ is enum.Enum.__repr__ and has_own_text(value._value_, depth + 1)
    if isinstance(value, (np.ndarray, np.generic)):
        return not value.dtype.hasobject and kind.__module__ == "numpy"
    return kind in TEXTS or isinstance(value, np.dtype) or is_own(kind.__module__)


def is_method_of_data(value: Any) -> bool:
    """Whether it is a method bound to what may change and is watched: a list, a dictionary, an array."""
    if not isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType, types.MethodType)):
        return False
    owner = value.__self__
    return owner is not None and not isinstance(owner, (types.ModuleType, type)) and not is_user_object(owner)


def compares_by_identity(value: Any) -> bool:
    """Whether what an object is equal to, and its hash, is no business of Python code of the user's."""
    found = [lookup(type(value), name) for name in ("__eq__", "__hash__")]
    if isinstance(value, UNWATCHED):
        return not any(is_method_of_users(method) for method, _ in found)
    return all(definer is object for _, definer in found)


HEAP = 1 << 9
OWN: set[type] = {np.errstate}  # and what stands for others of Python's own
_python_classes: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_own(module: Any) -> bool:
    """Whether a module is a part of this package that is called as it is; layers are recorded as users' own are."""
    return (
        isinstance(module, str) and f"{module}.".startswith("weftwork.") and not f"{module}.".startswith("weftwork.nn.")
    )


def is_own_constant(kind: type) -> bool:
    """Whether it is a class of this package whose instances never change."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen and is_own(kind.__module__)


def has_python(kind: type) -> bool:
    known = _python_classes.get(kind)
    if known is None:
        module = kind.__module__ if isinstance(kind.__module__, str) else ""
        ours = is_own(module) or module.startswith(("numpy.lib", "numpy._core"))
        known = _python_classes[kind] = not ours and any(
            "__dict__" in vars(c)
            or "__slots__" in vars(c)
            or any(isinstance(v, types.FunctionType) for v in vars(c).values())
            for c in kind.__mro__[:-1]
            if c.__flags__ & HEAP
        )
    return known


def type_of(value: Any) -> type:
    """The type that the value has where nothing is traced."""
    if isinstance(value, TracedArray):
        if value.weak is not None:
            return value.weak
        return value.dtype.type if value.scalar else np.ndarray
    if isinstance(value, Selection):
        return np.ndarray
    if type(value) is HostValue:
        return type(value.value)
    if isinstance(value, _core.Dim):
        return int
    if type(value).__module__.startswith("weftwork."):
        return STANDS_FOR.get(type(value).__name__, type(value))
    return type(value)


STANDS_FOR: dict[str, type] = {"Variables": dict, "Range": range, "Flat": np.flatiter, "GrownList": list}


def lookup(kind: type, name: str) -> tuple[Any, type | None]:
    """An attribute of a class as it stands there, and the class that has it."""
    for base in kind.__mro__:
        if name in vars(base):
            return vars(base)[name], base
    return ABSENT, None


def instance_space(owner: Any) -> dict[str, Any] | None:
    """The dictionary of an object; None where it has slots only."""
    try:
        return object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None


def is_unset(place: Any, *owner: Any) -> bool:
    """Whether a cell, or a slot of an object, holds nothing."""
    try:
        _ = place.__get__(*owner) if owner else place.cell_contents
    except (AttributeError, ValueError):
        return True
    return False


def contains_traced(value: Any, depth: int = 0) -> bool:
    """Whether it is, or holds, anything that stands for a value."""
    if isinstance(value, (TracedArray, Selection, HostValue, _core.Dim, GrownList)):
        return True
    if depth > 6:
        return False
    if isinstance(value, tuple):
        return any(contains_traced(v, depth + 1) for v in tuple.__iter__(value))
    if type(value) in (list, set, frozenset, collections.deque):
        return any(contains_traced(v, depth + 1) for v in value)
    if isinstance(value, dict):
        return any(contains_traced(v, depth + 1) for v in dict.values(value))
    if type(value) is types.MappingProxyType:
        return any(contains_traced(v, depth + 1) for v in value.values())
    if type(value) is slice:
        return any(contains_traced(v) for v in (value.start, value.stop, value.step))
    return False


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object has in its dictionary and its slots."""
    found = dict(getattr(value, "__dict__", ()))
    for base in type(value).__mro__:
        names = [n for n, v in vars(base).items() if isinstance(v, types.MemberDescriptorType) and n != "__dict__"]
        found |= {name: object.__getattribute__(value, name) for name in names if hasattr(value, name)}
    return found


def held_by(value: Any, fresh: dict[int, Any]) -> Iterable[Any]:
    """What a container holds, or an object that the function made (``fresh``, by id), or a variable that may be None."""
    if isinstance(value, (list, tuple, dict)):
        return items_of(value)
    if type(value) is Maybe:
        return (value.value,)
    return attributes_of(value).values() if id(value) in fresh else ()
