"""The errors that a user can act on; each is also the built-in exception of its kind."""

from __future__ import annotations

import numpy as np

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "DataDependentError",
    "DivisionByZeroError",
    "Error",
    "ExecutionError",
    "FileError",
    "InternalError",
    "LinAlgError",
    "OutOfBoundsError",
    "RecompilationWarning",
    "UnsupportedError",
]


class Error(Exception):
    """Something that the caller can mend: the message names what was wanted, what was found and the line."""

    #: Short name of the rule that was broken, as listed in docs/errors.md.
    label: str = ""


class ArgumentTypeError(Error, TypeError):
    """A dtype, or a kind of object, that does not fit."""


class ArgumentValueError(Error, ValueError):
    """A shape, axis, extent or text that does not fit."""


class OutOfBoundsError(Error, IndexError):
    """An index outside of its axis."""


class LinAlgError(ArgumentValueError, np.linalg.LinAlgError):
    """A matrix for which there is no result: a singular one, or one that is not positive definite."""


class DivisionByZeroError(ArgumentValueError, ZeroDivisionError):
    """A mean by weights that add up to zero."""


class UnsupportedError(Error, NotImplementedError):
    """A function or a case of it that cannot be compiled."""


class DataDependentError(ArgumentTypeError):
    """Python asked for the value of an array that is only known when the program runs."""


class FileError(Error, OSError):
    """A file that cannot be read or written, or does not hold what its name says."""


class ExecutionError(Error, RuntimeError):
    """A run that could not be done."""


class RecompilationWarning(UserWarning):
    """A jitted function is compiled again and again: eight programs for arguments of the same dtypes. Once for each function."""


class InternalError(RuntimeError):
    """A mistake in Weftwork itself; please report it with the program that caused it."""
