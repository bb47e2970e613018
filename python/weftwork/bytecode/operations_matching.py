"""Instructions of the match statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .decode import VERSION
from .frame import Frame
from .machine import Machine, operation

OLD = VERSION < (3, 11)


@operation("GET_LEN")
def get_len(m: Machine, f: Frame, i: Any) -> None:
    f.stack.append(m.length(f.stack[-1]))


@operation("MATCH_MAPPING")
def match_mapping(m: Machine, f: Frame, i: Any) -> None:
    subject = f.stack[-1]
    marks = type(subject).__flags__ & (IS_SEQUENCE | IS_MAPPING)
    f.stack.append(marks == IS_MAPPING if marks else m.match_class(subject, Mapping))


@operation("MATCH_SEQUENCE")
def match_sequence(m: Machine, f: Frame, i: Any) -> None:
    subject = f.stack[-1]
    marks = type(subject).__flags__ & (IS_SEQUENCE | IS_MAPPING)
    if marks:
        f.stack.append(marks == IS_SEQUENCE)
    else:
        f.stack.append(m.match_class(subject, Sequence) and not m.match_class(subject, (str, bytes, bytearray)))


#: How Python marks types that such patterns match.
IS_SEQUENCE, IS_MAPPING = 1 << 5, 1 << 6


@operation("MATCH_KEYS")
def match_keys(m: Machine, f: Frame, i: Any) -> None:
    values = values_of_keys(m, f.stack[-2], f.stack[-1])
    f.stack.append(values)
    if OLD:  # 3.10 says besides whether all were found
        f.stack.append(values is not None)


def values_of_keys(m: Machine, subject: Any, keys: tuple) -> tuple | None:
    """The values of a mapping that belong to the keys; None where one is missing."""
    for at, key in enumerate(keys):
        if key in keys[:at]:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
    if isinstance(subject, dict):
        found = all(m.truth(m.contains(subject, key)) for key in keys)
        return tuple([m.item(subject, key) for key in keys]) if found else None
    values: list[Any] = []
    for key in keys:
        value = m.call(m.attribute(subject, "get"), (key, ABSENT), {})
        if value is ABSENT:
            return None
        values.append(value)
    return tuple(values)


ABSENT = object()


@operation("COPY_DICT_WITHOUT_KEYS")
def copy_dict_without_keys(m: Machine, f: Frame, i: Any) -> None:
    keys = f.stack.pop()
    rest = dict(m.mapping(f.stack[-1]))
    for key in keys:
        del rest[key]
    f.stack.append(rest)


#: Types whose one positional sub-pattern is the subject itself.
WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@operation("MATCH_CLASS")
def match_class(m: Machine, f: Frame, i: Any) -> None:
    names, kind, subject = f.stack.pop(), f.stack.pop(), f.stack.pop()
    if not isinstance(kind, type):
        raise TypeError(f"called match pattern must be a {'type' if VERSION < (3, 12) else 'class'}")
    values = attributes_of(m, subject, kind, i.arg, names) if m.match_class(subject, kind) else None
    if OLD:
        f.stack += (subject if values is None else values, values is not None)
    else:
        f.stack.append(values)


def attributes_of(m: Machine, subject: Any, kind: Any, count: int, names: tuple[str, ...]) -> tuple | None:
    """What the sub-patterns of a class pattern are matched with; None where an attribute is missing."""
    values: list[Any] = []
    known: list[str] = []
    if count:
        found = getattr(kind, "__match_args__", None)
        if found is None and issubclass(kind, WHOLE):
            check_count(kind, count, 1)
            values.append(subject)
        else:
            known = positional_names(kind, count, found)
    for at, name in enumerate((*known, *names)):
        if name in known[:at] or (at >= len(known) and name in names[: at - len(known)]):
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        try:
            values.append(m.attribute(subject, name))
        except AttributeError:
            return None
    return tuple(values)


def positional_names(kind: Any, count: int, known: Any) -> list[str]:
    """The attributes that positional sub-patterns stand for."""
    if known is None:
        known = ()
    if type(known) is not tuple:
        raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(known).__name__})")
    check_count(kind, count, len(known))
    for name in known[:count]:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return list(known[:count])


def check_count(kind: Any, count: int, allowed: int) -> None:
    if count > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
