"""Writing a generated page, or telling whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path


def finish(page: Path, text: str) -> int:
    """Writes the page; with --check on the command line only compares. The exit status."""
    if "--check" not in sys.argv:
        page.write_text(text)
        return 0
    same = page.exists() and page.read_text() == text
    print("docs: up to date" if same else f"docs: {page} is not what ./dev docs writes")
    return 0 if same else 1
