"""Windows over images: the greatest elements and means, and their gradients."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from ... import _core
from ...numpy.reductions import lowest
from ...numpy.tracer import wrap
from ..dtypes import widened
from ..table import Want, cast, rule
from .convolution import each
from .creation import filled, iota
from .pointwise import may_have_elements
from .scatters import combined
from .shapes import padded, reshaped


def static(x: Any, *rest: Any, **kwargs: Any) -> bool:
    """Whether there are elements, and images have a size, how many there are or not."""
    sizes = x.shape[1:] if x.ndim == 3 else x.shape[2:]
    return is_image(x) and all(isinstance(e, int) for e in sizes)


def is_image(x: Any, *rest: Any, **kwargs: Any) -> bool:
    """Whether there are elements, as far as is known."""
    return may_have_elements(x) and not x.is_complex()


def static_gradient(gradient: Any, x: Any, *rest: Any, **kwargs: Any) -> bool:
    return static(gradient) and static(x)


class Windows:
    """Where the windows of a pooling lie: sizes, strides and dilations by spatial dimension."""

    def __init__(self, x: Any, outputs: Any, size: Any, stride: Any, padding: Any, dilation: Any = (1,)) -> None:
        self.count = count = len(outputs)
        self.size, self.padding, self.dilation = each(size, count), each(padding, count), each(dilation, count)
        self.stride = each(stride, count) if stride else self.size
        self.outputs, self.extents = list(outputs), list(x.shape[-count:])
        parts = zip(outputs, self.stride, self.size, self.dilation, self.extents, self.padding, strict=True)
        self.after = [self._after(*part) for part in parts]

    @staticmethod
    def _after(o: Any, s: int, k: int, d: int, e: Any, p: int) -> int:
        """How far the last window reaches beyond the image, or may reach."""
        return max((o - 1) * s + (k - 1) * d + 1 - e - p, 0) if isinstance(e, int) and isinstance(o, int) else p + s - 1

    def offsets(self) -> Any:
        return product(*map(range, self.size))

    def part(self, image: Any, offset: Any) -> Any:
        """Of the padded image, the elements that have this offset in their window."""
        lead = image.ndim - self.count
        starts = [0] * lead + [o * d for o, d in zip(offset, self.dilation)]
        limits = [
            *image.shape[:lead],
            *(b + (o - 1) * s + 1 for b, o, s in zip(starts[lead:], self.outputs, self.stride)),
        ]
        attrs = {"start_indices": starts, "limit_indices": limits, "strides": [1] * lead + self.stride}
        return wrap(_core.apply("slice", [image.tensor], attrs))

    def place(self, offset: Any) -> Any:
        """Where these elements are in the image, counted in row-major order; -1 in the padding."""
        outputs, place, inside = tuple(self.outputs), cast(0, np.int64), None
        for axis in range(self.count):
            here = iota(outputs, axis) * self.stride[axis] + (offset[axis] * self.dilation[axis] - self.padding[axis])
            within = np.logical_and(here >= 0, here < cast(self.extents[axis], np.int64))
            inside = within if inside is None else np.logical_and(inside, within)
            place = place * cast(self.extents[axis], np.int64) + here
        return np.where(inside, place, cast(-1, np.int64))


@rule("max_pool2d_with_indices", "max_pool3d_with_indices", accepts=is_image)
def max_pool(
    want: Any, x: Any, size: Any, stride: Any = (), padding: Any = (0,), dilation: Any = (1,), ceil_mode: bool = False
) -> Any:
    count = 3 if len(size) == 3 else 2
    windows = Windows(x, want[0].shape[-count:], size, stride, padding, dilation)
    image = padded(x, lowest(x.dtype, False), windows.padding, windows.after)
    best: Any = None
    place: Any = None
    for offset in windows.offsets():
        value, here = windows.part(image, offset), windows.place(offset)
        here = np.broadcast_to(here, value.shape)
        if best is None:
            best, place = value, here
            continue
        better = np.logical_or(value > best, value != value)
        if any(windows.padding):
            # The first element of the image wins over padding before it, whatever it is.
            better = np.logical_or(better, np.logical_and(place < 0, here >= 0))
        # Two values: what nothing but the places needs is not computed without them.
        best, place = np.maximum(best, value), np.where(better, here, place)
    return best, place


@rule("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward", accepts=is_image)
def max_pool_backward(
    want: Want,
    gradient: Any,
    x: Any,
    size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Any,
) -> Any:
    return to_places(want, gradient, indices, 3 if len(size) == 3 else 2)


def to_places(want: Want, gradient: Any, indices: Any, count: int) -> Any:
    """Gradients of the elements that were the greatest."""
    lead, outer = want.shape[:-count], math.prod(want.shape[:-count])
    places = reshaped(indices, (outer, math.prod(indices.shape[-count:])))
    values = reshaped(gradient, places.shape)
    zeros = filled(Want(want.dtype, (outer, math.prod(want.shape[-count:])), None), 0)
    result = combined(np.add, zeros, (iota(places.shape, 0), places), values)
    return reshaped(result, (*lead, *want.shape[-count:]))


def adaptive_windows(extent: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each of so many windows over an axis begins and ends."""
    return np.arange(size) * extent // size, -(-(np.arange(size) + 1) * extent // size)


