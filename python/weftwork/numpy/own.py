"""NumPy's creation functions as this package's own code calls them: in a trace they make traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .tracer import current_trace

#: The traced forms of creation functions by name; creation.py has them.
CREATORS: dict[str, Callable[..., Any]] = {}


def created(name: str) -> Callable[..., Any]:
    """A function of NumPy's of that name, or its traced form where a trace runs."""
    original = getattr(np, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            result = CREATORS[name](*args, **kwargs)
            if result is not NotImplemented:
                return result
        return original(*args, **kwargs)

    return call


arange, array, asanyarray, asarray, ascontiguousarray = map(
    created, ("arange", "array", "asanyarray", "asarray", "ascontiguousarray")
)
empty, eye, full, identity, ones, tri, zeros = map(
    created, ("empty", "eye", "full", "identity", "ones", "tri", "zeros")
)
empty_like, full_like, ones_like, zeros_like = map(created, ("empty_like", "full_like", "ones_like", "zeros_like"))
einsum_path, isscalar, lexsort, require = map(created, ("einsum_path", "isscalar", "lexsort", "require"))
