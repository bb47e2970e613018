"""Calls while a call is recorded: what is interpreted, what is called as it is, and what ends the recording."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import math
import operator
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core
from ..numpy import own
from ..numpy.asked import as_numpy_raises
from ..numpy.dispatch import FUNCTIONS
from ..numpy.operators import PLAIN, ufunc_result
from ..numpy.tracer import BoundMethod, Selection, TracedArray
from . import natives
from .compiled import is_trusted
from .draws import makes_generator, method_of_the_global
from .grown_lists import ListMethod
from .host import is_compiled, is_generator
from .kinds import ABSENT, HEAP, answers, contains_traced, holds_object, is_own, lookup
from .loops_of_builtins import IN_PYTHON, IN_PYTHON_FILE
from .machine import Escaped, Machine
from .outside import CALL, HostValue, Refused

__all__ = ["Calls"]

Special = Callable[[Any, tuple, dict], Any]
SPECIAL: dict[int, Special] = {}
#: Methods of classes, which are other objects each time that they are asked for.
METHODS: dict[tuple[type, str], Special] = {}
#: How many arguments functions take at most whose signature Python does not tell.
COUNTS: dict[Any, int] = {bool: 1, dict: 1, set: 1, frozenset: 1, filter: 2, iter: 2, next: 2, getattr: 3}
PACKAGE = str(Path(__file__).parents[1])


def is_recorded(args: tuple) -> bool:
    """Whether arguments are arrays of the program and numbers, about which there is nothing to find out."""
    kinds = {*map(type, args)}
    return TracedArray in kinds and kinds <= PLAIN


def special(*functions: Any) -> Callable[[Special], Special]:
    """Registers what a call of a builtin function means."""

    def register(form: Special) -> Special:
        for function in functions:
            SPECIAL[id(function)] = form
        return form

    return register


@functools.lru_cache(maxsize=256)
def counts_of(function: Any) -> tuple[int, float]:
    """How many arguments without a name a function takes, at least and at most; any number where nobody tells."""
    if function in COUNTS:
        return 0, COUNTS[function]
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return 0, math.inf
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return sum(p.default is p.empty for p in positional), math.inf if is_open else len(positional)


#: What finds the function of a functools.singledispatch for a class.
DISPATCH = next(c for c in functools.singledispatch.__code__.co_consts if getattr(c, "co_name", "") == "dispatch")


def keeps(function: Any) -> bool:
    """Whether what a function is given, and what that holds, may come out of it as the same objects."""
    if isinstance(function, operator.itemgetter) or getattr(function, "__name__", "") in ("fromkeys", "from_iterable"):
        return True
    return safe_for_objects(function) or (isinstance(function, type) and function in KEEPING)


def require_arguments(function: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """TypeError where the function takes no such number of arguments."""
    least, most = counts_of(function)
    if not (least <= len(args) or kwargs) or len(args) > most:
        raise TypeError(f"{function.__name__}() takes other arguments: {len(args)} were given")


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
        if type(kwargs.get("dtype")) is HostValue:
            kwargs = {**kwargs, "dtype": kwargs["dtype"].value}  # it stands for no array here
        if not self.raises or not (type(function) is BoundMethod or natives.is_numpy_function(function)):
            return self.called(function, args, kwargs)
        try:
            return self.called(function, args, kwargs)
        except (Escaped, Refused, Exception) as error:
            ours = error.error if isinstance(error, Escaped) else error if isinstance(error, Exception) else None
            theirs = as_numpy_raises(ours, ours is error, self.place(), function, args, kwargs)
            if theirs is None or theirs is ours:
                raise
            raise theirs if ours is error else Escaped(theirs) from error

    @property
    def raises(self) -> bool:
        """Whether the caller gets the errors of what cannot be recorded."""
        return False

    def place(self) -> str:
        raise NotImplementedError

    def called(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        kind = type(function)
        if kind is np.ufunc and not kwargs and len(args) == function.nin and is_recorded(args):
            try:
                return ufunc_result(function, args) if function.signature is None else function(*args)
            except Exception:
                pass  # the longer way raises it, too, and knows what to do
        if kind is types.MethodType:
            if is_generator(function.__self__):
                return self.draw(function.__self__, function.__name__, args, kwargs)
            return self.call(function.__func__, (function.__self__, *args), kwargs)
        if function is super and not args and self.frame is not None:
            return self.zero_super(self.frame)
        self.require_dtype(function, args, kwargs)
        if kind is ListMethod:
            return self.list_call(function, args, kwargs)
        if args and (self.grown or id(function) in IN_PYTHON):
            result = self.called_in_loops(function, args, kwargs)
            if result is not NotImplemented:
                return result
        form = SPECIAL.get(id(function))
        if form is not None:
            require_arguments(function, args, kwargs)
            return form(self, args, kwargs)
        method = method_of_the_global(function)
        if method is not None:
            return self.draw(np.random.mtrand._rand, method, args, kwargs)
        if makes_generator(function):
            return self.make_generator_of(function, args, kwargs)
        created = creators().get(id(function))
        if created is not None:
            return self.create(created, function, args, kwargs)
        if kind is types.FunctionType:
            if function.__code__ is DISPATCH and len(args) == 1 and isinstance(args[0], type):
                return self.outside(function(*args), CALL, function, (("constant", args[0]),))
            return self.call_python(function, args, kwargs)
        if kind is Callback:
            return self.call(function.function, args, kwargs)
        if isinstance(function, type):
            return self.call_class(function, args, kwargs)
        if kind is functools.partial:
            inner, given, named = (self.attribute(function, name) for name in ("func", "args", "keywords"))
            return self.call(inner, (*given, *args), {**named, **kwargs})
        if kind is functools._lru_cache_wrapper:
            return known_calls().call_cached(self, function, args, kwargs)
        if kind is operator.attrgetter or kind is operator.methodcaller:
            return known_calls().call_getter(self, function, args, kwargs)
        if isinstance(function, _core.Dispatcher):
            return self.call_jitted(function, args, kwargs)
        if kind is BoundMethod:
            self.require_no_user_objects(*args, *kwargs.values())
        if is_own(kind.__module__):
            return self.own(function, args, {k: self.fixed(self.concrete_deep(v)) for k, v in kwargs.items()})
        if answers(function) and not is_compiled(function):
            return self.call(self.special_method(function, "__call__"), args, kwargs)
        if not kwargs and is_recorded(args) and natives.is_numpy_function(function) and function in FUNCTIONS:
            return self.born_result(self.guarded(function, args, kwargs), *args)
        return self.native(function, args, kwargs)

    def require_dtype(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """NumPy makes no dtype of an array, though it makes one of what else has a dtype."""
        places = TAKES_DTYPE.get(id(function), ())
        given = [args[i] for i in places if i < len(args)]
        if "dtype" in kwargs and type(function) is not types.FunctionType:
            given.append(kwargs["dtype"])
        if any(isinstance(value, TracedArray) and not value.scalar for value in given):
            self.refuse("an array in the place of a dtype")

    def call_jitted(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A jitted function is a part of the one that calls it."""
        function.require_declared(args, kwargs)
        return self.call(function._function, args, kwargs)

    def call_python(self, function: types.FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
        file = function.__code__.co_filename
        if file.startswith(PACKAGE) and is_own(function.__module__) and file != IN_PYTHON_FILE:
            if args and isinstance(args[0], TracedArray):
                self.require_no_user_objects(*args[1:], *kwargs.values())
            return self.own(function, args, kwargs)
        if natives.is_numpy_function(function) and not any(map(contains_traced, (*args, *kwargs.values()))):
            return self.native(function, args, kwargs)
        return self.run_function(function, args, kwargs)

    def own(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function of this package: its operations on arrays are recorded, the functions that it calls are interpreted."""
        values = [self.handed(self.array_operand(v)) for v in args]
        named = {k: self.handed(self.array_operand(v)) for k, v in kwargs.items()}
        return self.born_result(self.guarded(function, tuple(values), named), *values)

    def handed(self, value: Any) -> Any:
        """A value as native code may have it."""
        if isinstance(value, (types.FunctionType, types.MethodType)) and not str(value.__module__).startswith("numpy"):
            return Callback(self, value)
        return value

    def create(self, form: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        args = tuple(map(self.array_operand, args))
        kwargs = {k: self.array_operand(v) for k, v in kwargs.items()}
        self.require_no_user_objects(*args, *kwargs.values())
        result = self.guarded(form, args, kwargs)
        return self.native(function, args, kwargs) if result is NotImplemented else result

    def born_result(self, result: Any, *operands: Any) -> Any:
        result = self.own_arrays(result, *operands)
        if type(result) in (list, dict, set) or hasattr(type(result), "__next__"):
            self.born(result)
        return result

    def native(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function that is not Python code."""
        if self.appends_a_row(function, args):
            return None
        owner = getattr(function, "__self__", None)
        if isinstance(owner, type) and (form := METHODS.get((owner, function.__name__))) is not None:
            return form(self, args, kwargs)
        for known in (self.native_method, self.method_of_contents):
            result = known(owner, function, args, kwargs)
            if result is not NotImplemented:
                return result
        if is_generator(owner):
            return self.draw(owner, function.__name__, args, kwargs)
        if not natives.is_pure(function):
            if self.can_break() and is_trusted(function):
                return self.compiled_call(function, args, kwargs)
            where = "" if owner is None or isinstance(owner, types.ModuleType) else f" of {type(owner).__name__}"
            name = getattr(function, "__qualname__", None) or getattr(function, "__name__", type(function).__name__)
            self.refuse(f"'{name}'{where} may have effects")
        if gives_number(function) and not kwargs and is_of_numbers(args) and not self.bakes and not self.quiet:
            return self.host(function, *args)
        if isinstance(owner, np.ndarray):
            self.before_method(owner, function.__name__, args)
        elif natives.mutates(function):
            self.changes(
                owner if not isinstance(owner, (type, types.ModuleType, type(None))) else args[0] if args else None
            )
        if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)) and args:
            if isinstance(args[0], (TracedArray, Selection)) or type(args[0]) in CHANGEABLE:
                return self.call(self.attribute(args[0], function.__name__), args[1:], kwargs)
            owner = args[0]
        elif id(function) in ORDERING:
            self.require_order(function, args)
        if owner is not None:
            self.require_known(owner)
        if args and isinstance(owner, (dict, set)):
            many = type(args[0]) in (list, set)
            args = (type(args[0])(map(self.hashed, args[0])) if many else self.hashed(args[0]), *args[1:])
        args, kwargs = self.plain_operands(function, args, kwargs)
        if makes_text(function, owner) and any(map(contains_traced, (owner, *args, *kwargs.values()))):
            self.refuse("a value as text")
        if not safe_for_objects(function):
            self.require_no_user_objects(*args, *kwargs.values())
            if owner is not None and not isinstance(owner, types.ModuleType):
                self.require_no_user_objects(owner)
        else:
            self.require_plain(*used(function, args))
        args = tuple(map(self.handed, args))
        kwargs = {k: self.handed(v) for k, v in kwargs.items()}
        if (natives.is_numpy_function(function) or isinstance(owner, np.ufunc)) and any(
            type(a) in (list, tuple) and contains_traced(a) for a in (*args, *kwargs.values())
        ):
            return self.born_result(self.guarded(with_lists(), (function, args, kwargs), {}))
        with self.watching_arrays(args, kwargs):
            result = self.guarded(function, args, kwargs)
        result = self.born_result(result, *args)
        if function is functools.partial:
            self.fresh[id(result)] = result
        return result

    def native_method(self, owner: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Methods of which it is known what they do; NotImplemented for others."""
        is_special = isinstance(function, types.MethodWrapperType)
        if is_special and isinstance(owner, types.FunctionType) and function.__name__ == "__get__":
            return function(*args, **kwargs)
        if is_special and id(owner) in self.errors and function.__name__ == "__init__":
            return function(*map(self.text_part, args), **{k: self.text_part(v) for k, v in kwargs.items()})
        if is_special and function.__qualname__ == f"object.{function.__name__}":
            of_object = SPECIAL.get(id(vars(object)[function.__name__]))  # by way of super()
            if of_object is not None:
                return of_object(self, (owner, *args), kwargs)
        if id(owner) in self.large and function.__name__ == "get" and 0 < len(args) < 3:
            found = self.entry_of(owner, self.hashed(args[0]))
            return found if found is not ABSENT else args[1] if len(args) > 1 else None
        is_sort = type(owner) is list and function.__name__ == "sort"
        if is_sort and (kwargs.get("key") is not None or contains_traced(owner) or holds_object(owner)):
            ordered = SPECIAL[id(sorted)](self, (owner,), kwargs)
            self.changes(owner)
            owner[:] = ordered
            return None
        return NotImplemented

    def require_order(self, function: Any, args: tuple) -> None:
        """For a function that changes its first argument, by what of it comes before what."""
        for container in args[:1]:
            self.changes(container)
        if any(map(self.holds_host, args[:1])) or contains_traced(args):
            self.refuse(f"'{function.__name__}' of a list with numbers that are computed")

    def plain_operands(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments without host values: arrays for NumPy where other arrays are, else the numbers that they are."""
        every = (*args, *kwargs.values())
        if function is len or not any(map(self.holds_host, every)):
            return args, kwargs
        traced = (
            natives.is_numpy_function(function)
            or isinstance(getattr(function, "__self__", None), (np.ufunc, np.ndarray))
        ) and any(map(holds_array, every))
        change = self.array_operand if traced else self.concrete if keeps(function) else self.concrete_deep
        return tuple(map(change, args)), {k: change(v) for k, v in kwargs.items()}

    def concrete_deep(self, value: Any) -> Any:
        if type(value) in (list, tuple) and self.holds_host(value):
            return type(value)(map(self.concrete_deep, value))
        return self.concrete(value)

    # -- classes -----------------------------------------------------------------------------------------------------

    def call_class(self, kind: type, args: tuple, kwargs: dict[str, Any]) -> Any:
        if issubclass(kind, BaseException) and not isinstance(lookup(kind, "__init__")[0], types.FunctionType):
            return self.guarded(kind, tuple(map(self.text_part, args)), kwargs)
        if (
            not kind.__flags__ & HEAP
            or id(kind) in natives.PURE
            or natives.is_numpy_function(kind)
            or issubclass(kind, np.generic)
        ):
            return self.native(kind, args, kwargs)
        if self.found_in_class(type(kind), "__call__")[0] is not type.__dict__["__call__"]:
            if any(map(contains_traced, args)):
                self.refuse(f"'{kind.__name__}' is made by a metaclass")
            return self.native(kind, args, kwargs) if natives.is_pure(kind) else self.by_metaclass(kind, args, kwargs)
        if kind.__module__.startswith("numpy") or is_own(kind.__module__):
            return self.numpy_class(kind, args, kwargs)
        maker = self.found_in_class(kind, "__new__")[0]
        maker = maker.__func__ if isinstance(maker, staticmethod) else maker
        if issubclass(kind, BaseException) and not isinstance(maker, types.FunctionType):
            args, kwargs = tuple(map(self.text_part, args)), {k: self.text_part(v) for k, v in kwargs.items()}
            made = maker(kind, *args, **kwargs)
            self.errors[id(made)] = made
        elif isinstance(maker, types.FunctionType):
            made = self.call(maker, (kind, *args), kwargs)
        elif maker is object.__new__:
            made = self.new_object(kind)
        else:
            return self.refuse(f"'{kind.__name__}' is made by C code")
        # As in `type.__call__`: what `__new__` gives is made ready by its own class, which may be another one.
        if kind in type(made).__mro__:
            self.initialize(made, args, kwargs)
        return made

    def initialize(self, made: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        kind = type(made)
        initial, definer = self.found_in_class(kind, "__init__")
        if definer is not object:
            if not isinstance(initial, types.FunctionType):
                self.refuse(f"'{kind.__name__}' is made by C code")
            self.call(initial, (made, *args), kwargs)
        elif (args or kwargs) and self.found_in_class(kind, "__new__")[0] is object.__new__:
            raise TypeError(f"{kind.__name__}() takes no arguments")

    def new_object(self, kind: type) -> Any:
        if getattr(kind, "__abstractmethods__", None):
            object.__new__(kind)  # raises TypeError
        made: Any = object.__new__(kind)
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
        if kind is BoundMethod:
            self.require_no_user_objects(*args, *kwargs.values())
        if is_own(kind.__module__):
            return self.own(kind, args, kwargs)
        return self.refuse(f"'numpy.{kind.__name__}' is not recorded")

    def text_part(self, value: Any) -> Any:
        if contains_traced(value):
            self.refuse("a traced value in an exception")
        return value

    def numpy_item(self, owner: Any, key: Any) -> Any:
        """An index into np.r_, np.c_ and the like, or into what else NumPy defines."""
        from ..numpy.grids import Joiner

        if owner is np.r_ or owner is np.c_:
            return self.guarded(operator.getitem, (Joiner(owner, owner is np.c_), key), {})
        return self.born_result(self.guarded(operator.getitem, (owner, key), {}), owner)


@functools.lru_cache(maxsize=1)
def creators() -> dict[int, Any]:
    from ..numpy.creation import CREATORS
    from ..numpy.grids import as_strided

    # It is no function of arrays to NumPy, which asks for the memory.
    return {id(np.lib.stride_tricks.as_strided): as_strided} | {
        id(getattr(np, name)): form for name, form in CREATORS.items()
    }


@functools.lru_cache(maxsize=1)
def known_calls() -> Any:
    from . import known_calls as found

    return found


@functools.lru_cache(maxsize=1)
def with_lists() -> Any:
    from ..numpy.lists import call_with_lists

    return call_with_lists


def holds_array(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(holds_array, value))
    return isinstance(value, (TracedArray, Selection, np.ndarray))


#: At which places functions of NumPy take dtypes.
TAKES_DTYPE = {
    **{id(f): (0, 1) for f in (np.dtype, np.finfo, np.iinfo, np.promote_types, np.issubdtype)},
    **{id(f): (1,) for f in (np.zeros, np.ones, np.empty, np.array, np.asarray, np.zeros_like, np.ones_like)},
}

#: What gives the very objects that it is given, or those that they hold, and asks them nothing.
KEEPING = frozenset(
    [itertools.chain, itertools.repeat, itertools.cycle, itertools.islice, itertools.product, itertools.combinations]
    + [itertools.permutations, itertools.combinations_with_replacement, itertools.zip_longest, itertools.tee]
    + [
        itertools.pairwise,
        reversed,
        collections.deque,
        collections.OrderedDict,
        collections.defaultdict,
        functools.partial,
    ]
)
ORDERING = frozenset(map(id, natives.CHANGING))
#: Containers of Python's own that methods change.
CHANGEABLE = (
    list,
    dict,
    set,
    bytearray,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
)
#: What does not call methods of the objects that it is given.
SAFE = {
    id(f)
    for f in (list, tuple, dict, zip, enumerate, reversed, iter, next, len, callable, itertools.chain, itertools.islice)
}
SAFE_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "clear",
        "reverse",
        "items",
        "values",
        "keys",
        "get",
        "copy",
        "setdefault",
        "update",
        "popitem",
        "__setitem__",
        "__getitem__",
        "__len__",
        "__iter__",
    ]
)