def adaptive_places(extent: int, size: int) -> np.ndarray:
    """The elements of each window, the last of them repeated where another window has more."""
    starts, stops = adaptive_windows(extent, size)
    longest = int((stops - starts).max())
    return np.minimum(starts[:, None] + np.arange(longest), stops[:, None] - 1)


@rule("adaptive_max_pool2d", "adaptive_max_pool3d", accepts=static)
def adaptive_max_pool(want: Any, x: Any, size: Any) -> Any:
    count, lead = len(size), x.ndim - len(size)
    places: Any = np.zeros((1,) * 2 * count, np.int64)
    for i, s in enumerate(size):
        here = adaptive_places(x.shape[lead + i], s)
        shape = [1] * 2 * count
        shape[i], shape[count + i] = here.shape
        places = places * x.shape[lead + i] + here.reshape(shape)
    places = places.reshape(*places.shape[:count], -1)
    flat = reshaped(x, (*x.shape[:lead], math.prod(x.shape[lead:])))
    windows = np.take(flat, places, axis=-1)
    best = np.argmax(windows, axis=-1, keepdims=True)
    found = np.take_along_axis(np.broadcast_to(cast(places, np.int64), windows.shape), best, -1)
    return np.max(windows, axis=-1), reshaped(found, want[1].shape)


for count in (2, 3):
    rule(f"adaptive_max_pool{count}d_backward", accepts=static_gradient)(
        lambda want, gradient, x, indices, count=count: to_places(want, gradient, indices, count)
    )


def window_sizes(windows: Windows, include: bool, divisor: Any, dtype: Any) -> Any:
    """By what the sum of each window is divided."""
    if divisor is not None:
        return cast(divisor, dtype)
    total: Any = None
    for axis in range(windows.count):
        start = iota(tuple(windows.outputs), axis) * windows.stride[axis] - windows.padding[axis]
        stop = np.minimum(start + windows.size[axis], cast(windows.extents[axis] + windows.padding[axis], np.int64))
        if not include:
            start, stop = np.maximum(start, 0), np.minimum(stop, cast(windows.extents[axis], np.int64))
        total = stop - start if total is None else total * (stop - start)
    return cast(total, dtype)


@rule("avg_pool2d", "avg_pool3d", "avg_pool1d", accepts=is_image)
def avg_pool(
    want: Want, x: Any, size: Any, stride: Any = (), padding: Any = (0,), ceil_mode: bool = False, include: bool = True, divisor: Any = None,
    *, count_include_pad: bool | None = None, divisor_override: Any = None,
) -> Any:  # fmt: skip
    include = include if count_include_pad is None else count_include_pad
    divisor = divisor if divisor_override is None else divisor_override
    wide = cast(x, widened(x.dtype))
    windows = Windows(x, want.shape[-len(size) :], size, stride, padding)
    image = padded(wide, 0, windows.padding, windows.after)
    total: Any = None
    for offset in windows.offsets():
        part = windows.part(image, offset)
        total = part if total is None else total + part
    return cast(total / window_sizes(windows, include, divisor, wide.dtype), want.dtype)


