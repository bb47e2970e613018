"""Weftwork turns tensor programs into native code."""

from ._version import __version__

__all__ = ["__version__"]
