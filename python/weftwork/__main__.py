"""``python -m weftwork`` is the command ``weft``."""

from .cli.main import entry

entry()
