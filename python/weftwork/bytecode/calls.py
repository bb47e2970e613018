"""Calls while a call is recorded: what is interpreted, what is called as it is, and what ends the recording."""

from __future__ import annotations

import builtins
import copy
import functools
import itertools
import operator
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..numpy import own
from ..numpy.tracer import Selection, TracedArray, convert, wrap
from . import natives
from .machine import Machine, Stop
from .objects import ABSENT, HEAP, instance_space, is_user_object, lookup, type_of
from .outside import HostValue

__all__ = ["Calls"]

Special = Callable[[Any, tuple, dict], Any]
SPECIAL: dict[int, Special] = {}
PACKAGE = str(Path(__file__).parents[1])
NUMPY = str(Path(np.__file__).parent)
NUMBERS = (int, float, complex, bool)


def special(*functions: Any) -> Callable[[Special], Special]:
    """Registers what a call of a builtin function means."""

    def register(form: Special) -> Special:
        for function in functions:
            SPECIAL[id(function)] = form
        return form

    return register


class Callback:
    """A Python function that native code may call: it is interpreted then."""

    def __init__(self, recorder: Any, function: Any) -> None:
        self.recorder, self.function = recorder, function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.recorder.call(self.function, args, kwargs)


class Calls(Machine):
    """The part of a recorder that calls."""

    def call(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        kind = type(function)
        if kind is types.MethodType:
            return self.call(function.__func__, (function.__self__, *args), kwargs)
        if function is super and not args and self.frame is not None:
            return self.zero_super(self.frame)
        form = SPECIAL.get(id(function))
        if form is not None:
            return form(self, args, kwargs)
        created = creators().get(id(function))
        if created is not None:
            return self.create(created, function, args, kwargs)
        if kind is types.FunctionType:
            return self.call_python(function, args, kwargs)
        if kind is Callback:
            return self.call(function.function, args, kwargs)
        if isinstance(function, type):
            return self.call_class(function, args, kwargs)
        if kind is functools.partial:
            return self.call(function.func, (*function.args, *args), {**function.keywords, **kwargs})
        if kind is functools._lru_cache_wrapper:
            return self.call(function.__wrapped__, args, kwargs)
        if isinstance(function, _core.Dispatcher):
            return self.call_jitted(function, args, kwargs)
        if kind.__module__.startswith("weftwork."):
            return self.own(function, args, {k: self.concrete_deep(v) for k, v in kwargs.items()})
        if is_user_object(function):
            return self.call(self.special_method(function, "__call__"), args, kwargs)
        return self.native(function, args, kwargs)

    def call_jitted(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A jitted function is a part of the one that calls it."""
        function.require_declared(args, kwargs)
        return self.call(function._function, args, kwargs)

    def call_python(self, function: types.FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
        file = function.__code__.co_filename
        if file.startswith(PACKAGE):
            return self.own(function, args, kwargs)
        if natives.is_numpy_function(function) and not any(map(holds_traced, (*args, *kwargs.values()))):
            return self.native(function, args, kwargs)
        return self.run_function(function, args, kwargs)

    def own(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function of this package: its operations on arrays are recorded, the functions that it calls are interpreted."""
        values = [self.handed(self.array_operand(v)) for v in args]
        named = {k: self.handed(self.array_operand(v)) for k, v in kwargs.items()}
        return self.born_result(self.guarded(function, tuple(values), named))

    def handed(self, value: Any) -> Any:
        """A value as native code may have it."""
        if isinstance(value, (types.FunctionType, types.MethodType)) and not value.__module__.startswith("numpy"):
            return Callback(self, value)
        return value

    def create(self, form: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        args = tuple(map(self.array_operand, map(self.shape_part, args)))
        kwargs = {k: self.array_operand(self.shape_part(v)) for k, v in kwargs.items()}
        self.require_no_user_objects(*args, *kwargs.values())
        result = self.guarded(form, args, kwargs)
        return self.native(function, args, kwargs) if result is NotImplemented else result

    def shape_part(self, value: Any) -> Any:
        return value

    def born_result(self, result: Any) -> Any:
        if isinstance(result, np.ndarray):
            self.plain_arrays[id(result)] = result
        elif type(result) in (list, dict, set) or hasattr(type(result), "__next__"):
            self.born(result)
        return result

    def native(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function that is not Python code."""
        if not natives.is_pure(function):
            owner = getattr(function, "__self__", None)
            where = f" of {type(owner).__name__}" if owner is not None and not isinstance(owner, types.ModuleType) else ""
            self.refuse(f"'{getattr(function, '__qualname__', None) or getattr(function, '__name__', type(function).__name__)}'{where} may have effects")
        owner = getattr(function, "__self__", None)
        if natives.mutates(function):
            self.changes(owner if not isinstance(owner, (type, types.ModuleType, type(None))) else args[0] if args else None)
        if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)) and args:
            if isinstance(args[0], (TracedArray, Selection)):
                return self.call(self.attribute(args[0], function.__name__), args[1:], kwargs)
            owner = args[0]
        args, kwargs = self.plain_operands(function, args, kwargs)
        if not safe_for_objects(function):
            self.require_no_user_objects(*args, *kwargs.values())
            if owner is not None and not isinstance(owner, types.ModuleType):
                self.require_no_user_objects(owner)
        args = tuple(map(self.handed, args))
        kwargs = {k: self.handed(v) for k, v in kwargs.items()}
        if natives.is_numpy_function(function) and any(type(a) in (list, tuple) and holds_traced(a) for a in (*args, *kwargs.values())):
            return self.born_result(self.guarded(with_lists(), (function, args, kwargs), {}))
        return self.born_result(self.guarded(function, args, kwargs))

    def plain_operands(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments without host values: arrays for NumPy where other arrays are, else the numbers that they are."""
        every = (*args, *kwargs.values())
        if not any(map(self.holds_host, every)):
            return args, kwargs
        traced = (natives.is_numpy_function(function) or isinstance(getattr(function, "__self__", None), (np.ufunc, np.ndarray))) and any(map(holds_array, every))
        change = self.array_operand if traced else self.concrete_deep
        return tuple(map(change, args)), {k: change(v) for k, v in kwargs.items()}

    def concrete_deep(self, value: Any) -> Any:
        if type(value) in (list, tuple) and self.holds_host(value):
            return type(value)(map(self.concrete_deep, value))
        return self.concrete(value)

    # -- classes -----------------------------------------------------------------------------------------------------

    def call_class(self, kind: type, args: tuple, kwargs: dict[str, Any]) -> Any:
        if issubclass(kind, BaseException) and not isinstance(lookup(kind, "__init__")[0], types.FunctionType):
            return self.guarded(kind, tuple(map(self.text_part, args)), kwargs)
        if not kind.__flags__ & HEAP or id(kind) in natives.PURE or natives.is_numpy_function(kind) or issubclass(kind, np.generic):
            return self.native(kind, args, kwargs)
        if lookup(type(kind), "__call__")[0] is not type.__dict__["__call__"]:
            if any(map(holds_traced, args)):
                self.refuse(f"'{kind.__name__}' is made by a metaclass")
            return self.native(kind, args, kwargs) if natives.is_pure(kind) else self.by_metaclass(kind, args, kwargs)
        if kind.__module__.startswith("numpy") or kind.__module__.startswith("weftwork"):
            return self.numpy_class(kind, args, kwargs)
        self.steps.entry(kind, None, ABSENT)
        maker = lookup(kind, "__new__")[0]
        maker = maker.__func__ if isinstance(maker, staticmethod) else maker
        if isinstance(maker, types.FunctionType):
            made = self.call(maker, (kind, *args), kwargs)
        elif maker is object.__new__:
            made = self.new_object(kind)
        else:
            return self.refuse(f"'{kind.__name__}' is made by C code")
        initial, definer = lookup(kind, "__init__")
        if isinstance(made, kind) and definer is not object:
            if not isinstance(initial, types.FunctionType):
                self.refuse(f"'{kind.__name__}' is made by C code")
            self.call(initial, (made, *args), kwargs)
        elif (args or kwargs) and definer is object and maker is object.__new__:
            raise TypeError(f"{kind.__name__}() takes no arguments")
        return made

    def new_object(self, kind: type) -> Any:
        if getattr(kind, "__abstractmethods__", None):
            object.__new__(kind)  # raises TypeError
        made = object.__new__(kind)
        self.fresh[id(made)] = made
        return self.born(made)

    def by_metaclass(self, kind: type, args: tuple, kwargs: dict[str, Any]) -> Any:
        import enum

        if issubclass(kind, enum.Enum):
            return self.guarded(kind, args, kwargs)
        return self.refuse(f"'{kind.__name__}' is made by a metaclass")

    def numpy_class(self, kind: type, args: tuple, kwargs: dict[str, Any]) -> Any:
        if kind is np.ndenumerate and len(args) == 1:
            array = own.asarray(args[0])
            return self.born(iter([(index, array[index]) for index in np.ndindex(*array.shape)]))
        if kind is np.ndindex:
            return self.born(iter(list(self.guarded(kind, tuple(map(self.concrete_deep, args)), kwargs))))
        if kind is np.errstate:
            if any(v in ("raise", "call", "log", "print") for v in (*args, *kwargs.values())):
                self.refuse("np.errstate that raises or calls")
            return kind(*args, **kwargs)
        if kind.__module__.startswith("weftwork"):
            return self.own(kind, args, kwargs)
        return self.refuse(f"'numpy.{kind.__name__}' is not recorded")

    def text_part(self, value: Any) -> Any:
        if holds_traced(value):
            self.refuse("a traced value in an exception")
        return value

    def numpy_item(self, owner: Any, key: Any) -> Any:
        """An index into np.r_, np.c_ and the like, or into what else NumPy defines."""
        from ..numpy.grids import Joiner

        if owner is np.r_ or owner is np.c_:
            return self.guarded(operator.getitem, (Joiner(owner, owner is np.c_), key), {})
        return self.born_result(self.guarded(operator.getitem, (owner, key), {}))


@functools.lru_cache(maxsize=1)
def creators() -> dict[int, Any]:
    from ..numpy.creation import CREATORS

    return {id(getattr(np, name)): form for name, form in CREATORS.items()}


@functools.lru_cache(maxsize=1)
def with_lists() -> Any:
    try:
        from ..numpy.lists import call_with_lists
    except ImportError:
        return lambda function, args, kwargs: function(*args, **kwargs)
    return call_with_lists


def holds_traced(value: Any) -> bool:
    from .recorder import contains_traced

    return contains_traced(value)


def holds_array(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(holds_array, value))
    return isinstance(value, (TracedArray, Selection, np.ndarray))


#: What does not call methods of the objects that it is given.
SAFE = {id(f) for f in (list, tuple, dict, zip, enumerate, reversed, iter, next, len, callable, itertools.chain, itertools.islice)}
SAFE_METHODS = frozenset(["append", "extend", "insert", "pop", "clear", "reverse", "items", "values", "keys", "get", "copy", "setdefault", "update", "popitem", "__setitem__", "__getitem__", "__len__"])


def safe_for_objects(function: Any) -> bool:
    if id(function) in SAFE:
        return True
    return getattr(function, "__name__", "") in SAFE_METHODS and isinstance(function, natives.SAFE_TYPES)


# -- builtin functions that have to know what is traced --------------------------------------------------------------------


@special(isinstance)
def call_isinstance(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    value, kinds = args
    return r.match_class(value, kinds)


def is_instance(r: Any, value: Any, kinds: Any) -> bool:
    if isinstance(kinds, (tuple, types.UnionType)):
        return any(is_instance(r, value, kind) for kind in (kinds if isinstance(kinds, tuple) else kinds.__args__))
    if isinstance(kinds, type) and isinstance(lookup(type(kinds), "__instancecheck__")[0], types.FunctionType) and type(kinds).__module__ not in ("abc", "typing", "enum"):
        return r.refuse(f"'{kinds.__name__}' decides itself what its instances are")
    kind = type_of(value)
    return isinstance(value, kinds) if kind is type(value) else issubclass(kind, kinds)


Calls.match_class = lambda self, subject, kind: is_instance(self, subject, kind)  # type: ignore[method-assign]


@special(type)
def call_type(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) != 1 or kwargs:
        return r.refuse("a class is made")
    return type_of(args[0])


@special(len)
def call_len(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and is_user_object(args[0]):
        return r.call_special(args[0], "__len__")
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
        r.attribute(*args)
    except AttributeError:
        return False
    return True


@special(setattr, object.__setattr__)
def call_setattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    r.store_attribute(*args)


@special(object.__setattr__)
def call_object_setattr(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    r.set_attribute(*args)


@special(object.__new__)
def call_object_new(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.new_object(args[0])


@special(object.__init__)
def call_object_init(r: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    return None


@special(range)
def call_range(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    from ..numpy.loops import Range, make_range

    return r.guarded(lambda *bounds: make_range(Range, bounds), tuple(map(r.concrete, args)), {})


@special(copy.copy, copy.deepcopy)
def call_copy(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if isinstance(args[0], TracedArray):
        return args[0].copy() if not args[0].scalar else args[0]
    return r.refuse("an object is copied")


@special(callable)
def call_callable(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
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


@special(str, repr, format, ascii)
def call_text(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    r.refuse("a value as text") if any(map(holds_array, args)) or any(isinstance(a, (TracedArray, Selection)) for a in args) else None
    return r.native(str, args, kwargs) if len(args) == 1 and type(r.concrete(args[0])) is str else text_of(r, args, kwargs)


def text_of(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    return r.refuse("a value as text")


@special(map)
def call_map(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    function, *many = args
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
    items = r.listed(r.frame, many)
    return r.born(iter([v for v in items if r.truth(v if function is None else r.call(function, (v,), {}))]))


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


@special(any, all)
def refuse_nothing(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    raise AssertionError


def truth_of_all(wanted: bool) -> Special:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
        iterator = r.iterate_plainly(r.frame, args[0])
        while True:
            try:
                value = r.next_of(r.frame, iterator)
            except StopIteration:
                return not wanted
            if r.truth(value) is wanted:
                return wanted

    return form


SPECIAL[id(any)], SPECIAL[id(all)] = truth_of_all(True), truth_of_all(False)


@special(sum)
def call_sum(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    items = r.listed(r.frame, args[0])
    result = args[1] if len(args) > 1 else kwargs.get("start", 0)
    if all(type(item) in (int, float) for item in items) and type(result) in (int, float):
        return sum(items, result)
    for item in items:
        result = r.binary("+", result, item)
    return result


@special(list, tuple, set, frozenset)
def refuse_never(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    raise AssertionError


def container_of(kind: type) -> Special:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if len(args) != 1 or kwargs:
            return r.born(kind(*args, **kwargs))
        items = r.listed(r.frame, args[0])
        if kind in (set, frozenset):
            items = [r.concrete(item) for item in items]
            r.require_no_user_objects(items)
            return r.born(r.guarded(kind, (items,), {}))
        return r.born(kind(items))

    return form


for _kind in (list, tuple, set, frozenset):
    SPECIAL[id(_kind)] = container_of(_kind)


@special(zip, enumerate)
def call_zip(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    raise AssertionError


def lazily(kind: Any) -> Special:
    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        many = args if kind is zip else args[:1]
        iterators = [r.iterate_plainly(r.frame, one) for one in many]
        if any(is_user_object(i) for i in iterators):
            r.refuse("an iterator of a class of its own under zip")
        rest = () if kind is zip else tuple(map(r.concrete, args[1:]))
        return r.born(kind(*iterators, *rest, **kwargs))

    return form


SPECIAL[id(zip)], SPECIAL[id(enumerate)] = lazily(zip), lazily(enumerate)


@special(sorted)
def call_sorted(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    items = r.listed(r.frame, args[0])
    key = kwargs.get("key")
    keys = [r.concrete(item if key is None else r.call(key, (item,), {})) for item in items]
    r.require_no_user_objects(keys)
    order = r.guarded(sorted, (range(len(items)),), {"key": keys.__getitem__, "reverse": kwargs.get("reverse", False)}) if not holds_traced(keys) else r.refuse("traced values are sorted")
    return r.born([items[i] for i in order])


def extreme(function: Any, symbol: str) -> Special:
    """min and max: of numbers and strings by Python, of others one by one."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        items = r.listed(r.frame, args[0]) if len(args) == 1 else list(args)
        key = kwargs.get("key")
        if not items:
            return function([], **{k: v for k, v in kwargs.items() if k == "default"})
        if key is None and all(type(v) in (*NUMBERS, HostValue) for v in items) and any(type(v) is HostValue for v in items):
            return r.host(function, *items) if len(items) > 1 else items[0]
        keys = [item if key is None else r.call(key, (item,), {}) for item in items]
        best = 0
        for i in range(1, len(items)):
            if r.truth(r.compare(symbol, keys[i], keys[best])):
                best = i
        return items[best]

    return form


SPECIAL[id(min)], SPECIAL[id(max)] = extreme(min, "<"), extreme(max, ">")


def number_function(function: Any) -> Special:
    """Functions of numbers: computed by Python at each call where the numbers are Python's."""

    def form(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if any(type(a) is HostValue for a in args) and not kwargs and all(type(a) in (*NUMBERS, HostValue, str, type(None)) for a in args):
            return r.host(function, *args)
        if args and is_user_object(args[0]):
            name = f"__{function.__name__}__"
            return r.call_special(args[0], name, *args[1:]) if r.has_special(args[0], name) else r.refuse(f"{function.__name__} of an object")
        return r.native(function, args, kwargs)

    return form


def host_functions() -> list[Any]:
    import cmath
    import math

    found = [f for m in (math, cmath) for n, f in vars(m).items() if callable(f) and not n.startswith("_")]
    return [f for f in found if f not in (math.prod, math.fsum, getattr(math, "sumprod", None), math.dist, math.hypot)] + [abs, round, divmod, pow, int, complex]


for _function in host_functions():
    SPECIAL[id(_function)] = number_function(_function)


@special(bool)
def call_bool(r: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    return r.truth(args[0]) if args else False


_float = number_function(float)


@special(float)
def call_float(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    value = args[0] if args else 0.0
    if isinstance(value, TracedArray) and not value.ndim and value.dtype.kind in "fiub" and value.tensor.constant() is None and r.float_is_symbolic(value):
        result = wrap(convert(value.tensor, np.dtype(np.float64)))
        result.weak, result.scalar = float, True
        return result
    return _float(r, args, kwargs)


@special(hash)
def call_hash(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if type(args[0]) in (str, int, bool, float, bytes) or args[0] is None:
        return hash(args[0])
    return r.refuse("the hash of an object")


for _name in ("print", "input", "open", "id", "vars", "dir", "locals", "globals", "eval", "exec", "compile", "breakpoint", "delattr", "__import__", "memoryview"):
    def _refused(r: Any, args: tuple, kwargs: dict[str, Any], name: str = _name) -> Any:
        return r.refuse(f"'{name}' is called")

    SPECIAL[id(getattr(builtins, _name))] = _refused


@special(np.ndarray)
def call_ndarray(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    from ..numpy.creation import filled, is_number

    names = ("shape", "dtype", "buffer", "offset", "strides", "order")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if set(given) <= {"shape", "dtype"} and is_number(given.get("dtype", float)):
        return filled(given["shape"], 0, given.get("dtype", float))
    return r.refuse("np.ndarray over memory")


@special(dict)
def call_dict(r: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    if not args:
        return r.born(dict(**kwargs))
    if isinstance(args[0], dict):
        return r.born({**args[0], **kwargs})
    pairs = [r.listed(r.frame, pair) for pair in r.listed(r.frame, args[0])]
    keys = [r.concrete(k) for k, _ in pairs]
    r.require_no_user_objects(keys)
    return r.born({**dict(zip(keys, (v for _, v in pairs), strict=True)), **kwargs})


assert Stop is not None and instance_space is not None and _core is not None
