"""The command ``weft``: programs compiled, run, measured and looked into from a shell; ``docs/command.md`` shows it."""

from .main import main

__all__ = ["main"]
