"""Calls of Python's own library that depend on their arguments alone, and of functions that remember their results."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import itertools
import math
import operator
import os
import re
import types
import typing
import warnings
from typing import Any

import numpy as np

from ..numpy.tracer import Selection, TracedArray
from .calls import METHODS, SPECIAL, Callback, special
from .kinds import ABSENT, HEAP, INTEGERS, LARGEST, OWN, instance_space, is_user_object, lookup, type_of
from .machine import Stop
from .natives import OWNERS
from .outside import ATTRIBUTE, CALL, ENTRY, HostValue

__all__ = ["Remembered", "call_cached"]

#: What gives errors their texts without asking anyone.
TEXTS_OF_ERRORS = (BaseException.__str__, KeyError.__str__)
#: What text is made of without asking anyone, and what no copy is made of.
CONSTANTS = (str, int, float, complex, bool, bytes, type(None), type, type(Ellipsis), np.dtype)


def is_constant(value: Any) -> bool:
    """Whether it is a constant, or a list, tuple or dictionary of constants."""
    if type(value) in (list, tuple):
        return all(map(is_constant, value))
    if type(value) is dict:
        return all(map(is_constant, value)) and all(map(is_constant, value.values()))
    if isinstance(value, BaseException):
        return type(value).__str__ in TEXTS_OF_ERRORS and is_constant(value.args)
    return type(value) in CONSTANTS or isinstance(value, np.dtype)


@special(super)
def call_super(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) == 2 and not kwargs and (is_user_object(args[1]) or isinstance(args[1], type)):
        return super(*args)
    return r.refuse("super of what is no object of a class of its own")


def text_function(function: Any) -> Any:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and is_user_object(args[0]) and function in (str, repr):
            names = ("__str__", "__repr__") if function is str else ("__repr__",)
            found = [r.found_in_class(type(args[0]), name)[0] for name in names]
            method = next((m for m in found if isinstance(m, types.FunctionType)), None)
            if method is not None and (method is found[0] or found[0] is object.__str__):
                text = r.call(method, (args[0],), {})
                return text if type(text) is str else r.refuse("what is no text as the text of an object")
        r.require_known(args[0]) if args else None
        values = tuple(map(r.concrete_deep, args))
        if kwargs or not all(is_constant(value) or type(value) in INTEGERS for value in values):
            return r.refuse("a value as text")
        return r.guarded(function, values, {})

    return form


for _function in (str, repr, ascii, format):
    SPECIAL[id(_function)] = text_function(_function)


class QuietWarnings:
    """warnings.catch_warnings() in a program, which warns of nothing."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder

    def __enter__(self) -> None:
        self.recorder.quiet += 1

    def __exit__(self, *_: Any) -> None:
        self.recorder.quiet -= 1


OWN.add(QuietWarnings)


