"""Functions of ml_dtypes' small types: those that they have are of their own type, others NumPy computes in a wider one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

UFUNCS = sorted(
    {u.__name__ for n in dir(np) if isinstance(u := getattr(np, n), np.ufunc) and u.nin <= 2 and not u.signature}
)
NARROW = [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = function(*args)
        return results if isinstance(results, tuple) else (results,)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: np.dtype(dtype).name)
def test_ufuncs(dtype: Any, name: str) -> None:
    ufunc = getattr(np, name)
    x: Any = np.array([-8, 1, 2, 3]).astype(dtype)
    pairs = [(x, x), (x[1], x), (2, x), (x, np.int8(5)), (x, np.float32(0.5)), (x, 1.5), (x, True)]
    for args in [(x,), (x[1],)] if ufunc.nin == 1 else pairs:
        wanted, found = outcome(ufunc, *args), outcome(wf.jit(lambda *args: ufunc(*args), strict=False), *args)
        assert isinstance(found, tuple) == isinstance(wanted, tuple), (args, wanted, found)
        for w, f in zip(wanted, found, strict=True) if isinstance(wanted, tuple) else []:
            assert type(f) is type(w) and f.dtype == w.dtype, args
            exact = w.dtype.kind in "Vbiu" or w.dtype.itemsize < 4
            np.testing.assert_allclose(
                np.asarray(f).astype(complex),
                np.asarray(w).astype(complex),
                rtol=0 if exact else 3e-7,
                err_msg=str(args),
            )
