"""Random numbers from explicit keys: the same key gives the same numbers, plain, simulated and compiled.

A key is a number (uint64); numbers are drawn from Threefry-2x32, a function of the key and a counter, so that nothing is
kept between calls. A key is for one draw: ``split`` it for several.

>>> import numpy as np, weftwork as wf
>>> first, second = wf.random.split(wf.random.key(7))
>>> wf.random.randint(first, (3,), 0, 10).tolist()
[6, 7, 0]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _core
from .errors import ArgumentTypeError, ArgumentValueError
from .numpy import own
from .numpy.arguments import new_extents
from .numpy.functions import one_axis, solid
from .numpy.plain import on_plain_arrays
from .numpy.selection import fixed_extent
from .numpy.sorting import argsort
from .numpy.tracer import TracedArray, as_tensor, raise_here, wrap

__all__ = ["bernoulli", "bits", "exponential", "fold_in", "key", "normal", "permutation", "randint", "split", "uniform"]

#: Counters of draws start at 0, those of new keys here, so that no key is a number that was drawn.
SPLIT, FOLD = 1 << 63, 3 << 62
#: Float dtype → (its words, how many of their low bits are dropped, what the rest is divided by).
WORDS = {
    "float64": (np.uint64, 11, 53),
    "float32": (np.uint32, 8, 24),
    "float16": (np.uint16, 5, 11),
    "bfloat16": (np.uint16, 8, 8),
}


def words(key: Any, shape: Any, dtype: Any, start: Any = 0) -> Any:
    """Random words of an unsigned dtype, from that counter on."""
    number = solid(key)
    if number.ndim or number.dtype != np.uint64:
        raise_here(ArgumentTypeError, f"a key of wf.random.key (uint64) was wanted, got {number!r}", "random_key")
    counter = solid(start) if isinstance(start, TracedArray) else wrap(as_tensor(np.uint64(start)))
    state: Any = np.stack([number, counter])
    attrs = {"rng_algorithm": "THREE_FRY", "type": np.dtype(dtype), "dims": new_extents(shape)}
    return wrap(_core.apply_all("rng_bit_generator", [state.tensor], attrs)[1])


def key(seed: Any) -> Any:
    """The key of a seed: a uint64, from an integer (modulo 2**64) or a traced one.

    >>> import weftwork as wf
    >>> int(wf.random.key(42))
    42
    """
    if isinstance(seed, TracedArray):
        if seed.dtype.kind not in "iu" or seed.ndim:
            raise_here(ArgumentTypeError, f"a seed is an integer, got {seed!r}", "random_seed")
        return seed.astype(np.uint64)
    return np.uint64(seed.__index__() % 2**64)


@on_plain_arrays
def split(key: Any, num: int = 2) -> Any:
    """``num`` new keys, as an array of uint64; they can be unpacked.

    >>> import weftwork as wf
    >>> a, b = wf.random.split(wf.random.key(0))
    >>> bool(a != b)
    True
    """
    if num < 0:
        raise_here(ArgumentValueError, f"split: num must not be negative, got {num}", "random_num")
    return words(key, (num,), np.uint64, SPLIT)


@on_plain_arrays
def fold_in(key: Any, number: Any) -> Any:
    """The key that a key and an integer (of 0 to 2**62) make: one for each step of a loop.

    >>> import weftwork as wf
    >>> bool(wf.random.fold_in(wf.random.key(0), 1) != wf.random.fold_in(wf.random.key(0), 2))
    True
    """
    step = solid(number)
    if step.dtype.kind not in "iu" or step.ndim:
        raise_here(ArgumentTypeError, f"fold_in: an integer was wanted, got {number!r}", "random_number")
    return words(key, (1,), np.uint64, step.astype(np.uint64) + np.uint64(FOLD))[0]


@on_plain_arrays
def bits(key: Any, shape: Any = (), dtype: Any = np.uint32) -> Any:
    """Random words of an unsigned dtype.

    >>> import weftwork as wf
    >>> hex(wf.random.bits(wf.random.key(0), (), "uint64"))
    '0x99ba4efe6b200159'
    """
    if np.dtype(dtype).kind != "u":
        raise_here(ArgumentTypeError, f"bits: an unsigned dtype was wanted, got {np.dtype(dtype)}", "random_dtype")
    return words(key, shape, dtype)


def unit(key: Any, shape: Any, dtype: Any) -> Any:
    """Multiples of a power of two in [0, 1), all equally likely."""
    kind = np.dtype(dtype)
    if kind.name not in WORDS:
        raise_here(ArgumentTypeError, f"a float dtype was wanted ({', '.join(WORDS)}), got {kind}", "random_dtype")
    word, dropped, digits = WORDS[kind.name]
    kept = np.right_shift(words(key, shape, word), word(dropped))  # type: ignore[call-overload]
    return kept.astype(kind) * kind.type(math.ldexp(1.0, -digits))


@on_plain_arrays
def uniform(key: Any, shape: Any = (), dtype: Any = np.float64, low: Any = 0.0, high: Any = 1.0) -> Any:
    """Numbers equally likely from ``low`` to ``high``, numbers or arrays that broadcast to ``shape``.

    Less than ``high`` of [0, 1), and otherwise but for rounding. The dtype is float64, float32, float16 or bfloat16.

    >>> import numpy as np, weftwork as wf
    >>> x = wf.random.uniform(wf.random.key(3), (1000,), np.float32)
    >>> bool(0 <= x.min() and x.max() < 1), x.dtype.name
    (True, 'float32')
    """
    first, last = solid(low).astype(dtype), solid(high).astype(dtype)
    return first + unit(key, shape, dtype) * (last - first)


@on_plain_arrays
def normal(key: Any, shape: Any = (), dtype: Any = np.float64, mean: Any = 0.0, deviation: Any = 1.0) -> Any:
    """Numbers of the normal distribution, by Box and Muller (1958); ``mean`` and ``deviation`` broadcast to ``shape``.

    The dtype is float64, float32, float16 or bfloat16.

    >>> import weftwork as wf
    >>> wf.random.normal(wf.random.key(3), (2, 3)).shape
    (2, 3)
    """
    kind, dims = np.dtype(dtype), new_extents(shape)
    count = math.prod(dims)
    wide = np.float64 if kind == np.float64 else np.float32
    if kind.name not in WORDS:
        raise_here(ArgumentTypeError, f"a float dtype was wanted ({', '.join(WORDS)}), got {kind}", "random_dtype")
    u = unit(key, (2, (count + 1) // 2), wide)
    radius = np.sqrt(np.log1p(-u[0]) * wide(-2))
    angle = u[1] * wide(2 * math.pi)
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    standard = np.reshape(both[:count], dims)
    return (standard * solid(deviation).astype(wide) + solid(mean).astype(wide)).astype(kind)


@on_plain_arrays
def exponential(key: Any, shape: Any = (), dtype: Any = np.float64, scale: Any = 1.0) -> Any:
    """Numbers of the exponential distribution of that mean, a number or an array that broadcasts to ``shape``.

    >>> import weftwork as wf
    >>> bool((wf.random.exponential(wf.random.key(3), (100,)) >= 0).all())
    True
    """
    kind = np.dtype(dtype)
    if kind.name not in WORDS:
        raise_here(ArgumentTypeError, f"a float dtype was wanted ({', '.join(WORDS)}), got {kind}", "random_dtype")
    wide = kind if kind == np.float64 else np.dtype(np.float32)
    return (np.negative(np.log1p(-unit(key, shape, wide))) * solid(scale).astype(wide)).astype(kind)


@on_plain_arrays
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """Booleans, true with probability ``p``: a number or an array; ``shape`` is its shape unless given.

    >>> import weftwork as wf
    >>> wf.random.bernoulli(wf.random.key(3), 1.0, (2,)).tolist()
    [True, True]
    """
    chance = solid(p).astype(np.float64)
    return np.less(unit(key, chance.shape if shape is None else shape, np.float64), chance)


@on_plain_arrays
def randint(key: Any, shape: Any, low: Any, high: Any, dtype: Any = np.int64) -> Any:
    """Integers equally likely (to 2**-64) from ``low`` up to, not including, ``high``: integers, or arrays that broadcast.

    ArgumentValueError where ``low`` is not less than ``high``, or the dtype does not hold them, as far as that is known.

    >>> import weftwork as wf
    >>> wf.random.randint(wf.random.key(3), (4,), 5, 6).tolist()
    [5, 5, 5, 5]
    """
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        raise_here(ArgumentTypeError, f"an integer dtype was wanted, got {kind}", "random_dtype")
    found = words(key, shape, np.uint64)
    if isinstance(low, int) and isinstance(high, int):
        limits = np.iinfo(kind)
        if not limits.min <= low < high <= limits.max + 1:
            raise_here(
                ArgumentValueError,
                f"randint: low must be less than high, both in {kind}, got {low} and {high}",
                "random_bounds",
            )
        first: Any = np.uint64(low % 2**64)
        span: Any = np.uint64((high - low) % 2**64)
        whole = high - low == 2**64
    else:
        first, last = solid(low).astype(np.int64).view(np.uint64), solid(high).astype(np.int64).view(np.uint64)
        span, whole = last - first, False
    if not whole:
        width = np.broadcast_to(solid(span), found.shape)
        found = wrap(_core.apply("mulhi", [found.tensor, width.tensor]))
    return (found + first).view(np.int64).astype(kind)


@on_plain_arrays
def permutation(key: Any, x: Any, axis: int = 0) -> Any:
    """The elements of an array along an axis in random order; of an integer n, 0 … n - 1 (int64).

    >>> import weftwork as wf
    >>> sorted(wf.random.permutation(wf.random.key(3), 4).tolist())
    [0, 1, 2, 3]
    """
    items: Any = own.arange(x) if isinstance(x, int) else solid(x)
    items = solid(items)
    axis = one_axis(axis, items.ndim, "permutation")
    order = argsort(words(key, (fixed_extent(items, axis, "permutation"),), np.uint64))
    return np.take(items, order, axis)
