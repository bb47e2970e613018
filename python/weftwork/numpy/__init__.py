"""NumPy as a front end: the modules that register traced forms are loaded here."""

from . import functions, joining

__all__ = ["functions", "joining"]
