"""NumPy as a front end: the modules that register traced forms are loaded here."""

from . import (
    bits,
    calculus,
    combining,
    functions,
    joining,
    methods,
    norms,
    quantiles,
    ranges,
    scans,
    searching,
    selection,
    sorting,
    statistics,
    views,
)

__all__ = [
    "bits",
    "calculus",
    "combining",
    "functions",
    "grids",
    "joining",
    "methods",
    "norms",
    "quantiles",
    "ranges",
    "scans",
    "searching",
    "selection",
    "sorting",
    "statistics",
    "views",
]
