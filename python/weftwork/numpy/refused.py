"""What of NumPy cannot be traced, and why: the second half of the error, and of docs/numpy.md."""

from __future__ import annotations

_COUNT = "its result has as many elements as the values decide, known only when the program runs"
_TEXT = "it writes out values, which are known only when the program runs"
_MEMORY = "it is about memory, which a traced array does not have yet"
_SET = "a set has as many elements as the values decide, known only when the program runs"
_TRIM = "it cuts off leading zeros, which are known only when the program runs"

#: Name below numpy (or below ndarray) → reason, with what to write instead.
REASONS: dict[str, str] = {
    "trim_zeros": f"{_COUNT}; cut with a slice of fixed bounds",
    **dict.fromkeys(
        ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
        f"{_SET}; write wf.unique(x, size=n)",
    ),
    **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d", "union1d"), f"{_SET}; np.isin gives a mask"),
    **dict.fromkeys(("array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed"), _TEXT),
    **dict.fromkeys(("format_float_positional", "format_float_scientific", "datetime_as_string"), _TEXT),
    **dict.fromkeys(("shares_memory", "may_share_memory", "isfortran"), _MEMORY),
    "asarray_chkfinite": "it raises for values that are known only when the program runs; write np.isfinite(x).all()",
    **dict.fromkeys(("asmatrix", "bmat"), "np.matrix is a subclass of ndarray; use arrays"),
    **dict.fromkeys(("polymul", "polydiv"), f"{_TRIM}; np.convolve(a, b) is the product of all coefficients"),
    "roots": f"{_TRIM}; wf.linalg.eigvals of the companion matrix has all roots",
    "mask_indices": "it calls a function on a mask and counts what it leaves; use np.triu_indices_from or np.tril_indices_from",
    "isnat": "dates and times are not compiled",
    **dict.fromkeys(
        ("busday_count", "busday_offset", "is_busday", "datetime_data"), "dates and times are not compiled"
    ),
    **dict.fromkeys(
        ("frompyfunc", "nested_iters"),
        "a Python function of one element would run for each element; write it over arrays",
    ),
    **dict.fromkeys(("ndarray.tobytes", "ndarray.tofile", "ndarray.dump", "ndarray.dumps"), _TEXT),
    **dict.fromkeys(("ndarray.base", "ndarray.ctypes", "ndarray.data", "ndarray.setflags"), _MEMORY),
    **dict.fromkeys(("ndarray.getfield", "ndarray.setfield"), f"{_MEMORY}; use x.view(dtype)"),
    **dict.fromkeys(
        ("ndarray.item", "ndarray.tolist"),
        "it gives Python values, which are known only when the program runs; keep it an array",
    ),
    "ndarray.resize": "the shape of a traced array cannot be set; write x = np.resize(x, shape)",
    "ndarray.to_device": "where arrays live is decided outside of a traced function",
}


def reason(name: str) -> str:
    """': …' after "cannot be compiled", or nothing."""
    why = REASONS.get(name)
    return f": {why}" if why else ""
