"""Which functions that are not Python code may be called while a function is recorded.

A function that is not listed is taken to have effects: the recording ends before it is called.
"""

from __future__ import annotations

import bisect
import builtins
import cmath
import collections
import functools
import heapq
import itertools
import math
import operator
import re
import sys
import types
from typing import Any

import numpy as np

__all__ = ["is_numpy_function", "is_pure", "mutates"]

#: Builtin functions and types whose result depends on their arguments alone, and which leave them as they are.
PURE_BUILTINS = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "oct",
    "ord",
    "pow",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
]
#: Those of them that may call methods of what their arguments hold.
PURE: dict[int, Any] = {}
#: Methods that change the container that they belong to.
MUTATING = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "intersection_update",
        "difference_update",
        "symmetric_difference_update",
        "appendleft",
        "popleft",
        "extendleft",
        "rotate",
        "move_to_end",
        "subtract",
        "heappush",
        "heappop",
        "heapify",
        "heapreplace",
        "heappushpop",
        "insort",
        "insort_left",
        "insort_right",
        "__setitem__",
        "__delitem__",
        "__iadd__",
        "__imul__",
        "__ior__",
        "__iand__",
        "__isub__",
        "__ixor__",
    ]
)
#: Types whose methods depend on the object and the arguments alone; containers of them are the recording's own.
OWNERS: set[Any] = {
    list, dict, set, tuple, frozenset, str, bytes, bytearray, int, float, complex, bool, slice, range, type(None),
    collections.OrderedDict, collections.defaultdict, collections.deque, collections.Counter, types.MappingProxyType,
    type({}.keys()), type({}.values()), type({}.items()), np.dtype, np.ndarray, np.generic, type(np.finfo(np.float64)), np.iinfo,
    re.Pattern, re.Match,
}  # fmt: skip
#: Functions of NumPy's namespace that have effects, or read what is not among their arguments.
IMPURE_NUMPY = frozenset(
    [
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "memmap",
        "seterr",
        "geterr",
        "seterrcall",
        "geterrcall",
        "errstate",
        "set_printoptions",
        "get_printoptions",
        "printoptions",
        "setbufsize",
        "getbufsize",
        "show_config",
        "show_runtime",
        "test",
        "info",
        "array_repr",
        "array_str",
        "array2string",
        "open_memmap",
        "DataSource",
        "nditer",
        "nested_iters",
        "ndenumerate",
        "frompyfunc",
        "vectorize",
        "frombuffer",
        "from_dlpack",
        "fromregex",
        "get_include",
        "may_share_memory",
        "shares_memory",
        "copyto_",
        "busday_count",
        "datetime_as_string",
        "set_numeric_ops",
        "recfromcsv",
        "recfromtxt",
    ]
)


#: Functions that change the list that they are given first, and ask its elements which comes before which.
CHANGING = (
    *(heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop),
    *(bisect.insort, bisect.insort_left, bisect.insort_right),
)


def fill() -> None:
    for name in PURE_BUILTINS:
        PURE[id(getattr(builtins, name))] = getattr(builtins, name)
    impure = {"setitem", "delitem", "iadd", "iconcat", "imul", "setattr", "delattr"}
    for module in (math, cmath, operator, itertools, bisect):
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("__") and name not in impure:
                PURE[id(value)] = value
    for value in (
        *CHANGING,
        functools.partial,
        np.lib.array_utils.normalize_axis_index,
        collections.OrderedDict,
        collections.deque,
        collections.defaultdict,
        object,
        types.SimpleNamespace,
        types.MethodType,
        types.MappingProxyType,
    ):
        PURE[id(value)] = value


fill()
SAFE_TYPES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)


#: NumPy's modules whose public functions depend on their arguments alone.
PURE_MODULES = frozenset(
    [
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "numpy.lib.stride_tricks",
        "numpy.polynomial.polynomial",
        "numpy.lib.scimath",
        "numpy.char",
        "numpy.strings",
    ]
)
#: Those that were asked for, by identity.
_found: dict[int, Any] = {}


def is_numpy_function(function: Any) -> bool:
    """Whether it is a public function of NumPy without effects, a ufunc or one of its scalar types."""
    if isinstance(function, np.ufunc):
        return True
    if id(function) in _found:
        return True
    if not callable(function) or not is_in_numpy(function):
        return False
    _found[id(function)] = function
    return True


def is_in_numpy(function: Any) -> bool:
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    if not isinstance(module, str) or module not in PURE_MODULES or not isinstance(name, str):
        return False
    # A module that is not imported holds no function that anyone could have.
    public = not name.startswith("_") and name not in IMPURE_NUMPY
    return public and getattr(sys.modules.get(module), name, None) is function


def is_pure(function: Any) -> bool:
    """Whether a call may be done while recording: nobody sees it, but for changes of the container whose method it is."""
    if id(function) in PURE or is_numpy_function(function):
        return True
    if isinstance(function, SAFE_TYPES):
        owner = getattr(function, "__self__", None)
        if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return function.__objclass__ in OWNERS or function.__objclass__ is object
        if isinstance(owner, types.ModuleType) or owner is None:
            return False
        if isinstance(owner, type) and owner.__module__ == "ml_dtypes":
            return True
        if isinstance(owner, type):
            return owner in OWNERS or issubclass(owner, (tuple, np.generic))
        return type(owner) in OWNERS or isinstance(owner, (tuple, np.generic, np.dtype, np.ufunc))
    if isinstance(function, (operator.itemgetter, operator.attrgetter, operator.methodcaller)):
        return isinstance(function, operator.itemgetter)
    if isinstance(function, type) and issubclass(function, np.generic):
        return True
    return isinstance(function, type) and function.__module__ == "builtins" and issubclass(function, BaseException)


def mutates(function: Any) -> bool:
    """Whether it is a method that changes the container that it belongs to."""
    return getattr(function, "__name__", "") in MUTATING and isinstance(function, SAFE_TYPES)
