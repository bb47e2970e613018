"""Convolutions and pooling over one, two or three spatial dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError
from . import own
from .functions import solid
from .plain import on_plain_arrays
from .reductions import lowest
from .selection import fixed_extent
from .tracer import as_tensor, raise_here, wrap

Pairs = list[tuple[int, int]]
#: Floats whose sums are made in float32.
SHORT = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def each(value: Any, count: int, name: str) -> list[int]:
    """One number for each spatial dimension."""
    numbers = [v.__index__() for v in value] if isinstance(value, (tuple, list)) else [value.__index__()] * count
    if len(numbers) != count or any(n < 1 for n in numbers):
        raise_here(
            ArgumentValueError, f"{name} must be a positive integer or {count} of them, got {value!r}", "window_numbers"
        )
    return numbers


def paddings(padding: Any, x: Any, reach: list[int], stride: list[int]) -> Pairs:
    """Before and after each spatial dimension: a number, one for each, (before, after) for each, "valid" or "same"."""
    count = len(reach)
    if padding == "valid":
        return [(0, 0)] * count
    if padding == "same":
        extents = [fixed_extent(x, i + 2, "padding='same'") for i in range(count)]
        totals = [max((-(-e // s) - 1) * s + r - e, 0) for e, r, s in zip(extents, reach, stride, strict=True)]
        return [(t // 2, t - t // 2) for t in totals]
    items = list(padding) if isinstance(padding, (tuple, list)) else [padding] * count
    pairs = [
        (p[0].__index__(), p[1].__index__()) if isinstance(p, (tuple, list)) else (p.__index__(),) * 2
        for p in items
        if not isinstance(p, str)
    ]
    if len(pairs) != count or any(low < 0 or high < 0 for low, high in pairs):
        raise_here(
            ArgumentValueError,
            f"padding must be 'valid', 'same', a number or {count} numbers or pairs that are not negative, got {padding!r}",
            "window_padding",
        )
    return pairs  # type: ignore[return-value]


def batched(x: Any, count: int, name: str) -> tuple[Any, bool]:
    """(batch, channels, spatial…), and whether the batch was there."""
    if x.ndim not in (count + 1, count + 2):
        raise_here(
            ArgumentValueError,
            f"{name}: an array of (batch, channels, {count} spatial) or (channels, {count} spatial) dimensions was wanted, got shape {x.shape}",
            "window_rank",
        )
    return (x, True) if x.ndim == count + 2 else (x[None], False)


def require_windows(name: str, x: Any, reach: list[int], pairs: Pairs) -> None:
    """At least one window must fit into each extent with its padding, as far as they are known."""
    for extent, size, (low, high) in zip(x.shape[2:], reach, pairs, strict=True):
        if isinstance(extent, int) and extent + low + high < size:
            raise_here(
                ArgumentValueError,
                f"{name}: windows of {size} do not fit an extent of {extent} with padding {(low, high)}, of shape {x.shape}",
                "window_size",
            )


def convolved(count: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Any:
    name = f"conv{count}d"
    image, whole = batched(solid(x), count, name)
    kernel = solid(weight)
    groups = groups.__index__()
    if kernel.ndim != count + 2:
        raise_here(
            ArgumentValueError,
            f"{name}: weights must be (out channels, channels / groups, {count} spatial), got shape {kernel.shape}",
            "conv_weight",
        )
    if groups < 1 or kernel.shape[0] % groups or not _core.dims_equal(image.shape[1], kernel.shape[1] * groups):
        raise_here(
            ArgumentValueError,
            f"{name}: weights of shape {kernel.shape} in {groups} groups do not fit an image of shape {image.shape}",
            "conv_channels",
        )
    strides, dilations = each(stride, count, "stride"), each(dilation, count, "dilation")
    reach = [(e - 1) * d + 1 for e, d in zip(kernel.shape[2:], dilations, strict=True)]
    pairs = paddings(padding, image, reach, strides)
    require_windows(name, image, reach, pairs)
    result = applied(name, image, kernel, bias, pairs, groups, window_strides=strides, rhs_dilation=dilations)
    return result if whole else result[0]


def transposed(
    count: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Any:
    """The gradient of a convolution for its image: the image is spread by the strides, and the kernel reversed."""
    name = f"conv_transpose{count}d"
    image, whole = batched(solid(x), count, name)
    kernel = solid(weight)
    groups = groups.__index__()
    if kernel.ndim != count + 2:
        raise_here(
            ArgumentValueError,
            f"{name}: weights must be (channels, out channels / groups, {count} spatial), got shape {kernel.shape}",
            "conv_weight",
        )
    if groups < 1 or kernel.shape[0] % groups or not _core.dims_equal(image.shape[1], kernel.shape[0]):
        raise_here(
            ArgumentValueError,
            f"{name}: weights of shape {kernel.shape} in {groups} groups do not fit an image of shape {image.shape}",
            "conv_channels",
        )
    strides, dilations = each(stride, count, "stride"), each(dilation, count, "dilation")
    reach = [(e - 1) * d for e, d in zip(kernel.shape[2:], dilations, strict=True)]
    pairs = spread_paddings(name, image, reach, strides, dilations, padding, output_padding)
    outputs, extents = kernel.shape[1], kernel.shape[2:]
    grouped = np.swapaxes(np.reshape(kernel, (groups, kernel.shape[0] // groups, outputs, *extents)), 1, 2)
    reverse = np.flip(
        np.reshape(grouped, (groups * outputs, kernel.shape[0] // groups, *extents)), tuple(range(2, count + 2))
    )
    result = applied(
        name,
        image,
        reverse,
        bias,
        pairs,
        groups,
        window_strides=[1] * count,
        lhs_dilation=strides,
        rhs_dilation=dilations,
    )
    return result if whole else result[0]


def spread_paddings(
    name: str,
    image: Any,
    reach: list[int],
    strides: list[int],
    dilations: list[int],
    padding: Any,
    output_padding: Any,
) -> Pairs:
    """What the spread image is padded with so that the kernel reaches all that the padding and output_padding ask for."""
    taken = paddings(padding, image, [r + 1 for r in reach], strides) if padding != "same" else None
    more = (
        [p.__index__() for p in output_padding]
        if isinstance(output_padding, (tuple, list))
        else [output_padding.__index__()] * len(strides)
    )
    if (
        taken is None
        or len(more) != len(strides)
        or any(not 0 <= m < max(s, d) for m, s, d in zip(more, strides, dilations, strict=True))
    ):
        raise_here(
            ArgumentValueError,
            f"{name}: output_padding is less than the stride {strides} or the dilation {dilations}, and padding a number or pairs, got {output_padding!r} and {padding!r}",
            "window_padding",
        )
    return [(r - low, r - high + m) for r, (low, high), m in zip(reach, taken, more, strict=True)]


def applied(name: str, image: Any, kernel: Any, bias: Any, pairs: Pairs, groups: int, **attrs: list[int]) -> Any:
    """The operation, and the bias of its channels."""
    kind = np.result_type(image.dtype, kernel.dtype)
    if kind == bool:
        raise_here(ArgumentTypeError, f"{name} of booleans: convert them to numbers", "conv_dtype")
    count = len(pairs)
    spatial = list(range(2, count + 2))
    every = {
        **dict(
            zip(
                ("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
                (0, 1, spatial),
                strict=True,
            )
        ),
        **dict(
            zip(
                ("kernel_output_feature_dimension", "kernel_input_feature_dimension", "kernel_spatial_dimensions"),
                (0, 1, spatial),
                strict=True,
            )
        ),
        **dict(
            zip(
                ("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"),
                (0, 1, spatial),
                strict=True,
            )
        ),
        **{"padding": [p for pair in pairs for p in pair], "feature_group_count": groups, "batch_group_count": 1},
        **attrs,
    }
    result: Any = wrap(_core.apply("convolution", [as_tensor(image, kind), as_tensor(kernel, kind)], every))
    if bias is None:
        return result
    added = solid(bias).astype(kind)
    if added.ndim != 1 or not _core.dims_equal(added.shape[0], kernel.shape[0]):
        raise_here(
            ArgumentValueError,
            f"{name}: bias must be a vector of {kernel.shape[0]} elements, got shape {added.shape}",
            "conv_bias",
        )
    return result + np.reshape(added, (-1, *(1,) * count))


def pooled(
    count: int, name: str, x: Any, size: Any, stride: Any, padding: Any, body: str, identity: Any
) -> tuple[Any, bool, Any, Any]:
    """The windows combined by a body, whether there was a batch, and what else a mean needs."""
    image, whole = batched(solid(x), count, f"{name}_pool{count}d")
    sizes = each(size, count, "size")
    strides = sizes if stride is None else each(stride, count, "stride")
    pairs = paddings(padding, image, sizes, strides)
    require_windows(f"{name}_pool{count}d", image, sizes, pairs)
    if any(low >= e or high >= e for (low, high), e in zip(pairs, sizes, strict=True)):
        raise_here(ArgumentValueError, f"padding must be less than the size {sizes}, got {padding!r}", "window_padding")
    attrs = {
        "window_dimensions": [1, 1, *sizes],
        "window_strides": [1, 1, *strides],
        "padding": [0, 0, 0, 0, *(p for pair in pairs for p in pair)],
    }
    start = _core.constant(own.array(identity(image.dtype), image.dtype))
    return wrap(_core.apply_with_body("reduce_window", body, [image.tensor, start], attrs)), whole, attrs, image


def largest(count: int, x: Any, size: Any, stride: Any, padding: Any) -> Any:
    if solid(x).dtype.kind == "c":
        raise_here(ArgumentTypeError, f"max_pool{count}d of complex numbers", "complex_order")
    result, whole, _, _ = pooled(count, "max", x, size, stride, padding, "maximum", lambda dtype: lowest(dtype, False))
    return result if whole else result[0]


def averaged(count: int, x: Any, size: Any, stride: Any, padding: Any, count_include_pad: bool) -> Any:
    a = solid(x)
    is_short = a.dtype in SHORT
    if is_short or a.dtype.kind not in "fc":
        a = a.astype(np.float32 if is_short else np.float64)
    total, whole, attrs, image = pooled(count, "avg", a, size, stride, padding, "add", lambda dtype: 0)
    if count_include_pad or not any(attrs["padding"]):
        result = total / total.dtype.type(np.prod(attrs["window_dimensions"]))
    else:
        # How many elements of the image each window holds: the same for all images and channels.
        ones = own.ones((1, 1, *image.shape[2:]), total.dtype)
        zero = _core.constant(own.array(0, total.dtype))
        result = total / wrap(_core.apply_with_body("reduce_window", "add", [as_tensor(ones), zero], attrs))
    result = result.astype(solid(x).dtype) if is_short else result
    return result if whole else result[0]


CONVOLUTION_DOC = """A convolution over {count} spatial dimension{s}, as neural networks have it: the kernel is not reversed.

    ``x`` is (batch, channels, {count} spatial) or without the batch, ``weight`` (out channels, channels / groups, {count}
    spatial), ``bias`` (out channels). ``stride`` and ``dilation`` are a number or one for each spatial dimension;
    ``padding`` with zeros too, or (before, after) pairs, "valid", or "same": as many places as x / stride, rounded up. The
    dtype is that of NumPy's ``x * weight``. ArgumentValueError where shapes or numbers do not fit.

    >>> import numpy as np, weftwork as wf
    >>> wf.conv{count}d(np.ones((1, 1{fours})), np.ones((3, 1{twos})), padding=1).shape
    (1, 3{fives})
    """

TRANSPOSE_DOC = """The transpose of a convolution over {count} spatial dimension{s}: what conv{count}d's gradient for its image is.

    ``x`` is (batch, channels, {count} spatial) or without the batch, ``weight`` (channels, out channels / groups, {count}
    spatial), ``bias`` (out channels). ``stride`` and ``dilation`` are those of the convolution that it is the transpose of;
    ``padding``, as conv{count}d's but for "same", is taken off the result, and ``output_padding`` more places are at its end.
    ArgumentValueError where shapes or numbers do not fit.

    >>> import numpy as np, weftwork as wf
    >>> wf.conv_transpose{count}d(np.ones((1, 1{twos})), np.ones((1, 3{twos})), stride=2).shape
    (1, 3{fours})
    """

MAX_DOC = """The greatest element of each window over {count} spatial dimension{s}; NaN where there is one.

    ``x`` is (batch, channels, {count} spatial) or without the batch; ``size`` and ``stride`` (the size where None) are a
    number or one for each spatial dimension; ``padding`` too, or (before, after) pairs, "valid" or "same"; it is less than
    the size and wins nowhere. The dtype stays. ArgumentValueError where shapes or numbers do not fit.

    >>> import numpy as np, weftwork as wf
    >>> wf.max_pool{count}d(np.ones((1, 2{fours})), 2).shape
    (1, 2{twos})
    """

AVERAGE_DOC = """The mean of each window over {count} spatial dimension{s}.

    Arguments are max_pool{count}d's; with ``count_include_pad`` padding counts as zeros. Integers and booleans give float64.
    ArgumentValueError where shapes or numbers do not fit.

    >>> import numpy as np, weftwork as wf
    >>> wf.avg_pool{count}d(np.ones((1, 2{fours})), 2).shape
    (1, 2{twos})
    """


def published(count: int, name: str, doc: str, function: Callable[..., Any]) -> Any:
    """The function under its public name, with the documentation of its number of dimensions."""
    extents = {"fours": ", 4" * count, "twos": ", 2" * count, "fives": ", 5" * count}
    function.__name__ = function.__qualname__ = f"{name}{count}d"
    function.__doc__ = doc.format(count=count, s="" if count == 1 else "s", **extents)
    return on_plain_arrays(function)


def convolution(count: int) -> Any:
    def conv(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        return convolved(count, x, weight, bias, stride, padding, dilation, groups)

    return published(count, "conv", CONVOLUTION_DOC, conv)


def transposed_convolution(count: int) -> Any:
    def conv_transpose(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        return transposed(count, x, weight, bias, stride, padding, output_padding, groups, dilation)

    return published(count, "conv_transpose", TRANSPOSE_DOC, conv_transpose)


def max_pool(count: int) -> Any:
    def pool(x: Any, size: Any, stride: Any = None, padding: Any = 0) -> Any:
        return largest(count, x, size, stride, padding)

    return published(count, "max_pool", MAX_DOC, pool)


def avg_pool(count: int) -> Any:
    def pool(x: Any, size: Any, stride: Any = None, padding: Any = 0, count_include_pad: bool = True) -> Any:
        return averaged(count, x, size, stride, padding, count_include_pad)

    return published(count, "avg_pool", AVERAGE_DOC, pool)


conv1d, conv2d, conv3d = map(convolution, (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = map(transposed_convolution, (1, 2, 3))
max_pool1d, max_pool2d, max_pool3d = map(max_pool, (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = map(avg_pool, (1, 2, 3))
