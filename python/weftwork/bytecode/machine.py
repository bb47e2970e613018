"""The interpreter's loop: instructions in order, exceptions to their handlers, calls of Python functions as frames.

What an instruction does to the stack is in the table OPERATIONS (operations*.py); what reading, storing and calling mean is
in the methods of :class:`Machine`, which a recorder overrides to see them before they happen.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType
from typing import Any

from .binding import bind
from .decode import OPERATIONS, VERSION, decoded
from .frame import NULL, DefaultOf, Frame
from .generators import generator_of
from .surroundings import SEES_FRAME, call_outside, zero_super

__all__ = ["BINARY", "COMPARE", "OPERATIONS", "RETURN", "SWITCH", "YIELD", "DefaultOf", "Machine", "Stop", "operation"]

#: How a frame gives back control: its value is the frame's state. After SWITCH it goes on, handling another exception.
RETURN, YIELD, SWITCH = "return", "yield", "switch"
#: Deepest nesting of calls that is interpreted.
DEEPEST = 120

Operation = Callable[["Machine", Frame, Any], Any]
OPTIMIZED, GENERATOR, COROUTINE, ITERABLE_COROUTINE, ASYNC_GENERATOR = 0x1, 0x20, 0x80, 0x100, 0x200
OLD = VERSION < (3, 11)


def operation(*names: str) -> Callable[[Operation], Operation]:
    """Registers what instructions of these names do."""

    def register(function: Operation) -> Operation:
        for name in names:
            OPERATIONS[name] = function
        return function

    return register


#: Instructions.
BETWEEN_LOOKS = 1_000


class Stop(BaseException):
    """Ends the interpretation; no handler of the interpreted program sees it."""


class Escaped(Stop):
    """An exception of an operation on traced values, on its way out of the interpreted program."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Machine:
    """Runs Python functions instruction by instruction."""

    #: Exceptions that are the interpreter's own business, not the program's.
    own_exceptions: tuple[type[BaseException], ...] = (Stop,)

    most_instructions = next_look = 1 << 62

    def __init__(self) -> None:
        self.frame: Frame | None = None
        self.depth = 0
        self.instructions = 0  # so many were interpreted
        self.stops = 0  # how often an interpretation was ended
        self.own_functions: dict[int, FunctionType] = {}  # functions that what is interpreted has made

    # -- frames ----------------------------------------------------------------------------------------------------

    def unwind_blocks(self, frame: Frame, error: BaseException) -> bool:
        """Where exceptions are handled by blocks, blocks.py says how."""
        raise NotImplementedError

    def run_function(self, function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Calls a Python function by interpreting it."""
        code = function.__code__
        self.note_function(function)
        if code.co_flags & (COROUTINE | ITERABLE_COROUTINE | ASYNC_GENERATOR):
            self.refuse(f"'{code.co_name}' is asynchronous")
        variables = bind(function, args, kwargs)
        frame = Frame(decoded(code), function, variables, function.__globals__, function.__builtins__)
        if OLD:
            make_cells(self, frame, code)
        if not code.co_flags & OPTIMIZED:
            frame.names = function.__globals__
        if code.co_flags & GENERATOR:
            return self.make_generator(frame)
        return self.run(frame)

    def note_function(self, function: FunctionType) -> None:
        """Called with each function that is interpreted."""

    def make_generator(self, frame: Frame) -> Any:
        return generator_of(self, frame)

    def run(self, frame: Frame) -> Any:
        """Runs a frame to its end, or to its next ``yield``; the value is returned, or raised what the frame raises."""
        if self.depth >= DEEPEST:
            self.refuse("calls are nested too deeply")
        frame.caller, self.frame = self.frame, frame
        self.depth += 1
        try:
            while True:
                signal = self._loop(frame) if not frame.handled else self._handle(frame)
                if signal is not SWITCH:
                    value, frame.state = frame.state, None
                    return value
        except self.own_exceptions:
            self.stops += 1
            raise
        finally:
            self.frame, frame.caller = frame.caller, None
            self.depth -= 1

    def _handle(self, frame: Frame) -> Any:
        """The loop while a handler runs: Python too handles the exception, so it is the context of those raised now."""
        # No variable holds the exception: it would live as long as the traceback of the next one.
        place = frame.handled[-1].__traceback__
        try:
            raise_again(frame.handled[-1])
        except BaseException:
            frame.handled[-1].__traceback__ = place
            del place
            return self._loop(frame)

    def look(self) -> None:
        """Whether the call has taken too much by now; done every now and then."""
        if self.instructions > self.most_instructions:
            self.refuse(f"it takes more than {self.most_instructions} instructions")
        self.next_look = self.instructions + BETWEEN_LOOKS

    def _loop(self, frame: Frame) -> Any:
        """Instructions in order, until the frame gives back control."""
        instructions = frame.code.instructions
        while True:
            try:
                if frame.thrown is not None:
                    raise_thrown(frame)
                while True:
                    frame.instruction = instruction = instructions[frame.at]
                    frame.at += 1
                    self.instructions += 1
                    if self.instructions > self.next_look:
                        self.look()
                    signal = instruction.run(self, frame, instruction)
                    if signal is not None:
                        return signal
            except self.own_exceptions:
                raise
            except RecursionError:
                self.refuse("calls are nested too deeply")
            except BaseException as error:
                if not self.unwind(frame, error):
                    raise
            if OLD:
                return SWITCH

    def unwind(self, frame: Frame, error: BaseException) -> bool:
        """Goes to the handler of an exception; False if there is none in this frame."""
        if OLD:
            return self.unwind_blocks(frame, error)
        at = frame.at - 1
        handler = frame.code.handlers.get(at)
        if handler is None:
            return False
        del frame.stack[handler.depth :]
        if handler.lasti:
            frame.stack.append(at)
        frame.stack.append(error)
        frame.at = handler.target
        return True

    # -- what the program asks for; a recorder overrides these -------------------------------------------------------

    def refuse(self, reason: str) -> Any:
        raise Stop(reason)

    def read_global(self, frame: Frame, name: str) -> Any:
        value = frame.globals.get(name, NULL) if type(frame.globals) is dict else looked_up(frame.globals, name)
        if value is NULL:
            value = frame.builtins.get(name, NULL) if type(frame.builtins) is dict else looked_up(frame.builtins, name)
            if value is NULL:
                raise NameError(f"name '{name}' is not defined", name=name)
        return value

    def back_edge(self, frame: Frame) -> None:
        """Called where a jump goes back to the beginning of a loop."""

    def at_header(self, frame: Frame, at: int) -> tuple[Any] | None:
        """Called before the first instruction of a turn of a ``while`` statement; how the frame gives back control, where the loop was ended."""
        return None

    def end_of_loop(self, frame: Frame, instruction: Any) -> Any:
        """Goes behind a ``for`` statement whose iterator has no more; how the frame gives back control."""
        frame.at = instruction.target
        if frame.code.instructions[frame.at].name == "END_FOR":
            frame.at += 1
            if VERSION >= (3, 13):
                return None  # POP_TOP behind it takes the iterator
        frame.stack.pop()
        return None

    def born(self, value: Any) -> Any:
        """Called with each container that an instruction makes."""
        return value

    def store_global(self, frame: Frame, name: str, value: Any) -> None:
        frame.globals[name] = value

    def delete_global(self, frame: Frame, name: str) -> None:
        if name not in frame.globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del frame.globals[name]

    def read_cell(self, cell: Any) -> Any:
        """What a cell holds; ValueError where it is empty."""
        return cell.cell_contents

    def store_cell(self, cell: Any, value: Any) -> None:
        cell.cell_contents = value

    def new_cell(self, cell: Any) -> None:
        """Called for each cell that a frame makes."""

    def constant(self, value: Any) -> Any:
        """A default of a function, or what else comes from outside without a name."""
        return value

    def attribute(self, owner: Any, name: str) -> Any:
        return getattr(owner, name)

    def store_attribute(self, owner: Any, name: str, value: Any) -> None:
        setattr(owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        delattr(owner, name)

    def item(self, owner: Any, key: Any) -> Any:
        return operator.getitem(owner, key)

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        operator.setitem(owner, key, value)

    def delete_item(self, owner: Any, key: Any) -> None:
        operator.delitem(owner, key)

    def unary(self, function: Callable[[Any], Any], value: Any) -> Any:
        return function(value)

    def binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        return BINARY[symbol](lhs, rhs)

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        return COMPARE[symbol](lhs, rhs)

    def contains(self, container: Any, value: Any) -> Any:
        return operator.contains(container, value)

    def same(self, lhs: Any, rhs: Any) -> Any:
        """Whether they are one object, as a bool or what stands for one."""
        return lhs is rhs

    def loaded(self, f: Frame, value: Any) -> Any:
        """A variable that may be None, see maybes.py."""
        return value

    def truth(self, value: Any) -> bool:
        return bool(value)

    def truth_value(self, value: Any) -> Any:
        """The truth of a value, as a bool or what stands for one."""
        return self.truth(value)

    def negation(self, value: Any) -> Any:
        return not self.truth(value)

    def conditional_jump(self, f: Frame, i: Any, value: Any, when: bool, kept: tuple = ()) -> Any:
        """Jumps where the truth of a value is ``when``, with ``kept`` on the stack then; how the frame gives back control."""
        if self.truth(value) is when:
            f.at = i.target
            f.stack += kept
        return None

    def iterate(self, frame: Frame, value: Any) -> Any:
        """The iterator that a ``for`` statement or an unpacking asks."""
        return iter(value)

    def next_of(self, frame: Frame, iterator: Any) -> Any:
        """The next value; StopIteration at the end."""
        return next(iterator)

    def listed(self, frame: Frame, value: Any, asks_length: bool = False) -> list[Any]:
        """All values of something that can be iterated over, as list() asks for them or as others do."""
        return list(value)

    def length(self, value: Any) -> int:
        return len(value)

    def mapping(self, value: Any) -> dict[Any, Any]:
        """A mapping's keys and values; AttributeError if it is none."""
        if not hasattr(value, "keys"):
            raise AttributeError(f"'{type(value).__name__}' object has no attribute 'keys'")
        found: dict[Any, Any] = {}
        found.update(value)
        return found

    def hashed(self, value: Any) -> Any:
        """A value as a key of a dictionary, or as an element of a set."""
        return value

    def grow(self, container: Any) -> None:
        """Called before a comprehension adds to what it builds."""

    def append_in_comprehension(self, owner: list[Any], value: Any) -> None:
        owner.append(value)

    def special(self, owner: Any, name: str) -> Any:
        """A method that the language calls, which is looked up on the type."""
        for kind in type(owner).__mro__:
            if name in vars(kind):
                found = vars(kind)[name]
                return type(found).__get__(found, owner, type(owner)) if hasattr(type(found), "__get__") else found
        if OLD:
            raise AttributeError(name)
        missed = " (missed __exit__ method)" if name == "__exit__" else ""
        raise TypeError(f"'{type(owner).__name__}' object does not support the context manager protocol{missed}")

    def format(self, value: Any, spec: Any, conversion: str) -> Any:
        if conversion:
            value = repr(value) if conversion == "r" else str(value) if conversion == "s" else ascii(value)
        return format(value, "" if spec is None else spec)

    def import_name(self, frame: Frame, name: str, fromlist: Any, level: int) -> Any:
        if "__import__" not in frame.builtins:
            raise ImportError("__import__ not found")
        return frame.builtins["__import__"](name, frame.globals, None, fromlist, level)

    def build_class(self, frame: Frame) -> Any:
        return builtins.__build_class__

    def match_class(self, subject: Any, kind: Any) -> bool:
        return isinstance(subject, kind)

    def call(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Calls anything: Python functions are interpreted, all else is called as it is."""
        kind = type(function)
        if kind is FunctionType:
            return self.run_function(function, args, kwargs)
        if kind is MethodType:
            return self.call(function.__func__, (function.__self__, *args), kwargs)
        frame = self.frame
        if frame is None:
            return function(*args, **kwargs)
        if kind is BuiltinFunctionType or function is super:
            sees = SEES_FRAME.get(function)
            if sees is not None:
                return sees(self, frame, args, kwargs)
        return call_outside(frame, function, args, kwargs)

    def zero_super(self, frame: Frame) -> Any:
        """What ``super()`` gives in a frame."""
        return zero_super(frame)


def raise_thrown(frame: Frame) -> None:
    """Raises what was thrown into a generator; what the generator handles is its context."""
    error, frame.thrown = frame.thrown, None
    assert error is not None
    try:
        if not frame.handled:
            raise_again(error)
        raise error
    finally:
        del error


def raise_again(error: BaseException) -> None:
    """Raises an exception that was raised before: what is the context of what stays as it is."""
    context, holder = error.__context__, sys.exc_info()[1]
    seen: set[int] = set()
    while holder is not None and holder.__context__ is not error and id(holder) not in seen:
        seen.add(id(holder))
        holder = holder.__context__
    try:
        raise error
    finally:
        error.__context__ = context
        if holder is not None and id(holder) not in seen:
            holder.__context__ = error
        del error, context, holder


def looked_up(space: Any, name: str) -> Any:
    """An entry of what may be no plain dict; NULL if there is none."""
    try:
        return space[name]
    except KeyError:
        return NULL


def make_cells(machine: Machine, frame: Frame, code: CodeType) -> None:
    """Python 3.10 has no instructions that make cells."""
    for name in code.co_cellvars:
        value = frame.locals.pop(name, NULL)
        if type(value) is DefaultOf:
            value = machine.constant(value.value)
        frame.cells[name] = CellType() if value is NULL else CellType(value)
        machine.new_cell(frame.cells[name])
    if code.co_freevars and frame.function is not None:
        frame.cells.update(zip(code.co_freevars, frame.function.__closure__ or ()))


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
}  # fmt: skip

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
