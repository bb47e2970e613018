"""Writes python/weftwork/_core.pyi, the types of the native module, or with --check fails where it is not up to date."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "python" / "weftwork"
STUB = FOLDER / "_core.pyi"
HEAD = "# Made by scripts/generate_core_stub.py.\n"


def core_alone() -> object:
    """The native module without the package around it, which gives some classes more members."""
    (path,) = FOLDER.glob("_core.*.so")
    spec = importlib.util.spec_from_file_location("weftwork._core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["weftwork._core"] = module
    spec.loader.exec_module(module)
    return module


def stub() -> str:
    """The text of the stub."""
    from nanobind.stubgen import StubGen

    module = core_alone()
    generator = StubGen(module)
    generator.put(module)
    # What is given as any object of Python's is used as what it is.
    text = (
        generator.get()
        .replace("-> object:", "-> Any:")
        .replace("from typing import overload", "from typing import Any, overload")
    )
    return HEAD + re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def main() -> int:
    text = stub()
    if "--check" in sys.argv[1:]:
        if not STUB.exists() or STUB.read_text() != text:
            print(f"{STUB} is out of date: run python scripts/generate_core_stub.py")
            return 1
        return 0
    STUB.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
