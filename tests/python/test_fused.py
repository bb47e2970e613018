"""Drawn programs whose values all have one shape, so that what can be fused is: cheap and costly functions, products,
norms and sums of rows, and whatever reads its operand at other places than it writes. All are continuous functions, so
that rounding changes little."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

Value = Any
EXAMPLES = int(float(os.environ.get("WEFT_EXAMPLES", "1")) * 12)


def softmax(x: Value, axis: int) -> Value:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(x: Value, axis: int) -> Value:
    c = x - x.mean(axis=axis, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=axis, keepdims=True) + 1e-3)


def rms_norm(x: Value, axis: int) -> Value:
    return x / np.sqrt((x * x).mean(axis=axis, keepdims=True) + 1e-3)


ONE: list[Callable[[Value], Value]] = [
    np.tanh,
    np.exp2,
    np.cos,
    np.abs,
    lambda x: np.sqrt(np.abs(x) + 1),
    lambda x: x * 0.5 + 1,
    lambda x: np.where(x > 0, x, 0.25 * x),
    lambda x: 1 / (1 + np.exp(-x)),
    lambda x: x.astype(np.float32).astype(x.dtype),
    lambda x: np.clip(x, -0.75, 0.75),
]
TWO: list[Callable[[Value, Value], Value]] = [
    np.add,
    np.subtract,
    np.multiply,
    np.maximum,
    lambda x, y: np.where(x > y, x - y, 0.5 * (y - x)),
    lambda x, y: x / (np.abs(y) + 1),
]
# Of square matrices.
PRODUCTS: list[Callable[[Value, Value], Value]] = [
    lambda x, y: x @ y / x.shape[-1],
    lambda x, y: x @ np.swapaxes(y, -1, -2) / x.shape[-1],
    lambda x, y: softmax(x @ np.swapaxes(y, -1, -2), -1) @ x,
]
ROWS: list[Callable[[Value, int], Value]] = [
    softmax,
    layer_norm,
    rms_norm,
    lambda x, axis: x - x.max(axis=axis, keepdims=True),
    lambda x, axis: x * np.minimum(x.sum(axis=axis, keepdims=True), 1),
    lambda x, axis: np.broadcast_to(np.tanh(x.mean(axis=axis, keepdims=True)), x.shape),
    lambda x, axis: np.cumsum(x, axis=axis) * 0.25,
    lambda x, axis: x.std(axis=axis, keepdims=True) + x,
]
# Of arrays whose dims are all equal, so is what these give.
MOVES: list[Callable[[Value, int, int], Value]] = [
    lambda x, axis, n: np.roll(x, n, axis),
    lambda x, axis, n: np.flip(x, axis),
    lambda x, axis, n: np.swapaxes(x, axis, (axis + 1) % x.ndim),
    lambda x, axis, n: np.concatenate([np.take(x, [0], axis), np.take(x, range(x.shape[axis] - 1), axis)], axis),
    lambda x, axis, n: np.take(x, (np.arange(x.shape[axis]) * 5 + n) % x.shape[axis], axis),
    lambda x, axis, n: np.pad(x, [(1, 0) if i == axis else (0, 0) for i in range(x.ndim)])[
        tuple(slice(0, d) for d in x.shape)
    ],
    lambda x, axis, n: np.swapaxes(np.swapaxes(x, 0, axis).reshape(x.shape[0], -1).T.reshape(x.shape), 0, axis),
    lambda x, axis, n: np.broadcast_to(np.take(x, [n % x.shape[axis]], axis), x.shape),
]


def drawn(seed: str) -> tuple[Callable[[Value, Value], tuple[Value, ...]], tuple[int, ...]]:
    """A function of two arrays, and their shape."""
    draw = random.Random(seed)
    rank = draw.choice([1, 2, 2, 3])
    dims = (draw.choice([1, 3, 8, 17, 40] if rank < 3 else [2, 5, 8, 17]),) * rank
    steps: list[tuple[Any, ...]] = []
    for count in range(2, 2 + draw.randint(3, 12)):
        # What was made last is read most: chains are longer then.
        reads = [max(draw.randrange(count), draw.randrange(count)) for _ in range(2)]
        table = draw.choice([ONE, ONE, TWO, TWO, ROWS, MOVES, PRODUCTS if rank > 1 else TWO])
        steps.append((draw.choice(table), table, reads, draw.randrange(rank), draw.randint(1, 4)))
    results = sorted({len(steps) + 1, *(draw.randrange(2, len(steps) + 2) for _ in range(draw.randint(0, 2)))})

    def function(x: Value, y: Value) -> tuple[Value, ...]:
        values = [x, y]
        for step, table, (a, b), axis, n in steps:
            one = values[a]
            if table is ONE:
                values.append(step(one))
            elif table is TWO or table is PRODUCTS:
                values.append(step(one, values[b]))
            else:
                values.append(step(one, axis) if table is ROWS else step(one, axis, n))
        return tuple(values[i] for i in results)

    return function, dims


@pytest.mark.parametrize("number", range(EXAMPLES))
def test_fused(number: int) -> None:
    for i in range(10):
        seed = f"{number}.{i}"
        function, dims = drawn(seed)
        arrays = np.random.default_rng(number).standard_normal((2, *dims))
        with np.errstate(all="ignore"):
            wanted = function(*arrays)
        found = wf.jit(function, strict=True)(*arrays)
        for at, (f, w) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(f, w, rtol=1e-6, atol=1e-7, err_msg=f"result {at} of {seed}, {dims}")
