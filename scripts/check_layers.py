#!/usr/bin/env python3
"""Holds the includes of the C++ sources to the layer table; prints every one that breaks it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A folder of weft/ and the folders it may include besides itself.
LAYERS = {
    "core": set(),
    "library": {"core"},
    "ir": {"core", "ops"},
    "ops": {"core", "ir", "library"},  # one library with ir
    "support": set(),  # C: what exported programs, the runtime and generated code share
    "runtime": {"core", "library", "support", "c.h"},  # the last: what C sees
    "passes": {"core", "ir"},
    "kernel": {"core", "ir", "library"},
    "interop": {"core", "ir"},
    "codegen": {"core", "kernel", "support"},
    "compiler": {"core", "ir", "passes", "kernel", "codegen", "runtime"},
    "shared": {"core", "library"},  # what differs between the shared libraries
    "frontend": {"core", "ir", "compiler", "runtime"},
    "pjrt": {"core", "ir", "interop", "compiler", "runtime"},
}
# Outside libraries and the one place each may be included from.
OUTSIDE = {
    "llvm": "weft/codegen/llvm",
    "llvm-c": "weft/codegen/llvm",
    "nanobind": "python/src",
    "numpy": "python/src",
    "Python.h": "python/src",
    "Eigen": "weft/library/linalg_",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def problems(path: Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    folder = name.split("/")[1] if name.startswith("weft/") else None
    found = []
    for include in INCLUDE.findall(path.read_text(errors="replace")):
        first, _, rest = include.partition("/")
        if first in OUTSIDE and not name.startswith(OUTSIDE[first]):
            found.append(f"{name}: only {OUTSIDE[first]} may include <{include}>")
        if folder in LAYERS and first == "weft":
            target = rest.split("/")[0]
            if target != folder and target not in LAYERS[folder]:
                found.append(f"{name}: {folder} may not include {include}")
    if folder and folder not in LAYERS and "/" in name[5:]:
        found.append(f"{name}: the folder weft/{folder} is in no layer")
    return found


def main() -> int:
    files = [
        p
        for top in ("weft", "python/src")
        for p in sorted((ROOT / top).rglob("*"))
        if p.suffix in (".h", ".cpp")
    ]
    found = [line for path in files for line in problems(path)]
    print(
        "\n".join([*found, f"layers: {len(files)} files, {len(found)} includes against the table"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
