"""Equality of results with the types that NumPy and Python give them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def outcome(function: Any, args: tuple) -> Any:
    """What a call gives, or the name of the error that it ends with."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except Exception as error:
        return type(error).__name__


def same_outcome(fast: Any, function: Any, args: tuple, source: str) -> None:
    """Raises with the text of the function where ``fast`` gives something else, or ends with another error."""
    wanted = outcome(function, args)
    try:
        same(outcome(fast, args), wanted)
    except AssertionError as error:
        raise AssertionError(source) from error


def same(got: Any, wanted: Any, types: bool = True, atol: float = 1e-12) -> None:
    """Raises where values differ beyond rounding, or types; without ``types`` numbers of Python's and NumPy's scalars are one."""
    if isinstance(wanted, (list, tuple)):
        assert type(got) is type(wanted) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            same(one, other, types, atol)
        return
    if isinstance(wanted, dict):
        assert type(got) is type(wanted)
        return same(list(got.items()), list(wanted.items()), types, atol)
    if dataclasses.is_dataclass(wanted):
        return same(list(vars(got).items()), list(vars(wanted).items()), types, atol)
    if types:
        assert type(got) is type(wanted), (got, wanted)
        assert getattr(got, "dtype", None) == getattr(wanted, "dtype", None), (got, wanted)
    if isinstance(wanted, (int, str, type, np.dtype, set, type(None))):
        assert got == wanted
    else:
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=atol)
