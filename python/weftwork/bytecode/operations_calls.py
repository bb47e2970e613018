"""Instructions that call, make functions, and build tuples, lists, sets, dicts and strings."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from .decode import VERSION
from .frame import NULL, Frame
from .machine import Machine, operation
from .stubs import native_instruction

# -- calls ---------------------------------------------------------------------------------------------------------------


def take(f: Frame, count: int) -> list[Any]:
    if not count:
        return []
    values = f.stack[-count:]
    del f.stack[-count:]
    return values


@operation("KW_NAMES")
def kw_names(m: Machine, f: Frame, i: Any) -> None:
    f.keywords = i.value


@operation("CALL")
def call(m: Machine, f: Frame, i: Any) -> None:
    stack, keywords = f.stack, f.keywords
    place = len(stack) - i.arg
    values = stack[place:]
    del stack[place:]
    upper, function = stack.pop(), stack.pop()
    if NULL_ABOVE:
        if upper is not NULL:
            values.insert(0, upper)
    elif function is NULL:
        function = upper
    else:
        values.insert(0, upper)
    if not keywords:
        stack.append(m.call(function, tuple(values), {}))
        return
    f.keywords = ()
    named = len(values) - len(keywords)
    stack.append(m.call(function, tuple(values[:named]), dict(zip(keywords, values[named:]))))


@operation("CALL_KW")
def call_kw(m: Machine, f: Frame, i: Any) -> None:
    f.keywords = f.stack.pop()
    call(m, f, i)


NULL_ABOVE = "CALL_KW" in dis.opmap


@operation("CALL_FUNCTION")
def call_function(m: Machine, f: Frame, i: Any) -> None:
    values = take(f, i.arg)
    f.stack.append(m.call(f.stack.pop(), tuple(values), {}))


@operation("CALL_METHOD")
def call_method(m: Machine, f: Frame, i: Any) -> None:
    values = take(f, i.arg)
    function = f.stack.pop()
    f.stack.pop()
    f.stack.append(m.call(function, tuple(values), {}))


@operation("CALL_FUNCTION_KW")
def call_function_kw(m: Machine, f: Frame, i: Any) -> None:
    keywords = f.stack.pop()
    values = take(f, i.arg)
    named = len(values) - len(keywords)
    f.stack.append(m.call(f.stack.pop(), tuple(values[:named]), dict(zip(keywords, values[named:]))))


@operation("CALL_FUNCTION_EX")
def call_function_ex(m: Machine, f: Frame, i: Any) -> None:
    kwargs = f.stack.pop() if i.arg is None or i.arg & 1 else {}
    args = f.stack.pop()
    function = f.stack.pop()
    if function is NULL:
        function = f.stack.pop()
    elif NULL_PUSHED:
        f.stack.pop()
    if type(args) is not tuple:
        args = tuple(all_of(m, f, args, lambda: f"{described(function)} argument after *"))
    f.stack.append(m.call(function, args, {} if kwargs is NULL else dict(kwargs)))


def described(function: Any) -> str:
    """A function as error messages of calls name it."""
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return str(function)
    module = getattr(function, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


def all_of(m: Machine, f: Frame, value: Any, what: Callable[[], str]) -> list[Any]:
    """The values of what stands behind a star; the error says what it is if it has none."""
    try:
        return m.listed(f, value, asks_length=True)
    except TypeError:
        if is_iterable(value):
            raise
    raise TypeError(f"{what()} must be an iterable, not {type(value).__name__}")


def is_iterable(value: Any) -> bool:
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")


NULL_PUSHED = "PUSH_NULL" in dis.opmap


@operation("CALL_INTRINSIC_1")
def call_intrinsic(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    if i.arg == TO_TUPLE:
        f.stack.append(tuple(value))
    elif i.arg == POSITIVE:
        f.stack.append(m.unary(operator.pos, value))
    elif i.arg == ENDS_GENERATOR:
        f.stack.append(error_of_generator(value))
    else:
        f.stack.append(native_instruction("CALL_INTRINSIC_1", i.arg, 1)(value))


ENDS_GENERATOR, POSITIVE, TO_TUPLE = 3, 5, 6


def error_of_generator(error: Any) -> Any:
    """What a generator raises whose body raises this."""
    if not isinstance(error, StopIteration):
        return error
    made = RuntimeError("generator raised StopIteration")
    made.__cause__ = made.__context__ = error
    return made


@operation("CALL_INTRINSIC_2")
def call_intrinsic_2(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack.append(native_instruction("CALL_INTRINSIC_2", i.arg, 2)(f.stack.pop(), value))


@operation("LOAD_BUILD_CLASS")
def load_build_class(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.build_class(f))


@operation("MAKE_FUNCTION")
def make_function(m: Machine, f: Frame, i: Any) -> None:
    name = f.stack.pop() if VERSION < (3, 11) else None
    code = f.stack.pop()
    flags = 0 if VERSION >= (3, 13) else i.arg
    closure = f.stack.pop() if flags & 8 else None
    annotations = f.stack.pop() if flags & 4 else None
    keyword_defaults = f.stack.pop() if flags & 2 else None
    defaults = f.stack.pop() if flags & 1 else None
    if code.co_freevars and closure is None:
        closure = tuple(CellType() for _ in code.co_freevars)  # the instruction behind brings the cells
    function = FunctionType(code, f.globals, code.co_name, defaults, closure)
    function.__kwdefaults__ = keyword_defaults
    if annotations:
        function.__annotations__ = as_dict(annotations)
    if name is not None:
        function.__qualname__ = name
    m.own_functions[id(function)] = m.born(function)
    f.stack.append(function)


def as_dict(annotations: Any) -> dict[str, Any]:
    """Annotations, which are written as a tuple of names and values."""
    return dict(zip(annotations[::2], annotations[1::2])) if isinstance(annotations, tuple) else annotations


@operation("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(m: Machine, f: Frame, i: Any) -> None:
    function, value = f.stack.pop(), f.stack.pop()
    if i.arg == 8:
        made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, value)
        made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
        m.own_functions[id(made)] = m.born(made)
        function = made
    elif i.arg == 4:
        function.__annotations__ = as_dict(value)
    elif i.arg == 2:
        function.__kwdefaults__ = value
    else:
        function.__defaults__ = value
    f.stack.append(function)


# -- building ------------------------------------------------------------------------------------------------------------


@operation("BUILD_TUPLE")
def build_tuple(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(tuple(take(f, i.arg)))


@operation("BUILD_LIST")
def build_list(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.born(take(f, i.arg)))


@operation("BUILD_SET")
def build_set(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.born(set(map(m.hashed, take(f, i.arg)))))


@operation("BUILD_MAP")
def build_map(m: Machine, f: Frame, i: Any) -> None:
    values = take(f, 2 * i.arg)
    f.stack.append(m.born(dict(zip(map(m.hashed, values[::2]), values[1::2]))))


@operation("BUILD_CONST_KEY_MAP")
def build_const_key_map(m: Machine, f: Frame, i: Any) -> None:
    keys = f.stack.pop()
    f.stack.append(m.born(dict(zip(keys, take(f, i.arg)))))


@operation("BUILD_STRING")
def build_string(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append("".join(take(f, i.arg)))


@operation("BUILD_SLICE")
def build_slice(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(slice(*take(f, i.arg)))


@operation("LIST_TO_TUPLE")
def list_to_tuple(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(tuple(f.stack.pop()))


@operation("LIST_APPEND")
def list_append(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    m.append_in_comprehension(f.stack[-i.arg], value)


@operation("SET_ADD")
def set_add(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    m.grow(f.stack[-i.arg])
    f.stack[-i.arg].add(m.hashed(value))


@operation("MAP_ADD")
def map_add(m: Machine, f: Frame, i: Any) -> None:
    value, key = f.stack.pop(), f.stack.pop()
    m.grow(f.stack[-i.arg])
    f.stack[-i.arg][m.hashed(key)] = value


@operation("LIST_EXTEND")
def list_extend(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack[-i.arg].extend(all_of(m, f, value, lambda: "Value after *"))


@operation("SET_UPDATE")
def set_update(m: Machine, f: Frame, i: Any) -> None:
    items = m.call(set, (f.stack.pop(),), {})
    f.stack[-i.arg].update(items)


@operation("DICT_UPDATE")
def dict_update(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack[-i.arg].update(entries_of(m, value, lambda: f"'{type(value).__name__}' object is not a mapping"))


def entries_of(m: Machine, value: Any, complaint: Callable[[], str]) -> dict[Any, Any]:
    """What stands behind two stars, as a dict."""
    try:
        return m.mapping(value)
    except AttributeError:
        pass
    raise TypeError(complaint())


@operation("DICT_MERGE")
def dict_merge(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    target, function = f.stack[-i.arg], f.stack[-i.arg - (2 if VERSION < (3, 13) else 3)]
    what = lambda: f"{described(function)} argument after ** must be a mapping, not {type(value).__name__}"
    entries = entries_of(m, value, what)
    for key in entries:
        if key in target:
            if not isinstance(key, str):
                raise TypeError("keywords must be strings")
            raise TypeError(f"{described(function)} got multiple values for keyword argument '{key}'")
    target.update(entries)


# -- unpacking and formats -----------------------------------------------------------------------------------------------


@operation("UNPACK_SEQUENCE")
def unpack_sequence(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    if type(value) in (tuple, list):
        values, more = value, len(value) > i.arg
    else:
        iterator = unpacked(m, f, value)
        values = first_of(m, f, iterator, i.arg + 1)
        more = len(values) > i.arg
    if more:
        raise ValueError(f"too many values to unpack (expected {i.arg})")
    if len(values) < i.arg:
        raise ValueError(f"not enough values to unpack (expected {i.arg}, got {len(values)})")
    f.stack += values[::-1]


def unpacked(m: Machine, f: Frame, value: Any) -> Any:
    """The iterator that gives the values of an unpacking."""
    try:
        return m.iterate(f, value)
    except TypeError:
        if is_iterable(value):
            raise
    raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")


def first_of(m: Machine, f: Frame, iterator: Any, count: int) -> list[Any]:
    """The first values of an iterator, at most so many."""
    values: list[Any] = []
    while len(values) < count:
        try:
            values.append(m.next_of(f, iterator))
        except StopIteration:
            break
    return values


@operation("UNPACK_EX")
def unpack_ex(m: Machine, f: Frame, i: Any) -> None:
    before, after = i.arg & 0xFF, i.arg >> 8
    iterator = unpacked(m, f, f.stack.pop())
    values = first_of(m, f, iterator, before)
    if len(values) == before:
        values += first_of(m, f, iterator, sys.maxsize)
    elif not after:
        raise ValueError(f"not enough values to unpack (expected at least {before}, got {len(values)})")
    if len(values) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(values)})")
    end = len(values) - after
    f.stack += reversed([*values[:before], values[before:end], *values[end:]])


@operation("FORMAT_VALUE")
def format_value(m: Machine, f: Frame, i: Any) -> None:
    spec = f.stack.pop() if i.arg & 4 else None
    f.stack.append(m.format(f.stack.pop(), spec, ("", "s", "r", "a")[i.arg & 3]))


@operation("FORMAT_SIMPLE")
def format_simple(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack.append(m.format(value, None, ""))


@operation("FORMAT_WITH_SPEC")
def format_with_spec(m: Machine, f: Frame, i: Any) -> None:
    spec, value = f.stack.pop(), f.stack.pop()
    f.stack.append(m.format(value, spec, ""))


@operation("CONVERT_VALUE")
def convert_value(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack.append(m.call({1: str, 2: repr, 3: ascii}[i.arg], (value,), {}))
