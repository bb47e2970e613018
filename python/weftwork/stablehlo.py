"""StableHLO text in."""

from __future__ import annotations

from . import _core
from .graph import Graph

__all__ = ["parse"]


def parse(text: str, file: str = "<text>") -> Graph:
    """Reads StableHLO text, pretty or generic; an error names line and column.

    >>> import weftwork as wf
    >>> g = wf.stablehlo.parse('''
    ... func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ...   %0 = stablehlo.tanh %x : tensor<2xf32>
    ...   return %0 : tensor<2xf32>
    ... }''')
    >>> g.inputs[0].shape
    (2,)
    """
    return Graph(_core.parse(text, file))