@special(warnings.catch_warnings)
def call_catch_warnings(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if (
        r.trace.is_repeated
        or args
        or any(kwargs.get(name) not in (None, False) for name in ("record", "module", "action"))
    ):
        return r.refuse("warnings are recorded")
    return QuietWarnings(r)


@special(warnings.simplefilter, warnings.filterwarnings)
def call_filter_warnings(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    if not r.quiet or (args[0] if args else kwargs.get("action")) not in (
        "ignore",
        "default",
        "always",
        "once",
        "module",
    ):
        r.refuse("which warnings are seen is changed")


@special(inspect.signature)
def call_signature(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The signature of a function is what it is, unless somebody gives it another."""
    if len(args) != 1 or kwargs or not isinstance(args[0], types.FunctionType):
        return r.refuse("the signature of what is no function")
    function: Any = args[0]
    while isinstance(function, types.FunctionType):
        r.note_function(function)
        for name in ("__signature__", "__wrapped__"):
            r.steps.entry(function.__dict__, name, function.__dict__.get(name, ABSENT))
        function = function.__dict__.get("__wrapped__")
    found = inspect.signature(args[0])
    r.seen[id(found)] = found
    return found


@special(functools.update_wrapper)
def call_update_wrapper(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A function that the call makes looks like one that it wraps."""
    usual = {"assigned": functools.WRAPPER_ASSIGNMENTS, "updated": functools.WRAPPER_UPDATES}
    given = {**usual, **dict(zip(("wrapper", "wrapped", *usual), args, strict=False)), **kwargs}
    wrapper, wrapped = given.get("wrapper"), given.get("wrapped")
    wrapped = wrapped.function if type(wrapped) is Callback else wrapped
    is_usual = all(given[name] == value for name, value in usual.items()) and len(given) == 4
    if (
        not is_usual
        or not isinstance(wrapped, types.FunctionType)
        or id(wrapper) not in r.own_functions
        or any(name != "__wrapped__" for name in vars(wrapped))
    ):
        return r.refuse("the names of a function are given to another")
    return functools.update_wrapper(wrapper, wrapped)


@special(math.fsum, math.dist)
def call_of_many(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Functions of Python's of all elements of arrays and lists."""
    function = math.dist if len(args) == 2 else math.fsum
    many = [a if isinstance(a, TracedArray) and a.ndim == 1 else r.listed(r.frame, a) for a in args]
    if any(isinstance(a, TracedArray) for items in many for a in (items if type(items) is list else [items])):
        return r.host_call(function, tuple(many)) if r.can_break() else r.native(function, args, kwargs)
    return r.native(function, tuple(many), kwargs)


@special(os.fspath)
def call_fspath(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return args[0] if len(args) == 1 and type(args[0]) in (str, bytes) else r.refuse("the path of an object")


class Variables(dict):
    """What ``vars`` gives of an object of the surroundings: to be looked at."""

    def _changed(self, *_: Any, **__: Any) -> Any:
        raise Stop("the variables of an object are changed as a dictionary")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _changed  # type: ignore[assignment]


OWNERS.add(Variables)


@special(vars)
def call_vars(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    owner = args[0] if args else None
    space = instance_space(owner) if is_user_object(owner) else None
    if space is None or type(space) is not dict or len(space) > LARGEST:
        return r.refuse("'vars' is called")
    if id(owner) in r.fresh:
        r.spaces[id(space)] = owner
        return space
    if any(kind == ATTRIBUTE and holder is owner for (kind, _, _), (holder, _, _) in r.overlay.items()):
        return r.refuse("'vars' of an object whose attributes are stored")
    r.looked[id(owner)] = owner
    r.steps.entry(owner, "__dict__", space)
    r.steps.check("keys", r.steps.object(space), list(space))
    return Variables({name: r.outside(value, ENTRY, space, name) for name, value in space.items()})


@special(inspect.getattr_static)
def call_getattr_static(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An attribute as it stands in the classes of a value; in the value itself nobody may have put one."""
    given = dict(zip(("obj", "attr", "default"), args, strict=False)) | kwargs
    value, name = given["obj"], given["attr"]
    kind, space = type_of(value), None
    if isinstance(value, type) or lookup(type(kind), "__call__")[0] is not type.__dict__["__call__"]:
        return r.refuse("an attribute of a class, as it stands there")
    if kind is type(value):
        space = instance_space(value)
        if space is not None and (name in space or id(value) in r.fresh or (ATTRIBUTE, id(value), name) in r.overlay):
            return r.refuse("an attribute as it stands in an object")
        if space is not None:
            r.steps.entry(value, "__dict__", space)
            r.steps.entry(space, name, ABSENT)
    found, definer = lookup(kind, name)
    for base in kind.__mro__:
        if base.__flags__ & HEAP:
            r.steps.entry(base, name, vars(base).get(name, ABSENT))
    if definer is not None:
        r.seen[id(found)] = found
        return found
    if "default" in given:
        return given["default"]
    raise AttributeError(name)


@special(types.SimpleNamespace)
def call_namespace(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    made = types.SimpleNamespace(*args, **kwargs)
    r.fresh[id(made)] = made
    return r.born(made)


@special(typing.cast)
def call_cast(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return args[1] if len(args) == 2 else kwargs["val"]


def call_chained(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.born(chained(r, r.iterate_plainly(r.frame, args[0])))


METHODS[itertools.chain, "from_iterable"] = call_chained


def chained(r: Any, many: Any) -> Any:
    while True:
        try:
            inner = r.iterate_plainly(r.frame, r.next_of(r.frame, many))
        except StopIteration:
            return
        while True:
            try:
                value = r.next_of(r.frame, inner)
            except StopIteration:
                break
            yield value


def pattern_function(function: Any) -> Any:
    """A function of ``re``: it keeps patterns that it has seen, which nobody notices."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        values, named = tuple(map(r.concrete_deep, args)), {k: r.concrete_deep(v) for k, v in kwargs.items()}
        if not all(type(v) in (str, bytes, int, re.Pattern, re.RegexFlag) for v in (*values, *named.values())):
            return r.refuse("a pattern and what is no text")
        return r.born_result(r.guarded(function, values, named))

    return form


for _pattern_function in (
    re.match,
    re.search,
    re.fullmatch,
    re.sub,
    re.subn,
    re.split,
    re.findall,
    re.compile,
    re.escape,
):
    SPECIAL[id(_pattern_function)] = pattern_function(_pattern_function)


# -- copies --------------------------------------------------------------------------------------------------------------


@special(copy.copy)
def call_copy(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    value = args[0]
    if type(value) in (list, dict, set):
        return r.born(value.copy())
    if type(value) is tuple or is_constant(value):
        return value
    return copied_deep(r, value, {})


@special(copy.deepcopy)
def call_deepcopy(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return copied_deep(r, args[0], {}) if len(args) == 1 and not kwargs else r.refuse("a copy with a memory")


def copied_deep(r: Any, value: Any, memory: dict[int, Any]) -> Any:
    """A copy of lists, tuples, dictionaries and arrays; what is in it twice is so in the copy."""
    if id(value) in memory:
        return memory[id(value)]
    kind = type(value)
    if kind in CONSTANTS or kind is HostValue or (isinstance(value, TracedArray) and value.scalar):
        return value
    if kind is list:
        result = memory[id(value)] = r.born([])
        result.extend(copied_deep(r, item, memory) for item in value)
    elif kind is dict and all(map(is_constant, value)):
        result = memory[id(value)] = r.born({})
        result.update({key: copied_deep(r, item, memory) for key, item in value.items()})
    elif kind is tuple:
        result = memory[id(value)] = copied_tuple(r, value, memory)
    elif isinstance(value, (TracedArray, Selection)) or kind is np.ndarray:
        result = memory[id(value)] = r.born_result(r.guarded(lambda a: a.copy(order="K"), (value,), {}))
    else:
        return r.refuse("an object is copied")
    return result


def copied_tuple(r: Any, value: tuple, memory: dict[int, Any]) -> tuple:
    items = [copied_deep(r, item, memory) for item in value]
    return value if all(new is old for new, old in zip(items, value, strict=True)) else tuple(items)


# -- functions that remember their results ---------------------------------------------------------------------------------

NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "nothing"})()


class Remembered:
    """What a function with a cache remembers for such arguments, found without a trace in the cache."""

    def __init__(self, function: Any, key: Any) -> None:
        self.function, self.key = function, key
        self.misses, self.held, self.result = -1, NOTHING, NOTHING
        self.cache = next((d for d in gc.get_referents(function) if type(d) is dict and d is not vars(function)), {})

    def __call__(self) -> Any:
        held = self.cache.get(self.key, NOTHING)
        misses = self.function.cache_info().misses
        if held is not self.held or misses != self.misses:
            self.misses, self.held, self.result = misses, held, self.result_of(held)
        return self.result

    def result_of(self, held: Any) -> Any:
        """A cache without a limit holds results, another one holds links, which the function lists with key and result."""
        if held is NOTHING or self.function.cache_parameters()["maxsize"] is None:
            return held
        parts = gc.get_referents(self.function)
        key = next((k for k in self.cache if k == self.key), NOTHING)
        for at, part in enumerate(parts[:-2]):
            if part is key and parts[at + 2] is type(held):
                return parts[at + 1]
        return NOTHING


def call_getter(r: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call of an operator.attrgetter or operator.methodcaller, which tell by pickling what they were made of."""
    if len(args) != 1 or kwargs:
        return r.guarded(function, args, kwargs)
    maker, given = function.__reduce__()
    if type(function) is operator.methodcaller:
        named = maker.keywords if type(maker) is functools.partial else {}
        name, *rest = (*maker.args, *given) if type(maker) is functools.partial else given
        return r.call(r.attribute(args[0], name), tuple(rest), named)
    values = [functools.reduce(r.attribute, path.split("."), args[0]) for path in given]
    return values[0] if len(values) == 1 else tuple(values)


def call_cached(r: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A function with a cache: what it remembers; that it was asked is done again once the program has run."""
    args, kwargs = tuple(map(r.concrete_deep, args)), {k: r.concrete_deep(v) for k, v in kwargs.items()}
    if r.trace.is_repeated or not all(map(is_plain_key, (*args, *kwargs.values()))):
        return r.refuse("a function with a cache is called, which remembers the call")
    key = key_of(function, args, kwargs)
    known = r.remembered.get((id(function), key))
    if known is None:
        known = r.remembered[id(function), key] = Remembered(function, key)
    result = known()
    if result is NOTHING:
        r.steps.check("is", r.steps.step(CALL, known, ()), NOTHING)
        return r.refuse("a function with a cache is called, which remembers the call")
    r.asked.append((function, args, kwargs))
    return r.outside(result, CALL, known, ())


def key_of(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The key that Python's cache has for such arguments."""
    is_typed = function.cache_parameters()["typed"]
    if len(args) == 1 and not kwargs and not is_typed and type(args[0]) in (str, int):
        return args[0]
    mark = next((part for part in gc.get_referents(function) if type(part) is object), NOTHING)
    key = (*args, mark, *itertools.chain.from_iterable(kwargs.items())) if kwargs else args
    return (*key, *map(type, args), *map(type, kwargs.values())) if is_typed else key


def is_plain_key(value: Any) -> bool:
    """Whether Python itself says what it is equal to."""
    if type(value) is tuple:
        return all(map(is_plain_key, value))
    kind = type(value)
    if isinstance(value, type):
        return kind.__hash__ is type.__hash__ and kind.__eq__ is type.__eq__
    return kind in (str, int, float, bool, bytes, type(None), types.ModuleType, types.FunctionType)
