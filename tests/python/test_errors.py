"""Errors name the user's line and both values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

X = np.zeros((2, 3), np.float32)


def mismatch(x: Any) -> Any:
    return x + np.zeros(4)


def branch(x: Any) -> Any:
    if x[0, 0] > 0:
        raise ValueError("a way that raises is none of a program")
    return -x


def unsupported(x: Any) -> Any:
    return np.unique(x)


def wrong_dtype(x: Any) -> Any:
    return np.bitwise_and(x, 1)


def inner_extents(x: Any) -> Any:
    return x @ x


def dynamic_mask(x: Any) -> Any:
    return x[x > 0]


def bad_axis(x: Any) -> Any:
    return np.sum(x, axis=5)


def bad_index(x: Any) -> Any:
    return x[7]


CASES = [
    (mismatch, ValueError, ["(2, 3)", "(4,)"], ["[2, 3]", "[4]"]),
    (branch, TypeError, ["bool", "np.where"], None),
    (unsupported, NotImplementedError, ["numpy.unique"], None),
    (wrong_dtype, TypeError, ["bitwise_and", "float32"], None),
    (inner_extents, ValueError, ["shapes (2, 3) and (2, 3)", "size 2 is different from 3"], None),
    (dynamic_mask, TypeError, ["np.where"], None),
    (bad_axis, ValueError, ["axis 5", "dimension 2"], None),
    (bad_index, IndexError, ["index 7", "size 2"], None),
]


@pytest.mark.parametrize(("function", "kind", "parts", "other"), CASES, ids=lambda c: getattr(c, "__name__", ""))
@pytest.mark.parametrize("run", [wf.jit, wf.simulate])
def test_the_line_and_the_values_are_named(run: Any, function: Any, kind: Any, parts: Any, other: Any) -> None:
    with pytest.raises(kind) as caught:
        run(function)(X)
    assert isinstance(caught.value, wf.Error)
    assert caught.value.label
    text = str(caught.value)
    assert all(p in text for p in parts) or (other and all(p in text for p in other)), text
    line = function.__code__.co_firstlineno
    assert any(f"test_errors.py:{line + i}" in text for i in (1, 2)), text


def test_a_read_only_array_cannot_be_written() -> None:
    x = X.copy()
    x.flags.writeable = False

    def f(x: Any) -> None:
        x[0] = 1

    with pytest.raises(wf.Error, match="read-only"):
        wf.jit(f)(x)


def test_object_arrays_are_rejected() -> None:
    with pytest.raises(TypeError, match="dtype object"):
        wf.jit(lambda x: x)(np.array([None]))


def test_text_errors_have_line_and_column() -> None:
    with pytest.raises(wf.Error, match=r"model\.mlir:2:"):
        wf.stablehlo.parse("module {\n  func.func @main( {\n", "model.mlir")
