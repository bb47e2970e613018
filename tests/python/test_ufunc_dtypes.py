"""The dtypes of element-wise calls, which C++ decides, are those of NumPy's own calls: all pairs of dtypes, and Python's numbers."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from weftwork import _core
from weftwork.errors import Error

DTYPES = [np.dtype(c) for c in "?bBhHiIlLefdFD"]
NARROW = [np.dtype(t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)]
NUMBERS = [True, 1, 1.5, 1j]
UFUNCS = [getattr(np, name) for name in _core.elementwise_names()]


def given(kind):
    """An operand as NumPy takes it, and as C++ does."""
    if not isinstance(kind, np.dtype):
        return kind, kind
    return np.ones(1, kind), _core.parameter((1,), kind, "x")


def dtypes(call):
    """Of the results; None where there are none."""
    try:
        with np.errstate(all="ignore"):
            results = call()
    except (TypeError, Error):
        return None
    return tuple(r.dtype for r in (results if isinstance(results, tuple) else (results,)))


def pairs(ufunc):
    # Next to a float of 8 bits is for NumPy: next_after takes 16 bits or more.
    narrow = NARROW[:1] if ufunc in (np.nextafter, np.spacing) else NARROW
    if ufunc.nin == 1:
        return [(a,) for a in (*DTYPES, *narrow)]
    mixed = [pair for a, number in itertools.product(DTYPES, NUMBERS) for pair in ((a, number), (number, a))]
    return [*itertools.product(DTYPES, DTYPES), *[(a, a) for a in narrow], *mixed]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_dtypes(ufunc):
    wrong = []
    for kinds in pairs(ufunc):
        theirs, ours = zip(*map(given, kinds), strict=True)
        numpys, found = (
            dtypes(lambda theirs=theirs: ufunc(*theirs)),
            dtypes(lambda ours=ours: _core.elementwise(ufunc.__name__, *ours)),
        )
        if numpys != found:
            wrong.append(f"{ufunc.__name__} of {kinds}: {found}, NumPy {numpys}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -1, -(2**63), 300])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind in "iu"], ids=str)
def test_comparison_with_integers_outside(dtype, number):
    array = np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    for ufunc in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal):
        for operands in ((array, number), (number, array)):
            recorded = [_core.constant(v) if isinstance(v, np.ndarray) else v for v in operands]
            result = _core.elementwise(ufunc.__name__, *recorded)
            _core.evaluate([result])
            value = result.buffer().numpy() if result.is_computed else result.constant()
            np.testing.assert_array_equal(value, ufunc(*operands))
