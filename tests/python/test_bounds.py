"""np.clip and np.where promote, bound and raise as NumPy does, with numbers that fit no element among the operands."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

DTYPES = [
    np.bool_, np.int8, np.uint8, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64, np.complex64, ml_dtypes.bfloat16,
    ml_dtypes.int4, ml_dtypes.float8_e4m3fn,
]  # fmt: skip
OPERANDS = [
    None, 0, 5, -3, 200, -200, 2**40, 2**63, 2**64 - 1, 2**70, -(2**70), 1.5, float("nan"), float("inf"), True, 1j, np.int8(2),
    np.uint8(250), np.float32(1.25), np.array([1, 2, 3], np.int16), np.array([[1.0], [2.0]]), np.array(3, np.uint64),
]  # fmt: skip


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    except Exception as error:
        return type(error)


def require_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if not isinstance(wanted, type) and np.asarray(wanted).dtype.kind != "O":
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(np.asarray(found).astype(complex), np.asarray(wanted).astype(complex))


#: Programs are compiled for so many pairs at once.
AT_ONCE = 16


def oddness(operand: Any) -> int:
    """Pairs with numbers that many a program cannot have are put together, after the others."""
    return 2 if isinstance(operand, complex) else int(isinstance(operand, int) and abs(operand) >= 1 << 64)


def require_numpys(form: Callable[..., Any], given: Any, pairs: list[tuple[Any, Any]]) -> None:
    """A program of all pairs gives what NumPy gives; where some of them are no program, each by itself does."""
    wanted = [outcome(form, given, *pair) for pair in pairs]

    def each(x: Any, *operands: Any) -> list[Any]:
        return [form(x, operands[i], operands[i + 1]) for i in range(0, len(operands), 2)]

    found = outcome(wf.jit(each, strict=True), given, *itertools.chain(*pairs))
    if isinstance(found, type):
        found = [outcome(wf.jit(form, strict=False), given, *pair) for pair in pairs]
    for ours, numpys in zip(found, wanted, strict=True):
        require_same(ours, numpys)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("function", ["clip", "where"])
def test_every_pair_of_operands(function: str, dtype: Any) -> None:
    x: Any = np.array([0, 1, 7]).astype(dtype)
    form = {"clip": lambda x, low, high: np.clip(x, low, high), "where": lambda x, a, b: np.where(x != 0, a, b)}[
        function
    ]
    operands = [*OPERANDS[function == "where" :], x[::-1], x[2]]
    pairs = list(itertools.product(operands, operands))
    for given, chosen in ((x[1], pairs[::5]), (x, [pair for i, pair in enumerate(pairs) if i % 5])):
        refused = [pair for pair in chosen if isinstance(outcome(form, given, *pair), type)]
        taken = [pair for pair in chosen if not isinstance(outcome(form, given, *pair), type)]
        taken.sort(key=lambda pair: max(map(oddness, pair)))
        for pair in refused:
            require_numpys(form, given, [pair])
        for first in range(0, len(taken), AT_ONCE):
            require_numpys(form, given, taken[first : first + AT_ONCE])
