"""Convolutions and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...numpy.tracer import wrap
from ...numpy.windows import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..table import Want, cast, rule
from .pointwise import may_have_elements, real_only
from .shapes import padded

FORWARD = {1: conv1d, 2: conv2d, 3: conv3d}
TRANSPOSED = {1: conv_transpose1d, 2: conv_transpose2d, 3: conv_transpose3d}


def each(values: Any, count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


def is_plain(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> bool:
    return real_only(x) and 3 <= x.ndim <= 5 and x.ndim == weight.ndim and may_have_elements(x, weight)


@rule("convolution", accepts=is_plain)
def convolution(
    want: Want,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    count = x.ndim - 2
    stride, padding, dilation = each(stride, count), each(padding, count), each(dilation, count)
    if transposed:
        result = TRANSPOSED[count](x, weight, bias, stride, padding, each(output_padding, count), groups, dilation)
    else:
        result = FORWARD[count](x, weight, bias, stride, padding, dilation, groups)
    return cast(result, want.dtype)


def is_plain_backward(
    gradient: Any,
    x: Any,
    weight: Any,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    *rest: Any,
) -> bool:
    return is_plain(x, weight, None, stride, padding, dilation, transposed, *rest[:2]) and 0 not in gradient.shape


@rule("convolution_backward", accepts=is_plain_backward)
def convolution_backward(
    want: Any,
    gradient: Any,
    x: Any,
    weight: Any,
    sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: Any,
) -> Any:
    count = x.ndim - 2
    stride, padding, dilation = each(stride, count), each(padding, count), each(dilation, count)
    for_x = for_weight = for_bias = None
    if mask[0] and transposed:
        for_x = FORWARD[count](gradient, weight, None, stride, padding, dilation, groups)
        for_x = for_x[(slice(None), slice(None), *(slice(0, e) for e in x.shape[2:]))]
    elif mask[0]:
        for_x = image_gradient(gradient, x, weight, stride, padding, dilation, groups)
    if mask[1]:
        image, kernel = (gradient, x) if transposed else (x, gradient)
        for_weight = weight_gradient(image, kernel, weight, stride, padding, dilation, groups)
    if mask[2]:
        for_bias = np.sum(gradient, axis=(0, *range(2, x.ndim)))
    return tuple(
        None if v is None else cast(v, w.dtype) for v, w in zip((for_x, for_weight, for_bias), want, strict=True)
    )


def image_gradient(gradient: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The transposed convolution; places of the image that no window reached have no gradient."""
    whole = [
        (o - 1) * s + d * (k - 1) + 1
        for o, s, d, k in zip(gradient.shape[2:], stride, dilation, weight.shape[2:], strict=True)
    ]
    after = [w - p - extent for w, p, extent in zip(whole, padding, x.shape[2:], strict=True)]
    if not all(isinstance(a, int) for a in after):
        # At most stride - 1 places at the end were in no window.
        result = TRANSPOSED[x.ndim - 2](gradient, weight, None, stride, 0, 0, groups, dilation)
        result = padded(result, 0, [0] * len(stride), [max(s - 1 - p, 0) for s, p in zip(stride, padding, strict=True)])
        return first_places(result, padding, x.shape[2:])
    pairs = [(p, max(a, 0)) for p, a in zip(padding, after, strict=True)]
    result = TRANSPOSED[x.ndim - 2](gradient, weight, None, stride, pairs, 0, groups, dilation)
    return padded(result, 0, [0] * len(after), [max(-a, 0) for a in after]) if any(a < 0 for a in after) else result


def first_places(x: Any, starts: list[int], counts: list[Any]) -> Any:
    """So many places of an image from these on."""
    whole = [0, 0, *starts]
    limits = [*x.shape[:2], *(s + c for s, c in zip(starts, counts, strict=True))]
    return wrap(
        _core.apply("slice", [x.tensor], {"start_indices": whole, "limit_indices": limits, "strides": [1] * x.ndim})
    )


def weight_gradient(image: Any, kernel: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """A convolution whose channels are the batch and whose batch the channels: strides and dilations change places."""
    count = image.ndim - 2
    spatial = range(2, count + 2)
    after = [
        d * (k - 1) + s * (o - 1) + 1 - e - p
        for d, k, s, o, e, p in zip(
            dilation, weight.shape[2:], stride, kernel.shape[2:], image.shape[2:], padding, strict=True
        )
    ]
    if not all(isinstance(a, int) for a in after):
        reach = [
            d * (k - 1) + s * (o - 1) + 1
            for d, k, s, o in zip(dilation, weight.shape[2:], stride, kernel.shape[2:], strict=True)
        ]
        image = first_places(padded(image, 0, padding, padding), [0] * count, reach)
        padding, after = [0] * count, [0] * count
    attrs: dict[str, Any] = {
        "input_batch_dimension": 1, "input_feature_dimension": 0, "input_spatial_dimensions": spatial,
        "kernel_input_feature_dimension": 0, "kernel_output_feature_dimension": 1, "kernel_spatial_dimensions": spatial,
        "output_batch_dimension": 1, "output_feature_dimension": 0, "output_spatial_dimensions": spatial,
        "window_strides": dilation, "rhs_dilation": stride, "padding": [v for pair in zip(padding, after) for v in pair],
        "feature_group_count": 1, "batch_group_count": groups,
    }  # fmt: skip
    return wrap(_core.apply("convolution", [image.tensor, kernel.tensor], attrs))
