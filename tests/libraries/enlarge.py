"""Arguments with more elements: rows are repeated until the arrays of a call have as many as wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["enlarged"]

LARGEST = 40_000_000  # bytes of all arrays of a call


def enlarged(values: Any, elements: int) -> Any:
    """The arguments with about so many elements in their largest array; None where there is none to enlarge.

    Arrays that agree in their first extent stay in agreement: the commonest one is made longer.
    """
    arrays = [a for a in arrays_of(values) if a.ndim and a.shape[0] > 1]
    if not arrays:
        return None
    extents = Counter(a.shape[0] for a in arrays)
    extent = max(extents, key=lambda e: (extents[e], e))
    largest = max(a.size for a in arrays if a.shape[0] == extent)
    times = elements // max(largest, 1)
    if times < 2 or sum(a.nbytes for a in arrays) * times > LARGEST:
        return None
    return longer(values, extent, times)


def arrays_of(value: Any) -> Iterator[np.ndarray]:
    if type(value) is np.ndarray and value.dtype.kind in "fciub":
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from arrays_of(item)
    elif type(value) is dict:
        yield from arrays_of(list(value.values()))


def longer(value: Any, extent: int, times: int) -> Any:
    if type(value) is np.ndarray and value.dtype.kind in "fciub" and value.ndim and value.shape[0] == extent:
        noise = np.linspace(1, 1.1, extent * times).reshape(-1, *(1,) * (value.ndim - 1))
        repeated = np.concatenate([value] * times)
        return (repeated * noise).astype(value.dtype) if value.dtype.kind in "fc" else repeated
    if type(value) in (list, tuple):
        return type(value)(longer(item, extent, times) for item in value)
    return {k: longer(v, extent, times) for k, v in value.items()} if type(value) is dict else value
