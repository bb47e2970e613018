"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numpy.tracer import wrap
from ..table import Want, cast, rule, widely
from .pointwise import scaled_by


def product(want: Want, x: Any, y: Any) -> Any:
    return cast(np.matmul(x, y), want.dtype)


rule("mm", "bmm", "matmul", "dot", "mv")(product)


@rule("linear")
def linear(want: Want, x: Any, weight: Any, bias: Any = None) -> Any:
    result = np.matmul(x, np.swapaxes(weight, 0, 1))
    return cast(result if bias is None else result + bias, want.dtype)


@rule("addmm", "baddbmm", "addmv")
def addmm(want: Want, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    result = scaled_by(np.matmul(x, y), alpha)
    if beta == 0:
        return cast(np.broadcast_to(result, want.shape), want.dtype)
    return cast(scaled_by(bias, beta) + result, want.dtype)


@rule("addbmm")
def addbmm(want: Want, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    result = scaled_by(np.sum(np.matmul(x, y), axis=0), alpha)
    return cast(result if beta == 0 else scaled_by(bias, beta) + result, want.dtype)


@rule("addr")
def addr(want: Want, bias: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    result = scaled_by(cast(x, want.dtype)[:, None] * cast(y, want.dtype)[None, :], alpha)
    return result if beta == 0 else scaled_by(cast(bias, want.dtype), beta) + result


@rule("outer", "ger")
def outer(want: Want, x: Any, y: Any) -> Any:
    return widely(want, lambda a, b: a[:, None] * b[None, :], x, y)


@rule("vdot")
def vdot(want: Want, x: Any, y: Any) -> Any:
    return wrap(np.matmul(np.conj(x), y).tensor)
