"""NumPy as a front end: the modules that register traced forms are loaded here."""

from . import calculus, combining, functions, joining, methods, statistics, views

__all__ = ["calculus", "combining", "functions", "joining", "methods", "statistics", "views"]
