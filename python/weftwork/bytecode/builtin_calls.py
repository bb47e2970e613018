"""Calls of Python's builtin functions and types that have to know what is traced, and what Python itself computes."""

from __future__ import annotations

import abc
import builtins
import functools
import itertools
import math
import operator
import types
from typing import Any

import numpy as np

from .. import _core
from ..numpy.growing import Each, GrownList
from ..numpy.loops import Range, make_range
from ..numpy.rows import Numbers, Together, digits
from ..numpy.tracer import Selection, TracedArray, as_tensor, wrap
from ..pytree import items_of
from . import loops_of_builtins
from .calls import SPECIAL, Calls, Special, special
from .comprehensions import fewest
from .kinds import (
    HEAP,
    NUMBERS,
    answers,
    is_method_of_users,
    is_user_object,
    lookup,
    type_of,
)
from .machine import BINARY, COMPARE
from .outside import HostValue
from .reads import is_key
from .scalar_calls import as_python, converted, is_scalar_function, scalar_call

#: Of so many elements of an array Python's sum, min, max, any and all are operations of the program, one for each; more of
#: them take longer to compile than Python takes.
MOST_ELEMENTS = 200


@special(isinstance)
def call_isinstance(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    value, kinds = args
    return r.match_class(value, kinds)


def is_instance(r: Any, value: Any, kinds: Any) -> bool:
    if isinstance(kinds, tuple):
        return any(is_instance(r, value, kind) for kind in items_of(kinds))
    if isinstance(kinds, types.UnionType):
        return any(is_instance(r, value, kind) for kind in kinds.__args__)
    if is_method_of_users(lookup(type(kinds), "__instancecheck__")[0]):
        return r.refuse("a class that decides itself what its instances are")
    kind = type_of(value)
    found = isinstance(value, kinds) if kind is type(value) else issubclass(kind, kinds)
    if not found:
        note_apart(r, kind, kinds)
    return found


def note_apart(r: Any, kind: Any, kinds: Any) -> None:
    """Later calls look again whether a class is none of others where one of these is abstract, which may have been told of it."""
    every = kinds if isinstance(kinds, tuple) else (kinds,)
    if kind.__flags__ & HEAP and any(isinstance(other, abc.ABCMeta) for other in every):
        r.steps.check("equal", r.steps.call(issubclass, [kind, kinds]), False)


@special(issubclass)
def call_issubclass(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    found = r.native(issubclass, args, kwargs)
    if not found:
        note_apart(r, *args)
    return found


Calls.match_class = lambda self, subject, kind: is_instance(self, subject, kind)  # type: ignore[method-assign]


@special(type)
def call_type(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return r.refuse("a class is made")
    return type_of(args[0])


@special(len)
def call_len(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and answers(args[0]):
        return r.call_special(args[0], "__len__")
    if len(args) == 1 and isinstance(args[0], Selection):
        return args[0].shape[0]
    if len(args) == 1 and isinstance(args[0], TracedArray) and args[0].ndim:
        return args[0].shape[0]
    return r.native(len, args, kwargs)


@special(getattr)
def call_getattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    owner, name, *default = args
    if not isinstance(name, str):
        raise TypeError("attribute name must be string")
    try:
        return r.attribute(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


@special(hasattr)
def call_hasattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    try:
        call_getattr(r, args, kwargs)
    except AttributeError:
        return False
    return True


def operator_of(method: str, symbol: str) -> Special:
    return lambda r, args, kwargs: getattr(r, method)(symbol, *args)


for _method, _functions in (("binary", BINARY), ("compare", COMPARE)):
    for _symbol, _function in _functions.items():
        SPECIAL[id(_function)] = operator_of(_method, _symbol)


@special(operator.getitem)
def call_getitem(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.item(*args)


@special(setattr)
def call_setattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    r.store_attribute(*args)


@special(object.__setattr__)
def call_object_setattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    r.set_attribute(*args)


@special(object.__new__)
def call_object_new(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    object.__new__(*args, **kwargs)  # raises TypeError where neither __new__ nor __init__ takes the rest
    return r.new_object(args[0])


@special(object.__init__)
def call_object_init(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    kind = type(args[0])
    if len(args) == 1 and not kwargs:
        return
    if kind.__init__ is not object.__init__:
        raise TypeError("object.__init__() takes exactly one argument (the instance to initialize)")
    if kind.__new__ is object.__new__:
        raise TypeError(f"{kind.__name__}() takes no arguments")


@special(range)
def call_range(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    r.require_plain(*args)
    by_values = r.range_by_values(args)
    if by_values is not None:
        return by_values
    return r.guarded(lambda *bounds: make_range(Range, bounds), tuple(map(r.concrete, args)), {})


@special(callable)
def call_callable(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    if is_user_object(args[0]):
        return r.found_in_class(type(args[0]), "__call__")[1] is not None
    return callable(args[0])


@special(iter)
def call_iter(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.iterate_plainly(r.frame, args[0]) if len(args) == 1 else r.refuse("iter with a sentinel")


@special(next)
def call_next(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    iterator, *default = args
    r.require_known(iterator)
    try:
        return r.next_of(r.frame, iterator)
    except StopIteration:
        if default:
            return default[0]
        raise


@special(map)
def call_map(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    function, *many = args
    if len(many) == 1:
        return r.run_function(loops_of_builtins.mapped, (function, many[0]), {})
    lists = [r.iterate_plainly(r.frame, one) for one in many]
    return r.born(mapped(r, function, lists))


def mapped(r: Any, function: Any, iterators: list[Any]) -> Any:
    while True:
        values = []
        for iterator in iterators:
            try:
                values.append(r.next_of(r.frame, iterator))
            except StopIteration:
                return
        yield r.call(function, tuple(values), {})


@special(filter)
def call_filter(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    function, many = args
    return r.run_function(loops_of_builtins.filtered, (function, many), {})


@special(functools.reduce)
def call_reduce(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    function, many, *initial = args
    items = [*initial, *r.listed(r.frame, many)]
    if not items:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = items[0]
    for item in items[1:]:
        result = r.call(function, (result, item), {})
    return result


def has_many_elements(r: Any, args: tuple) -> bool:
    """Whether a function that takes one element after the other is given more than a program should have operations."""
    array = args[0] if args else None
    if not isinstance(array, TracedArray) or array.ndim != 1 or not r.can_break():
        return False
    return isinstance(array.shape[0], int) and array.shape[0] > MOST_ELEMENTS


def truth_of_all(function: Any) -> Special:
    wanted = function is any

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if has_many_elements(r, args):
            return r.host_call(function, args)
        iterator = r.iterate_plainly(r.frame, args[0])
        while True:
            try:
                value = r.next_of(r.frame, iterator)
            except StopIteration:
                return not wanted
            if r.truth(value) is wanted:
                return wanted

    return form


SPECIAL[id(any)], SPECIAL[id(all)] = truth_of_all(any), truth_of_all(all)


@special(sum)
def call_sum(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if has_many_elements(r, args):
        return r.host_call(sum, args, kwargs)
    items = r.listed(r.frame, args[0])
    result = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if all(type(item) in (int, float) for item in items) and type(result) in (int, float):
        return sum(items, result)
    for item in items:
        result = r.binary("+", result, item)
    return result


def container_of(kind: type) -> Special:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) != 1 or kwargs:
            return r.born(kind(*args, **kwargs))
        found = r.collected(args[0]) if kind is list else None
        if found is not None:
            return found
        if kind in (set, frozenset) and isinstance(args[0], (set, frozenset)):
            r.require_no_user_objects(args[0])
        items = r.listed(r.frame, args[0], asks_length=kind in (list, tuple))
        if kind in (set, frozenset):
            items = [r.concrete(item) for item in items]
            r.require_no_user_objects(items)
            return r.born(r.guarded(kind, (items,), {}))
        return r.born(kind(items))

    return form


for _kind in (list, tuple, set, frozenset):
    SPECIAL[id(_kind)] = container_of(_kind)


def lazily(kind: Any) -> Special:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        parts, counts = parts_of_turns(args if kind is zip else args[:1], kwargs)
        count = fewest(counts)
        start = kwargs.get("start", args[1] if len(args) > 1 else 0)
        if parts and (kind is zip or type(start) is int):
            numbers = [] if kind is zip else [Numbers(start, 1)]
            return r.born(Together([*numbers, *parts], count, lambda: made(r, args, kwargs)))
        return r.born(made(r, args, kwargs))

    def made(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        many = args if kind is zip else args[:1]
        iterators = [r.iterate_plainly(r.frame, one) for one in many]
        if any(answers(i) for i in iterators):
            r.refuse("an iterator of a class of its own under zip")
        rest = () if kind is zip else tuple(map(r.concrete, args[1:]))
        return kind(*iterators, *rest, **kwargs)

    return form


def parts_of_turns(
    many: tuple, kwargs: dict[str, Any], kinds: Any = (TracedArray, Together, GrownList)
) -> tuple[list[Any], list[int]]:
    """Arrays and ranges by the number of a turn, and how many turns each has; no parts where that is not known of all."""
    parts: list[Any] = []
    counts = []
    is_asked = any(isinstance(value, kinds) for value in many) and not kwargs.get("strict")
    for value in many if is_asked else ():
        if (
            isinstance(value, (TracedArray, np.ndarray))
            and value.ndim
            and isinstance(value.shape[0], int)
            and value.dtype.kind in "fciub"
        ):
            parts.append(wrap(as_tensor(value)) if isinstance(value, np.ndarray) else value)
            counts.append(value.shape[0])
        elif type(value) is GrownList and not value.has_texts():
            parts.append(Each(value))
            counts.append(value.count)
        elif type(value) is Together and value.iterator is None:
            parts.append(value)
            counts.append(value.count)
        elif type(value) is Range and isinstance(value.start, int) and isinstance(value.stop, int):
            parts.append(Numbers(value.start, value.step))
            counts.append(len(value.numbers()))
    return (parts, counts) if counts and len(counts) == len(many) else ([], [])


SPECIAL[id(zip)], SPECIAL[id(enumerate)] = lazily(zip), lazily(enumerate)


@special(itertools.product)
def call_product(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    made = lambda: r.native(itertools.product, args, kwargs)
    parts, counts = parts_of_turns(args, {}, (TracedArray, Together, Range)) if not kwargs else ([], [])
    count = math.prod(counts)
    return r.born(Together(digits(parts, counts), count, made)) if parts and count else made()


@special(np.ndindex)
def call_ndindex(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """All indices of a shape."""
    shape = args[0] if len(args) == 1 and type(args[0]) in (tuple, list) else args
    sizes = [operator.index(r.concrete(size)) for size in shape]
    if kwargs or any(size < 0 for size in sizes):
        return r.refuse("np.ndindex of no shape")
    return call_product(r, tuple(call_range(r, (size,), {}) for size in sizes), {})


@special(itertools.pairwise)
def call_pairwise(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], TracedArray) and args[0].ndim:
        return SPECIAL[id(zip)](r, (args[0][:-1], args[0][1:]), {})
    if len(args) == 1 and type(args[0]) is GrownList:
        return SPECIAL[id(zip)](r, (args[0], r.item(args[0], slice(1, None))), {})
    return r.native(itertools.pairwise, args, kwargs)


@special(TracedArray.tolist)
def call_tolist(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    array, kind = args[0], PYTHON_TYPES.get(args[0].dtype.kind)
    if len(args) > 1 or kwargs or kind is None or not r.is_long_row(array) or r.has_failed(loops_of_builtins.each):
        return r.own(TracedArray.tolist, args, kwargs)
    return r.run_function(loops_of_builtins.each, (kind, array), {})


#: Python's types of NumPy's numbers.
PYTHON_TYPES = {"f": float, "i": int, "u": int, "b": bool}


def extreme(function: Any, symbol: str) -> Special:
    """min and max: of numbers and strings by Python, of others one by one."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) == 1 and kwargs.get("key") is None and has_many_elements(r, args):
            return r.host_call(function, args, kwargs)
        items = r.listed(r.frame, args[0]) if len(args) == 1 else list(args)
        key = kwargs.get("key")
        if not items:
            return function([], **{k: v for k, v in kwargs.items() if k == "default"})
        if (
            key is None
            and all(type(v) in (*NUMBERS, HostValue) for v in items)
            and any(type(v) is HostValue for v in items)
        ):
            return r.host(function, *items) if len(items) > 1 else items[0]
        if key is None and all(type(v) in (int, _core.Dim) for v in items):
            return functools.reduce(_core.dim_min if function is min else _core.dim_max, items)
        keys = [item if key is None else r.call(key, (item,), {}) for item in items]
        best, best_key = items[0], keys[0]
        for i in range(1, len(items)):
            is_better = r.compare(symbol, keys[i], best_key)
            best, best_key = r.either(is_better, (items[i], keys[i]), (best, best_key))
        return best

    return form


SPECIAL[id(min)], SPECIAL[id(max)] = extreme(min, "<"), extreme(max, ">")


def is_unknown(value: Any) -> bool:
    """Whether it is a value that only the run knows."""
    return isinstance(value, TracedArray) and value.tensor.constant() is None


def number_function(function: Any) -> Special:
    """Functions of numbers: computed by Python at each call where the numbers are Python's."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if function is pow and len(args) == 2 and not kwargs:
            return r.binary("**", *args)
        numbers = tuple(map(r.number_of_turn, args))
        if not kwargs and is_scalar_function(function) and r.can_choose() and any(map(is_unknown, numbers)):
            result = scalar_call(function, numbers)
            if result is not NotImplemented:
                return result
        if function in ASKING and not kwargs and any(isinstance(a, TracedArray) for a in args):
            args = tuple(map(r.number, args))
        if (
            any(type(a) is HostValue for a in args)
            and not kwargs
            and all(type(a) in (*NUMBERS, HostValue, str, type(None)) or isinstance(a, np.generic) for a in args)
        ):
            return r.host(function, *args)
        if args and answers(args[0]):
            name = f"__{function.__name__}__"
            return (
                r.call_special(args[0], name, *args[1:])
                if r.has_special(args[0], name)
                else r.refuse(f"{function.__name__} of an object")
            )
        return r.native(function, args, kwargs)

    return form


def host_functions() -> list[Any]:
    import cmath
    import math

    found = [f for m in (math, cmath) for n, f in vars(m).items() if callable(f) and not n.startswith("_")]
    return [
        f for f in found if f not in (math.prod, math.fsum, getattr(math, "sumprod", None), math.dist, math.hypot)
    ] + [abs, round, divmod, pow, int, complex]


#: Those that take the value of an array with one element.
ASKING = frozenset(f for f in host_functions() if f not in (abs, divmod, pow))

for _function in host_functions():
    SPECIAL[id(_function)] = number_function(_function)


def scalar_type(kind: type) -> Special:
    """A type of NumPy's scalars, of one that only the run knows."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        is_one = len(args) == 1 and not kwargs and (type(args[0]) is _core.Dim or is_unknown(args[0]))
        result = converted(kind, args[0]) if is_one else NotImplemented
        return r.call_class(kind, args, kwargs) if result is NotImplemented else result

    return form


for _type in {np.dtype(letter).type for letter in "?bhilqBHILQefdFD"}:
    SPECIAL[id(_type)] = scalar_type(_type)


@special(bool)
def call_bool(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.truth_value(args[0]) if args else False


_float = number_function(float)


@special(float)
def call_float(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    value = r.number_of_turn(args[0]) if args else 0.0
    if (
        isinstance(value, TracedArray)
        and not value.ndim
        and value.dtype.kind in "fiub"
        and value.tensor.constant() is None
        and r.float_is_symbolic(value)
    ):
        return as_python(value, float)
    return _float(r, args, kwargs)


@special(hash)
def call_hash(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if is_key(args[0]):
        return hash(args[0])
    return r.refuse("the hash of an object")


for _name in (
    "print",
    "input",
    "open",
    "id",
    "dir",
    "locals",
    "globals",
    "eval",
    "exec",
    "compile",
    "breakpoint",
    "delattr",
    "__import__",
    "memoryview",
):

    def _refused(r: Any, args: tuple, kwargs: dict[str, Any], name: str = _name) -> Any:
        return r.refuse(f"'{name}' is called")

    SPECIAL[id(getattr(builtins, _name))] = _refused


@special(np.fromiter)
def call_fromiter(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An array of numbers that are given one by one."""
    given = {**dict(zip(("iter", "dtype", "count"), args, strict=False)), **kwargs}
    if given.keys() != {"iter", "dtype"} or np.dtype(given["dtype"]).kind not in "fciub":
        return r.refuse("np.fromiter of so many elements, or of other dtypes")
    many = r.gathered(given["iter"])
    if type(many) is GrownList:
        return r.array_of_list(many, given["dtype"])
    items = r.listed(r.frame, many)
    if not all(type(v) in (*NUMBERS, HostValue) or (isinstance(v, TracedArray) and v.scalar) for v in items):
        return r.refuse("np.fromiter of what are no numbers")
    return r.call(np.array, (items, given["dtype"]), {})


@special(np.ndarray)
def call_ndarray(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    from ..numpy.creation import filled, is_number

    names = ("shape", "dtype", "buffer", "offset", "strides", "order")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if set(given) <= {"shape", "dtype"} and is_number(given.get("dtype", float)):
        return filled(given["shape"], 0, given.get("dtype", float))
    return r.refuse("np.ndarray over memory")


@special(np.may_share_memory, np.shares_memory)
def call_share_memory(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether two arrays are one memory, where it is plain: one of them was made by the function."""
    if len(args) == 2 and all(
        isinstance(a, TracedArray) and not a.scalar and not a._storage.apart and not a._storage.peers for a in args
    ):
        first, second = (a._storage for a in args)
        given = {id(a._storage) for a in (*r.trace.arguments, *(read.traced for read in r.trace.reads))}
        if (
            first is not second
            and not (id(first) in given and id(second) in given)
            and not (first.twins or second.twins)
        ):
            return False
        if first is second and not args[0]._steps and not args[1]._steps and args[0].size:
            return True
    return r.refuse("whether arrays share memory")


@special(dict)
def call_dict(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if not args:
        return r.born(dict(**kwargs))
    if isinstance(args[0], dict):
        return r.born({**r.mapping(args[0]), **kwargs})
    pairs = [r.listed(r.frame, pair) for pair in r.listed(r.frame, args[0])]
    keys = [r.concrete(k) for k, _ in pairs]
    r.require_no_user_objects(keys)
    return r.born({**dict(zip(keys, (v for _, v in pairs), strict=True)), **kwargs})