@rule("avg_pool2d_backward", "avg_pool3d_backward", accepts=is_image)
def avg_pool_backward(
    want: Want,
    gradient: Any,
    x: Any,
    size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    include: bool,
    divisor: Any,
) -> Any:
    windows = Windows(x, gradient.shape[-len(size) :], size, stride, padding)
    wide = cast(gradient, widened(gradient.dtype))
    share = wide / window_sizes(windows, include, divisor, wide.dtype)
    whole = [p + e + a for p, e, a in zip(windows.padding, windows.extents, windows.after, strict=True)]
    total: Any = None
    for offset in windows.offsets():
        reach = [(o - 1) * s + 1 for o, s in zip(windows.outputs, windows.stride, strict=True)]
        high = [w - r - b for w, r, b in zip(whole, reach, offset, strict=True)]
        part = padded(share, 0, list(offset), high, [s - 1 for s in windows.stride])
        total = part if total is None else total + part
    inside = (..., *(slice(p, p + e) for p, e in zip(windows.padding, windows.extents, strict=True)))
    return cast(wrap(total[inside].tensor), want.dtype)


def shares(extent: int, size: int) -> np.ndarray:
    """How much of each element is in each of ``size`` means over an axis."""
    places = np.arange(extent)
    starts, stops = adaptive_windows(extent, size)
    inside = (places >= starts[:, None]) & (places < stops[:, None])
    return inside / (stops - starts)[:, None]


def mixed(x: Any, axis: int, matrix: np.ndarray) -> Any:
    """Sums along an axis with the weights of each row."""
    return np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), cast(matrix.T, x.dtype)), -1, axis)


@rule("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", accepts=static)
def adaptive_avg_pool(want: Want, x: Any, size: Any) -> Any:
    wide, lead = cast(x, widened(x.dtype)), x.ndim - len(size)
    if all(x.shape[lead + i] % s == 0 for i, s in enumerate(size)):
        apart = [v for i, s in enumerate(size) for v in (s, x.shape[lead + i] // s)]
        axes = tuple(lead + 2 * i + 1 for i in range(len(size)))
        return cast(np.mean(reshaped(wide, (*x.shape[:lead], *apart)), axis=axes), want.dtype)
    for i, s in enumerate(size):
        wide = mixed(wide, lead + i, shares(x.shape[lead + i], s))
    return cast(wide, want.dtype)


def adaptive_avg_pool_backward(count: int) -> Any:
    def record(want: Want, gradient: Any, x: Any) -> Any:
        wide = cast(gradient, widened(gradient.dtype))
        for axis in range(x.ndim - count, x.ndim):
            wide = mixed(wide, axis, shares(x.shape[axis], gradient.shape[axis]).T)
        return cast(wide, want.dtype)

    return record


rule("_adaptive_avg_pool2d_backward", accepts=static_gradient)(adaptive_avg_pool_backward(2))
rule("_adaptive_avg_pool3d_backward", accepts=static_gradient)(adaptive_avg_pool_backward(3))


def padded_places(name: str) -> None:
    def backward(want: Want, gradient: Any, x: Any, padding: Any) -> Any:
        for i in range(len(padding) // 2):
            axis = x.ndim - 1 - i
            low, high = padding[2 * i : 2 * i + 2]
            places = np.clip(np.arange(-low, x.shape[axis] + high), 0, x.shape[axis] - 1)
            zeros = filled(
                Want(want.dtype, (*gradient.shape[:axis], x.shape[axis], *gradient.shape[axis + 1 :]), None), 0
            )
            gradient = combined(np.add, zeros, (*(slice(None),) * axis, places), gradient)
        return gradient

    rule(name, accepts=static_gradient)(backward)


for name in ("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward"):
    padded_places(name)
