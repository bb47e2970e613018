"""Instructions that jump, loop, return, yield, raise and handle exceptions."""

from __future__ import annotations

import sys
from types import GeneratorType
from typing import Any

from ..numpy.maybe import Maybe
from .decode import VERSION
from .frame import NULL, Frame
from .machine import RETURN, SWITCH, YIELD, Machine, operation, raise_again
from .stubs import native_instruction

# -- jumps ---------------------------------------------------------------------------------------------------------------


@operation("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE", "JUMP", "JUMP_NO_INTERRUPT")
def jump(m: Machine, f: Frame, i: Any) -> None:
    f.at = i.target


@operation("POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_TRUE")
def pop_jump_if_true(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    if value is not True and value is not False:
        return m.conditional_jump(f, i, value, True)
    if value:
        f.at = i.target
    return None


@operation("POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_FALSE")
def pop_jump_if_false(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    if value is not True and value is not False:
        return m.conditional_jump(f, i, value, False)
    if not value:
        f.at = i.target
    return None


@operation("POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE")
def pop_jump_if_none(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    if type(value) is Maybe:
        return m.conditional_jump(f, i, value.missing, True)
    if value is None:
        f.at = i.target
    return None


@operation("POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE")
def pop_jump_if_not_none(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    if type(value) is Maybe:
        return m.conditional_jump(f, i, value.missing, False)
    if value is not None:
        f.at = i.target
    return None


@operation("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    return m.conditional_jump(f, i, value, True, (value,))


@operation("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(m: Machine, f: Frame, i: Any) -> Any:
    value = f.stack.pop()
    return m.conditional_jump(f, i, value, False, (value,))


# -- loops ---------------------------------------------------------------------------------------------------------------


@operation("GET_ITER")
def get_iter(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack.append(m.iterate(f, value))


@operation("FOR_ITER")
def for_iter(m: Machine, f: Frame, i: Any) -> Any:
    try:
        value = m.next_of(f, f.stack[-1])
    except StopIteration:
        return m.end_of_loop(f, i)
    f.stack.append(value)
    return None


# -- the end of a frame --------------------------------------------------------------------------------------------------


@operation("RETURN_VALUE")
def return_value(m: Machine, f: Frame, i: Any) -> str:
    f.state = f.stack.pop()
    f.at = -1
    return RETURN


@operation("RETURN_CONST")
def return_const(m: Machine, f: Frame, i: Any) -> str:
    f.state = i.value
    f.at = -1
    return RETURN


@operation("RETURN_GENERATOR")
def return_generator(m: Machine, f: Frame, i: Any) -> None:
    # The generator was made when the function was called; the POP_TOP behind takes what was sent.
    f.stack.append(None)


@operation("GEN_START")
def gen_start(m: Machine, f: Frame, i: Any) -> None:
    f.stack.pop()


@operation("YIELD_VALUE")
def yield_value(m: Machine, f: Frame, i: Any) -> str:
    f.state = f.stack.pop()
    return YIELD


@operation("GET_YIELD_FROM_ITER")
def get_yield_from_iter(m: Machine, f: Frame, i: Any) -> None:
    if type(f.stack[-1]) is not GeneratorType:
        f.stack.append(m.iterate(f, f.stack.pop()))


@operation("SEND")
def send(m: Machine, f: Frame, i: Any) -> None:
    """A step of ``yield from``: what the inner iterator yields stays on the stack, its result ends the loop."""
    value = f.stack.pop()
    try:
        f.stack.append(sent(m, f, f.stack[-1], value))
    except StopIteration as stop:
        if f.code.instructions[i.target].name == "END_SEND":
            f.stack.append(stop.value)
        else:
            f.stack[-1] = stop.value
        f.at = i.target


def sent(m: Machine, f: Frame, iterator: Any, value: Any) -> Any:
    if value is None:
        return m.next_of(f, iterator)
    return m.call(m.attribute(iterator, "send"), (value,), {})


@operation("END_SEND")
def end_send(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack.pop()
    f.stack[-1] = value


@operation("YIELD_FROM")
def yield_from(m: Machine, f: Frame, i: Any) -> str | None:
    value = f.stack.pop()
    try:
        f.state = sent(m, f, f.stack[-1], value)
    except StopIteration as stop:
        f.stack[-1] = stop.value
        return None
    f.at -= 1
    return YIELD


# -- exceptions ----------------------------------------------------------------------------------------------------------


@operation("PUSH_EXC_INFO")
def push_exc_info(m: Machine, f: Frame, i: Any) -> str:
    error = f.stack.pop()
    f.stack += (f.handled[-1] if f.handled else None, error)
    f.handled.append(error)
    return SWITCH


@operation("POP_EXCEPT")
def pop_except(m: Machine, f: Frame, i: Any) -> str:
    f.stack.pop()
    f.handled.pop()
    return SWITCH


@operation("CHECK_EXC_MATCH")
def check_exc_match(m: Machine, f: Frame, i: Any) -> None:
    kinds = f.stack.pop()
    check_kinds(kinds)
    f.stack.append(matches(type(f.stack[-1]), kinds))


def check_kinds(kinds: Any) -> None:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")


def matches(kind: type, kinds: Any) -> bool:
    """Whether a handler of such exceptions takes one of this type; what their metaclasses say does not count."""
    for wanted in kinds if isinstance(kinds, tuple) else (kinds,):
        if any(base is wanted for base in kind.__mro__):
            return True
    return False


@operation("CHECK_EG_MATCH")
def check_group_match(m: Machine, f: Frame, i: Any) -> str:
    kinds = f.stack.pop()
    rest, match = native_instruction("CHECK_EG_MATCH", 0, 2, 2)(f.stack.pop(), kinds)
    f.stack += (rest, match)
    if match is not None:
        f.handled[-1] = match
    return SWITCH


@operation("PREP_RERAISE_STAR")
def prep_reraise_star(m: Machine, f: Frame, i: Any) -> None:
    raised = f.stack.pop()
    f.stack.append(native_instruction("PREP_RERAISE_STAR", 0, 2)(f.stack.pop(), raised))


@operation("RERAISE")
def reraise(m: Machine, f: Frame, i: Any) -> str:
    return go_on_raising(m, f, f.stack.pop())


def go_on_raising(m: Machine, f: Frame, error: BaseException) -> str:
    """Raises again what a handler had: neither its context nor its traceback change in this frame."""
    try:
        if not m.unwind(f, error):
            raise_again(error)
        return SWITCH
    finally:
        del error


@operation("RAISE_VARARGS")
def raise_varargs(m: Machine, f: Frame, i: Any) -> str:
    if i.arg == 0:
        if sys.exc_info()[1] is None:
            raise RuntimeError("No active exception to reraise")
        return go_on_raising(m, f, sys.exc_info()[1])  # type: ignore[arg-type]
    cause = f.stack.pop() if i.arg == 2 else NULL
    raise raised_object(m, f.stack.pop(), cause)


def raised_object(m: Machine, error: Any, cause: Any) -> BaseException:
    """The exception that a ``raise`` statement raises."""
    if isinstance(error, type) and issubclass(error, BaseException):
        kind, error = error, m.call(error, (), {})
        if not isinstance(error, BaseException):
            raise TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(error)!r}")
    if not isinstance(error, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    if cause is not NULL:
        if isinstance(cause, type) and issubclass(cause, BaseException):
            kind, cause = cause, m.call(cause, (), {})
            if VERSION >= (3, 13) and not isinstance(cause, BaseException):
                raise TypeError(
                    f"calling {kind!r} should have returned an instance of BaseException, not {type(cause)!r}"
                )
        if not (cause is None or isinstance(cause, BaseException)):
            raise TypeError("exception causes must derive from BaseException")
        error.__cause__ = cause
    return error


@operation("LOAD_ASSERTION_ERROR")
def load_assertion_error(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(AssertionError)


@operation("LOAD_COMMON_CONSTANT")
def load_common_constant(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(i.value)


@operation("CLEANUP_THROW")
def cleanup_throw(m: Machine, f: Frame, i: Any) -> None:
    if not isinstance(f.stack[-1], StopIteration):
        raise_again(f.stack.pop())
    value = f.stack.pop().value
    del f.stack[-2:]
    # From 3.12 on END_SEND follows, which takes what stands for the iterator.
    f.stack += (None, value) if VERSION >= (3, 12) else (value,)


# -- with ----------------------------------------------------------------------------------------------------------------


@operation("BEFORE_WITH")
def before_with(m: Machine, f: Frame, i: Any) -> None:
    manager = f.stack.pop()
    enter, leave = m.special(manager, "__enter__"), m.special(manager, "__exit__")
    f.stack.append(leave)
    f.stack.append(m.call(enter, (), {}))


@operation("WITH_EXCEPT_START")
def with_except_start(m: Machine, f: Frame, i: Any) -> None:
    error = f.stack[-1]
    f.stack.append(m.call(f.stack[-4], (type(error), error, error.__traceback__), {}))


@operation("GET_AWAITABLE", "GET_AITER", "GET_ANEXT", "BEFORE_ASYNC_WITH", "END_ASYNC_FOR", "ASYNC_GEN_WRAP")
def asynchronous(m: Machine, f: Frame, i: Any) -> None:
    m.refuse("asynchronous code is not interpreted")


# -- imports -------------------------------------------------------------------------------------------------------------


@operation("IMPORT_NAME")
def import_name(m: Machine, f: Frame, i: Any) -> None:
    fromlist, level = f.stack.pop(), f.stack.pop()
    f.stack.append(m.import_name(f, i.value, fromlist, level))


@operation("IMPORT_FROM")
def import_from(m: Machine, f: Frame, i: Any) -> None:
    module = f.stack[-1]
    try:
        value = m.attribute(module, i.value)
    except AttributeError:
        value = NULL
    # Python itself says what is missing, or finds a module that is being imported.
    f.stack.append(native_instruction("IMPORT_FROM", 0, 1, 1, (i.value,))(module) if value is NULL else value)