#: Of these methods, how many arguments are used; what follows is kept as it is.
USED = {"append": 0, "insert": 1, "get": 1, "setdefault": 1, "pop": 1}


def used(function: Any, args: tuple) -> tuple:
    """The arguments that something safe goes through or asks for a number, and does not only keep."""
    given = args[isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)) :]
    if function is next:
        return ()
    name = function.__name__
    most = 1 if name == "__setitem__" and type(given[0]) is not slice else USED.get(name, len(given))
    return given[:most]


def makes_text(function: Any, owner: Any) -> bool:
    """Whether a method writes what it is given as text."""
    return isinstance(owner, (str, bytes)) or getattr(function, "__name__", "") in ("__repr__", "__str__", "__format__")


def safe_for_objects(function: Any) -> bool:
    if id(function) in SAFE:
        return True
    return getattr(function, "__name__", "") in SAFE_METHODS and isinstance(function, natives.SAFE_TYPES)


def gives_number(function: Any) -> bool:
    """Whether NumPy makes a number of numbers here."""
    if isinstance(function, np.ufunc):
        return function.nout == 1
    return isinstance(function, type) and issubclass(function, np.number)


def is_of_numbers(args: tuple) -> bool:
    """Whether Python has numbers here, one of which each call finds."""
    return any(type(a) is HostValue for a in args) and all(
        isinstance(a.value if type(a) is HostValue else a, (int, float, complex, np.generic)) for a in args
    )
