"""What new layers start from: random numbers of keys, drawn when they are first used."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..lazy import Tensor, asarray
from ..random import uniform

__all__ = ["Start"]

#: Layers without a key of their own have numbers by the order in which they were made.
_made = itertools.count()


class Start:
    """The draws of one layer: the same for the same key, and others for each tensor."""

    def __init__(self, key: Any, dtype: Any) -> None:
        self._words = [0, next(_made)] if key is None else [1, int(key)]
        self.dtype = np.dtype(dtype)

    def uniform(self, shape: tuple[int, ...], limit: float) -> Tensor:
        """Numbers between -limit and limit; what is loaded in their place is never drawn."""
        self._words.append(0)
        number = np.random.SeedSequence(self._words).generate_state(1, np.uint64)[0]
        return uniform(asarray(number), shape, self.dtype, -limit, limit)
