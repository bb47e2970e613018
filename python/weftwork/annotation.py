"""Declared arguments: ``wf.tensor[wf.mutable, np.float32, ("N", 3)]`` as a parameter's annotation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .errors import ArgumentTypeError, ArgumentValueError
from .spec import Spec, to_extent

__all__ = ["mutable", "tensor"]


class _Mutable:
    """Says in ``wf.tensor[wf.mutable, ...]`` that the function may write to the argument."""

    def __repr__(self) -> str:
        return "wf.mutable"


mutable = _Mutable()


@dataclass(frozen=True)
class Declared:
    """What a parameter is declared to be; extents are integers and Dims."""

    dtype: np.dtype
    shape: tuple[Any, ...]
    mutable: bool

    def __repr__(self) -> str:
        words = ["wf.mutable"] if self.mutable else []
        return f"wf.tensor[{', '.join([*words, str(self.dtype), str(self.shape)])}]"

    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    def require(self, name: str, given: Any) -> None:
        """Error unless the array, NumPy scalar or Spec fits."""
        if not isinstance(given, (np.ndarray, np.generic, Spec)):
            raise ArgumentTypeError(
                f"argument '{name}' must be {self!r}, got {type(given).__name__}  [annotation_type]"
            )
        found = f"{given.dtype} of shape {tuple(given.shape)}"
        if given.dtype.newbyteorder("=") != self.dtype:
            raise ArgumentTypeError(f"argument '{name}' must be {self!r}, got {found}  [annotation_dtype]")
        fits = len(given.shape) == len(self.shape) and all(map(extent_fits, self.shape, given.shape))
        if not fits:
            raise ArgumentValueError(f"argument '{name}' must be {self!r}, got {found}  [annotation_shape]")


def extent_fits(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, _core.Dim):
        return not isinstance(given, int) or wanted.min <= given <= wanted.max
    return isinstance(given, int) and given == wanted


class tensor:
    """Declares an array parameter: ``x: wf.tensor[wf.mutable, np.float32, ("N", 3)]``.

    The dtype, then the shape: integers, names of symbolic extents (1 or more; the same name is the same extent in all
    arguments) and :class:`wf.Dim`. With ``wf.mutable`` in front the function may write to the argument; without, a write
    raises. ``wf.jit``, ``wf.simulate``, ``wf.trace`` and ``wf.compile`` read it; a plain call of the function does not.

    >>> import numpy as np, weftwork as wf
    >>> def step(x: wf.tensor[wf.mutable, np.float32, ("N",)]):
    ...     x[:] = x + 1
    >>> wf.trace(step).aliases
    {'x': 'x'}
    """

    def __class_getitem__(cls, items: Any) -> Declared:
        items = items if isinstance(items, tuple) else (items,)
        writes = bool(items) and items[0] is mutable
        rest = items[1:] if writes else items
        if len(rest) != 2 or not isinstance(rest[1], (tuple, list)):
            raise ArgumentTypeError(
                f"wf.tensor takes a dtype and a shape, wf.mutable in front or not, got {items!r}  [annotation]"
            )
        shape = tuple(to_extent(extent) for extent in rest[1])
        if any(isinstance(extent, int) and extent < 0 for extent in shape):
            raise ArgumentValueError(f"extents must not be negative, got {shape}  [annotation]")
        return Declared(np.dtype(rest[0]), shape, writes)


def declared_parameters(function: Callable[..., Any]) -> dict[str, Declared]:
    """Parameter → what it is declared to be; a name stands for one extent in all of them."""
    function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    found = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        if isinstance(annotation, str):
            annotation = evaluated(function, name, annotation)
        if isinstance(annotation, Declared) and name != "return":
            found[name] = annotation
    ranged = {
        repr(extent): extent
        for declared in found.values()
        for extent in declared.shape
        if isinstance(extent, _core.Dim) and not is_default(extent)
    }
    same = lambda extent: ranged.get(repr(extent), extent)
    return {n: Declared(d.dtype, tuple(map(same, d.shape)), d.mutable) for n, d in found.items()}


def is_default(extent: _core.Dim) -> bool:
    """Whether the extent has the range of one that is given by its name only."""
    default = _core.Dim("_")
    return (extent.min, extent.opt, extent.max) == (default.min, default.opt, default.max)


def evaluated(function: Any, name: str, text: str) -> Any:
    """The value of an annotation that is text, as ``from __future__ import annotations`` makes it."""
    if "tensor" not in text:
        return None
    code = getattr(function, "__code__", None)
    cells = zip(getattr(code, "co_freevars", ()), function.__closure__ or (), strict=False) if code else ()
    local = {}
    for variable, cell in cells:
        try:
            local[variable] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    try:
        return eval(text, getattr(function, "__globals__", {}), local)
    except (NameError, AttributeError) as error:
        if "tensor[" in text.replace(" ", "") and "mutable" in text:
            raise ArgumentTypeError(
                f"the annotation of '{name}', {text}, cannot be read: {error}  [annotation]"
            ) from None
        return None


def with_declared(
    function: Callable[..., Any], declared: dict[str, Declared], args: tuple, kwargs: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """The arguments, with a Spec for each declared parameter that has neither an argument nor a default."""
    if not declared:
        return args, kwargs
    filled, named = list(args), dict(kwargs)
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        wanted = declared.get(parameter.name)
        given = place < len(args) or parameter.name in kwargs
        if wanted is None or given or parameter.default is not parameter.empty:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY or place != len(filled):
            named[parameter.name] = wanted.spec()
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            filled.append(wanted.spec())
    return tuple(filled), named
