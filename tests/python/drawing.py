"""Arguments and pieces of NumPy code drawn at random, for programs that are compared with NumPy.

Everything is drawn from a ``random.Random``: Hypothesis hands one in that it can shrink, a campaign one with a seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

DTYPES = {
    "b": ["?"],
    "i": ["i1", "i2", "i4", "i8"],
    "u": ["u1", "u2", "u4", "u8"],
    "f": ["f2", "f4", "f8"],
    "c": ["c8", "c16"],
    "V": [ml_dtypes.bfloat16],
}
EXTENTS = (0, 1, 1, 2, 2, 3, 3, 4, 5)
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5)


def quiet(run: Callable[[], Any]) -> Any:
    """What it gives, without NumPy's warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()


def fresh(array: Any) -> Any:
    """A copy with the same strides, byte order and flags."""
    if not isinstance(array, np.ndarray):
        return array
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    memory = np.frombuffer(root.tobytes("A"), np.uint8).copy()
    offset = array.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(root)[0]
    if not array.size:
        return array.copy()
    result = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    result.flags.writeable = array.flags.writeable
    return result


class Drawing:
    """A program that is being drawn: its arguments, and the code that makes further ones.

    ``env`` maps names to values, as plain NumPy has them after the statements so far; ``args`` holds the arguments as they
    were before. With ``nice`` floats are small multiples of a quarter, whose sums are exact in any order.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.args: dict[str, Any] = {}
        self.env: dict[str, Any] = {"np": np}
        self.pool: list[str] = []  # names of arrays that further statements may take

    # -- choices ---------------------------------------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return options[self.random.randrange(len(options))]

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def opt(self, *options: str, p: float = 0.4) -> str:
        """', keyword=value' of one of the options, or nothing."""
        return f", {self.pick(*options)}" if self.chance(p) else ""

    def value(self, text: str) -> Any:
        """What NumPy makes of an expression over the names so far."""
        return quiet(lambda: eval(text, dict(self.env)))

    # -- shapes and dtypes -----------------------------------------------------------------------------------------

    def dtype(self, kinds: str = "biufc") -> np.dtype:
        return np.dtype(self.pick(*DTYPES[self.pick(*kinds)]))

    def dtype_text(self, kinds: str = "biufc") -> str:
        return f"np.{self.dtype(kinds).name}" if self.chance(0.9) else self.pick("float", "int", "'f4'", "'i2'")

    def shape(self, low: int = 0, high: int = 3) -> tuple[int, ...]:
        return tuple(self.pick(*EXTENTS) for _ in range(self.integer(low, high)))

    def partner_shape(self, shape: Sequence[int], within: bool = False) -> tuple[int, ...]:
        """A shape that broadcasts with another; ``within``: to it."""
        kept = list(shape[self.pick(0, 0, 0, self.integer(0, len(shape))) :])
        kept = [1 if self.chance(0.15) else e for e in kept]
        if not within and self.chance(0.15):
            kept = [self.integer(1, 3) if e == 1 else e for e in kept]
            kept = [self.integer(1, 3), *kept] if len(kept) == len(shape) < 4 else kept
        return tuple(kept)

    def of(self, name: str) -> np.ndarray:
        return np.asarray(self.value(name))

    # -- arrays ----------------------------------------------------------------------------------------------------

    def integers(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        info, size = np.iinfo(dtype), int(np.prod(shape))
        low = max(-9, info.min)
        kind = self.random.random()
        if kind < 0.75:
            values = [self.random.randint(low, 9) for _ in range(size)]
        elif kind < 0.9:
            values = [self.random.randint(info.min, info.max) for _ in range(size)]
        else:
            values = [self.pick(info.min, info.max, 0, 1, info.max - 1, info.min + 1) for _ in range(size)]
        return np.array(values, dtype).reshape(shape)

    def floats(self, shape: tuple[int, ...], dtype: np.dtype, nice: bool) -> np.ndarray:
        size = int(np.prod(shape))
        kind = self.random.random()
        if nice or kind < 0.5:
            values = [self.random.randint(-20, 20) / 4 for _ in range(size)]
        else:
            values = [self.random.gauss(0, 2) for _ in range(size)]
        if kind > 0.75 and not nice:
            info = np.finfo(dtype)
            extreme = (*SPECIAL, info.max, info.tiny, info.smallest_subnormal)
            values = [self.pick(*extreme) if self.chance(0.5) else v for v in values]
        return np.array(values, dtype).reshape(shape)

    def elements(self, shape: tuple[int, ...], dtype: np.dtype, nice: bool) -> np.ndarray:
        if dtype.kind == "b":
            return np.array([self.chance(0.5) for _ in range(int(np.prod(shape)))], bool).reshape(shape)
        if dtype.kind in "iu":
            return self.integers(shape, dtype)
        if dtype.kind == "f":
            return self.floats(shape, dtype, nice)
        if dtype.kind == "V":
            return self.floats(shape, np.dtype(np.float32), nice).astype(dtype)
        part = np.empty(0, dtype).real.dtype
        result = np.empty(shape, dtype)
        result.real, result.imag = self.floats(shape, part, nice), self.floats(shape, part, nice)
        return result

    def laid_out(self, values: np.ndarray) -> np.ndarray:
        """The same elements in some order in memory."""
        way = self.random.random()
        if not values.ndim or way < 0.5:
            result = values
        elif way < 0.65:
            result = np.asfortranarray(values)
        elif way < 0.8:
            turned = tuple(slice(None, None, self.pick(1, -1)) for _ in values.shape)
            result = values[turned].copy()[turned]
        elif way < 0.93:
            wide = np.zeros(tuple(2 * e + 1 for e in values.shape), values.dtype)
            part = tuple(self.pick(slice(1, None, 2), slice(0, -1, 2)) for _ in values.shape)
            result = wide[part]
            result[...] = values
        elif way < 0.97:
            result = np.broadcast_to(values[:1], values.shape) if values.shape[0] else values
        else:
            result = values.astype(values.dtype.newbyteorder())
        if self.chance(0.05) and result.size:
            result.flags.writeable = False
        return result

    def bind(self, value: Any) -> str:
        """A new argument."""
        name = f"a{len(self.args)}"
        self.args[name] = value
        self.env[name] = fresh(value)
        if isinstance(value, np.ndarray):
            self.pool.append(name)
        return name

    def array(
        self,
        kinds: str = "biufc",
        shape: tuple[int, ...] | None = None,
        ndim: tuple[int, int] = (0, 3),
        nice: bool = False,
        plain: bool = False,
    ) -> str:
        """The name of an array; ``plain``: native and writeable."""
        fitting = [
            n
            for n in self.pool
            if isinstance(v := self.env[n], np.ndarray)
            and v.dtype.kind in kinds
            and (v.shape == shape if shape is not None else ndim[0] <= v.ndim <= ndim[1])
            and v.size < 200
        ]
        if fitting and self.chance(0.8 if len(self.args) > 2 else 0.4):
            return self.pick(*fitting)
        shape = self.shape(*ndim) if shape is None else shape
        values = self.elements(shape, self.dtype(kinds), nice)
        return self.bind(values if plain else self.laid_out(values))

    def given(self, values: Any, dtype: Any = None) -> str:
        """An argument with these elements, in some order in memory."""
        return self.bind(self.laid_out(np.array(values, dtype)))

    def scalar(self, kinds: str = "biufc") -> str:
        """A Python number in the text or as an argument, or a NumPy scalar."""
        kind = self.pick(*kinds)
        way = self.integer(0, 3)
        if way == 0:
            return self.bind(self.elements((), self.dtype(kind), False)[()])
        number = {
            "b": lambda: self.chance(0.5), "i": lambda: self.pick(self.integer(-9, 9), self.integer(-300, 300), 2**31, 2),
            "u": lambda: self.integer(0, 9), "f": lambda: self.pick(0.5, -0.0, 2.0, self.integer(-20, 20) / 4, float("inf"), float("nan")),
            "c": lambda: complex(self.integer(-3, 3), self.integer(-3, 3)),
        }[kind]()  # fmt: skip
        if way == 1 or number != number or number in (float("inf"), float("-inf")):
            return self.bind(number)
        return f"({number!r})"

    def partner(self, name: str, kinds: str = "biufc", nice: bool = False) -> str:
        """An array or a number that broadcasts with another."""
        if self.chance(0.25):
            return self.scalar(kinds)
        return self.array(kinds, self.partner_shape(self.of(name).shape), nice=nice)

    # -- arguments of functions ------------------------------------------------------------------------------------

    def axis(self, name: str, tuples: bool = False) -> str:
        """An axis of an array; now and then one that it does not have."""
        ndim = self.of(name).ndim
        if self.chance(0.03):
            return str(self.integer(-5, 5))
        if tuples and ndim > 1 and self.chance(0.3):
            axes = self.random.sample(range(ndim), self.integer(1, ndim))
            return str(tuple(a - self.pick(0, ndim) for a in axes))
        return str(self.integer(-ndim, ndim - 1)) if ndim else self.pick("0", "-1", "None")

    def axes(self, name: str, tuples: bool = False, p: float = 0.7) -> str:
        """', axis=…' or nothing."""
        return f", axis={self.axis(name, tuples)}" if self.chance(p) else self.opt("axis=None", p=0.2)

    def mask(self, name: str) -> str:
        return self.array("b", self.partner_shape(self.of(name).shape, within=True))

    def out(self, text: str, p: float = 0.15) -> str:
        """', out=…' of the shape that the call gives, or nothing."""
        if not self.chance(p):
            return ""
        try:
            like = np.asarray(self.value(text))
        except Exception:
            return ""
        dtype = like.dtype if self.chance(0.6) else self.dtype()
        shape = like.shape if self.chance(0.9) else self.shape()
        return f", out={self.bind(self.laid_out(self.elements(shape, dtype, True)))}"

    def index(self, name: str, basic: bool = False) -> str:
        """An index of an array: integers, slices, ellipsis, new axes, index arrays and masks."""
        shape = self.of(name).shape
        if not basic and self.chance(0.12) and shape:
            return self.array("b", shape[: self.integer(1, len(shape))])
        items: list[str] = []
        for extent in shape[: self.integer(0 if self.chance(0.2) else 1, len(shape))] if shape else ():
            kind = self.random.random()
            if (kind < 0.3 and extent) or self.chance(0.02):
                items.append(str(self.integer(-extent, extent - 1)) if extent else "0")
            elif kind < 0.75 or basic or not extent:
                items.append(self.slice(extent))
            elif kind < 0.85:
                items.append(str([self.integer(-extent, extent - 1) for _ in range(self.integer(1, 3))]))
            else:
                # Of one number of elements, so that several index arrays broadcast.
                items.append(self.given([self.integer(-extent, extent - 1) for _ in range(2)], self.dtype("i")))
            if self.chance(0.08):
                items.append("None")
        if self.chance(0.2) and (len(items) - items.count("None") == len(shape) or not items):
            items.insert(self.integer(0, len(items)), "...")
        elif self.chance(0.2):
            items.append("...")
        return ", ".join(items) if items else "..." if self.chance(0.5) or not shape else "()"

    def slice(self, extent: int) -> str:
        bound = lambda: self.pick("", str(self.integer(-extent - 1, extent + 1)))
        return f"{bound()}:{bound()}{self.pick('', '', ':-1', ':2', ':-2', ':3')}"
