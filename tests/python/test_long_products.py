"""Products of few rows by few columns that are long: in parts of k, the same bits for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

TARGETS = ["native", "avx2", "x86-64"]
FORMS: dict[str, Any] = {
    "rows": (lambda a, b: a @ b, lambda a: a, lambda b: b),
    "columns": (lambda a, b: a.T @ b, lambda a: a.T, lambda b: b),
    "along": (lambda a, b: a @ b.T, lambda a: a, lambda b: b.T),
    "both": (lambda a, b: a.T @ b.T, lambda a: a.T, lambda b: b.T),
    "einsum": (lambda a, b: np.einsum("ki,kj->ij", a, b), lambda a: a.T, lambda b: b),
    "every other": (lambda a, b: a[:, ::2].T @ b, lambda a: a.T.repeat(2, 1), lambda b: b),
    "mask": (lambda a, b: (a > 0).astype(b.dtype).T @ b, lambda a: a.T, lambda b: b),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_rows_by_few_columns(form: str, target: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TARGET", target)
    function, lay_left, lay_right = FORMS[form]
    rng = np.random.default_rng(3)
    for m, n, k in ((16, 8, 10000), (64, 16, 1024), (1, 1, 1 << 20), (3, 5, 70000), (33, 17, 2048), (16, 8, 10007)):
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
        a, b = np.ascontiguousarray(lay_left(a)), np.ascontiguousarray(lay_right(b))
        product = wf.jit(lambda a, b: function(a, b) * 2)
        got = []
        for threads in (1, 2, 8):
            with wf.knobs(threads=threads):
                got.append(product(a, b))
        assert all(np.array_equal(each, got[0]) for each in got)
        exact = function(a.astype(np.float64), b.astype(np.float64)) * 2
        size = function(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64)) * 2
        assert got[0].dtype == dtype and (np.abs(got[0] - exact) <= size * np.finfo(dtype).eps * k**0.5).all()


def test_parts_are_where_they_are_shared() -> None:
    """Few threads would have work otherwise; of large results there is enough."""

    def has_parts(f: Any, *arguments: Any) -> bool:
        return any("reduce" in kernel.ops for kernel in wf.compile(f, *arguments).kernels)

    ones = lambda *shape: np.ones(shape, np.float32)
    for m, n, k, wanted in ((16, 8, 16000, True), (16, 8, 400, False), (256, 256, 4096, False)):
        assert has_parts(lambda a, b: a.T @ b, ones(k, m), ones(k, n)) == wanted


def test_constants_give_the_bits_of_arguments() -> None:
    a, b = (np.random.default_rng(4).standard_normal((16000, count)).astype(np.float32) for count in (16, 8))
    fixed = b.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(wf.jit(lambda a: a.T @ fixed)(a), wf.jit(lambda a, b: a.T @ b)(a, b))


def test_numbers_that_are_not_finite() -> None:
    a, b = np.ones((4096, 16), np.float32), np.ones((4096, 16), np.float32)
    b[5, 0], b[6, 1], b[4000, 2], b[7, 3], b[3000, 3] = np.inf, -np.inf, np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wf.jit(lambda a, b: a.T @ b)(a, b), a.T @ b)
