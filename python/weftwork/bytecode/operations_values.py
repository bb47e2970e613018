"""Instructions on attributes, items and operators."""

from __future__ import annotations

import dis
import operator
from typing import Any

from ..numpy.maybe import Maybe
from .decode import OLD_OPERATORS, VERSION
from .frame import NULL, Frame
from .machine import Machine, operation
from .operations import NULL_FIRST

# -- attributes and items ------------------------------------------------------------------------------------------------


@operation("LOAD_ATTR")
def load_attr(m: Machine, f: Frame, i: Any) -> None:
    owner = f.stack.pop()
    value = m.attribute(owner, i.value)
    if not (ATTR_HAS_BIT and i.arg & 1):
        f.stack.append(value)
    elif NULL_FIRST:
        f.stack += (NULL, value)
    else:
        f.stack += (value, NULL)


ATTR_HAS_BIT = "LOAD_SUPER_ATTR" in dis.opmap


@operation("LOAD_METHOD")
def load_method(m: Machine, f: Frame, i: Any) -> None:
    value = m.attribute(f.stack.pop(), i.value)
    f.stack += (NULL, value)


@operation("LOAD_SUPER_ATTR")
def load_super_attr(m: Machine, f: Frame, i: Any) -> None:
    self_, kind, function = f.stack.pop(), f.stack.pop(), f.stack.pop()
    # A bit says that super() was written with arguments; what is not the builtin gets those alone.
    owner = m.call(function, (kind, self_) if function is super or i.arg & 2 else (), {})
    value = m.attribute(owner, i.value)
    if i.arg & 1:
        f.stack += (NULL, value) if NULL_FIRST else (value, NULL)
    else:
        f.stack.append(value)


@operation("STORE_ATTR")
def store_attr(m: Machine, f: Frame, i: Any) -> None:
    owner = f.stack.pop()
    m.store_attribute(owner, i.value, f.stack.pop())


@operation("DELETE_ATTR")
def delete_attr(m: Machine, f: Frame, i: Any) -> None:
    m.delete_attribute(f.stack.pop(), i.value)


@operation("BINARY_SUBSCR")
def binary_subscr(m: Machine, f: Frame, i: Any) -> None:
    key, owner = f.stack.pop(), f.stack.pop()
    f.stack.append(m.item(owner, key))


@operation("BINARY_SLICE")
def binary_slice(m: Machine, f: Frame, i: Any) -> None:
    stop, start, owner = f.stack.pop(), f.stack.pop(), f.stack.pop()
    f.stack.append(m.item(owner, slice(start, stop)))


@operation("STORE_SUBSCR")
def store_subscr(m: Machine, f: Frame, i: Any) -> None:
    key, owner, value = f.stack.pop(), f.stack.pop(), f.stack.pop()
    m.store_item(owner, key, value)


@operation("STORE_SLICE")
def store_slice(m: Machine, f: Frame, i: Any) -> None:
    stop, start, owner, value = f.stack.pop(), f.stack.pop(), f.stack.pop(), f.stack.pop()
    m.store_item(owner, slice(start, stop), value)


@operation("DELETE_SUBSCR")
def delete_subscr(m: Machine, f: Frame, i: Any) -> None:
    key, owner = f.stack.pop(), f.stack.pop()
    m.delete_item(owner, key)


# -- operators -----------------------------------------------------------------------------------------------------------

UNARY = {"UNARY_POSITIVE": operator.pos, "UNARY_NEGATIVE": operator.neg, "UNARY_INVERT": operator.invert}


@operation(*UNARY)
def unary(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.unary(UNARY[i.name], f.stack.pop()))


@operation("UNARY_NOT")
def unary_not(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.negation(f.stack.pop()))


@operation("TO_BOOL")
def to_bool(m: Machine, f: Frame, i: Any) -> None:
    value = f.stack[-1]
    if value is not True and value is not False:
        f.stack[-1] = m.truth_value(value)


@operation("BINARY_OP", *OLD_OPERATORS)
def binary_op(m: Machine, f: Frame, i: Any) -> None:
    rhs = f.stack.pop()
    f.stack.append(m.binary(i.value, f.stack.pop(), rhs))


@operation("COMPARE_OP")
def compare_op(m: Machine, f: Frame, i: Any) -> None:
    rhs = f.stack.pop()
    result = m.compare(i.value, f.stack.pop(), rhs)
    if COMPARE_HAS_BIT and i.arg & 16 and result is not True and result is not False:
        result = m.truth_value(result)
    f.stack.append(result)


#: From 3.13 on a bit says that the truth value of a comparison is what is wanted.
COMPARE_HAS_BIT = VERSION >= (3, 13)


@operation("IS_OP")
def is_op(m: Machine, f: Frame, i: Any) -> None:
    rhs, lhs = f.stack.pop(), f.stack.pop()
    if type(lhs) is Maybe:
        f.stack.append(m.negation(lhs.missing) if i.arg else lhs.missing)
        return
    found = m.same(lhs, rhs)
    f.stack.append(m.negation(found) if i.arg else found)


@operation("CONTAINS_OP")
def contains_op(m: Machine, f: Frame, i: Any) -> None:
    container = f.stack.pop()
    found = m.contains(container, f.stack.pop())
    if found is not True and found is not False:
        found = m.truth_value(found)
    f.stack.append(m.negation(found) if i.arg else found)
