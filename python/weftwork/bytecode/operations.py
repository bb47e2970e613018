"""Instructions on the stack, on variables and on cells."""

from __future__ import annotations

import dis
from types import CellType
from typing import Any

from ..numpy.maybe import Maybe
from .decode import VERSION
from .frame import NULL, DefaultOf, Frame, content_of
from .machine import Machine, operation

# -- the stack ---------------------------------------------------------------------------------------------------------


@operation("POP_TOP", "END_FOR", "POP_ITER")
def pop_top(m: Machine, f: Frame, i: Any) -> None:
    f.stack.pop()


@operation("PUSH_NULL")
def push_null(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(NULL)


@operation("SWAP")
def swap(m: Machine, f: Frame, i: Any) -> None:
    s = f.stack
    s[-1], s[-i.arg] = s[-i.arg], s[-1]


@operation("COPY")
def copy(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(f.stack[-i.arg])


@operation("ROT_TWO")
def rot_two(m: Machine, f: Frame, i: Any) -> None:
    s = f.stack
    s[-1], s[-2] = s[-2], s[-1]


@operation("ROT_THREE")
def rot_three(m: Machine, f: Frame, i: Any) -> None:
    s = f.stack
    top = s.pop()
    s.insert(len(s) - 2, top)


@operation("ROT_FOUR")
def rot_four(m: Machine, f: Frame, i: Any) -> None:
    s = f.stack
    top = s.pop()
    s.insert(len(s) - 3, top)


@operation("ROT_N")
def rot_n(m: Machine, f: Frame, i: Any) -> None:
    top = f.stack.pop()
    f.stack.insert(len(f.stack) - i.arg + 1, top)


@operation("DUP_TOP")
def dup_top(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(f.stack[-1])


@operation("DUP_TOP_TWO")
def dup_top_two(m: Machine, f: Frame, i: Any) -> None:
    f.stack += f.stack[-2:]


@operation("LOAD_CONST", "LOAD_SMALL_INT")
def load_const(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(i.value)


@operation("SETUP_ANNOTATIONS")
def setup_annotations(m: Machine, f: Frame, i: Any) -> None:
    space = f.names if f.names is not None else f.locals
    if "__annotations__" not in space:
        space["__annotations__"] = {}


# -- variables -----------------------------------------------------------------------------------------------------------


#: Stands for a variable that has no value, and is told from one by the same question as a default.
NOTHING = DefaultOf(NULL)
#: Types of what a variable has that is not its value as it is.
UNUSUAL = frozenset((DefaultOf, Maybe))


def unusual(m: Machine, f: Frame, name: str, value: Any) -> Any:
    """What a variable is whose default was not looked at yet, or that has no value of its own."""
    if type(value) is Maybe:
        return m.loaded(f, value)
    if value is not NOTHING:
        f.locals[name] = value = m.constant(value.value)
        return value
    if name in f.cells:
        return f.cells[name]  # how a closure is made from 3.13 on
    raise unbound(name)


def unbound(name: str) -> UnboundLocalError:
    name = name.strip("()")
    if VERSION < (3, 11):
        return UnboundLocalError(f"local variable '{name}' referenced before assignment")
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def set_variable(f: Frame, name: str, value: Any) -> None:
    """Binds a variable; what a comprehension put aside comes back as a cell or as nothing."""
    f.locals.pop(name, None)
    f.cells.pop(name, None)
    if type(value) is CellType and (name in f.code.code.co_cellvars or name in f.code.code.co_freevars):
        f.cells[name] = value
    elif value is not NULL:
        f.locals[name] = value


@operation("LOAD_FAST", "LOAD_FAST_CHECK")
def load_fast(m: Machine, f: Frame, i: Any) -> None:
    value = f.locals.get(i.value, NOTHING)
    f.stack.append(value if type(value) not in UNUSUAL else unusual(m, f, i.value, value))


@operation("LOAD_FAST_LOAD_FAST")
def load_two(m: Machine, f: Frame, i: Any) -> None:
    for name in i.value:
        value = f.locals.get(name, NOTHING)
        f.stack.append(value if type(value) not in UNUSUAL else unusual(m, f, name, value))


@operation("LOAD_FAST_AND_CLEAR")
def load_and_clear(m: Machine, f: Frame, i: Any) -> None:
    cell = f.cells.pop(i.value, NULL)
    f.stack.append(f.locals.pop(i.value, NULL) if cell is NULL else cell)


@operation("STORE_FAST")
def store_fast(m: Machine, f: Frame, i: Any) -> None:
    f.locals[i.value] = f.stack.pop()


@operation("STORE_FAST_MAYBE_NULL")
def store_maybe_null(m: Machine, f: Frame, i: Any) -> None:
    set_variable(f, i.value, f.stack.pop())


@operation("STORE_FAST_LOAD_FAST")
def store_load(m: Machine, f: Frame, i: Any) -> None:
    f.locals[i.value[0]] = f.stack.pop()
    value = f.locals.get(i.value[1], NOTHING)
    f.stack.append(value if type(value) not in UNUSUAL else unusual(m, f, i.value[1], value))


@operation("STORE_MAYBE_NULL_LOAD_FAST")
def store_maybe_null_load(m: Machine, f: Frame, i: Any) -> None:
    set_variable(f, i.value[0], f.stack.pop())
    value = f.locals.get(i.value[1], NOTHING)
    f.stack.append(value if type(value) not in UNUSUAL else unusual(m, f, i.value[1], value))


@operation("STORE_FAST_STORE_FAST")
def store_two(m: Machine, f: Frame, i: Any) -> None:
    f.locals[i.value[0]] = f.stack.pop()
    f.locals[i.value[1]] = f.stack.pop()


@operation("STORE_MAYBE_NULL_TWICE")
def store_maybe_null_twice(m: Machine, f: Frame, i: Any) -> None:
    for name in i.value:
        set_variable(f, name, f.stack.pop())


@operation("DELETE_FAST")
def delete_fast(m: Machine, f: Frame, i: Any) -> None:
    if f.locals.pop(i.value, NULL) is NULL:
        raise unbound(i.value)


@operation("MAKE_CELL")
def make_cell(m: Machine, f: Frame, i: Any) -> None:
    value = f.locals.pop(i.value, NULL)
    if type(value) is DefaultOf:
        value = m.constant(value.value)
    f.cells[i.value] = cell = CellType() if value is NULL else CellType(value)
    m.new_cell(cell)


@operation("COPY_FREE_VARS")
def copy_free_vars(m: Machine, f: Frame, i: Any) -> None:
    assert f.function is not None
    f.cells.update(zip(f.code.code.co_freevars, f.function.__closure__ or (), strict=True))


@operation("LOAD_CLOSURE")
def load_closure(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(f.cells[i.value])


def from_cell(m: Machine, f: Frame, name: str) -> Any:
    cell = f.cells[name]
    try:
        return m.read_cell(cell)
    except ValueError:
        if content_of(cell) is not NULL:
            raise
    raise empty(f, name)


def empty(f: Frame, name: str) -> NameError:
    """The error of a read of an empty cell."""
    if name not in f.code.code.co_freevars:
        return unbound(name)
    if VERSION < (3, 11):
        return NameError(f"free variable '{name}' referenced before assignment in enclosing scope")
    return NameError(f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope")


@operation("LOAD_DEREF")
def load_deref(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(from_cell(m, f, i.value))


@operation("LOAD_CLASSDEREF")
def load_class_deref(m: Machine, f: Frame, i: Any) -> None:
    known = f.names is not None and i.value in f.names
    f.stack.append(f.names[i.value] if known and f.names is not None else from_cell(m, f, i.value))


@operation("LOAD_FROM_DICT_OR_DEREF")
def load_from_dict_or_deref(m: Machine, f: Frame, i: Any) -> None:
    space = f.stack.pop()
    f.stack.append(space[i.value] if i.value in space else from_cell(m, f, i.value))


@operation("LOAD_FROM_DICT_OR_GLOBALS")
def load_from_dict_or_globals(m: Machine, f: Frame, i: Any) -> None:
    space = f.stack.pop()
    f.stack.append(space[i.value] if i.value in space else m.read_global(f, i.value))


@operation("STORE_DEREF")
def store_deref(m: Machine, f: Frame, i: Any) -> None:
    m.store_cell(f.cells[i.value], f.stack.pop())


@operation("DELETE_DEREF")
def delete_deref(m: Machine, f: Frame, i: Any) -> None:
    cell = f.cells[i.value]
    if content_of(cell) is NULL:
        raise empty(f, i.value)
    del cell.cell_contents


@operation("LOAD_GLOBAL")
def load_global(m: Machine, f: Frame, i: Any) -> None:
    value = m.read_global(f, i.value)
    # From 3.11 on a bit says that a call follows.
    pushes_null = LOAD_GLOBAL_HAS_BIT and i.arg & 1
    if not pushes_null:
        f.stack.append(value)
    elif NULL_FIRST:
        f.stack += (NULL, value)
    else:
        f.stack += (value, NULL)


LOAD_GLOBAL_HAS_BIT = "PUSH_NULL" in dis.opmap
#: Whether the null pointer of a call lies below what is called; from 3.13 on it lies above.
NULL_FIRST = "CALL_KW" not in dis.opmap


@operation("STORE_GLOBAL")
def store_global(m: Machine, f: Frame, i: Any) -> None:
    m.store_global(f, i.value, f.stack.pop())


@operation("DELETE_GLOBAL")
def delete_global(m: Machine, f: Frame, i: Any) -> None:
    m.delete_global(f, i.value)


@operation("LOAD_NAME")
def load_name(m: Machine, f: Frame, i: Any) -> None:
    space = f.names if f.names is not None else f.locals
    f.stack.append(space[i.value] if i.value in space else m.read_global(f, i.value))


@operation("STORE_NAME")
def store_name(m: Machine, f: Frame, i: Any) -> None:
    (f.names if f.names is not None else f.locals)[i.value] = f.stack.pop()


@operation("DELETE_NAME")
def delete_name(m: Machine, f: Frame, i: Any) -> None:
    space = f.names if f.names is not None else f.locals
    if i.value not in space:
        raise NameError(f"name '{i.value}' is not defined")
    del space[i.value]


@operation("LOAD_LOCALS")
def load_locals(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(f.names if f.names is not None else f.locals)
