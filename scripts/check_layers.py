#!/usr/bin/env python3
"""Holds includes of C++ and imports of Python to the layer tables, and types to one definition; prints what breaks them."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A folder of weft/ and the folders it may include besides itself.
LAYERS = {
    "core": set(),
    "library": {"core", "distributed"},  # collectives of programs
    "ir": {"core", "ops"},
    "ops": {"core", "ir", "library", "distributed"},  # one library with ir
    "support": set(),  # C: what exported programs, the runtime and generated code share
    "runtime": {"core", "library", "support", "c.h"},  # the last: what C sees
    "distributed": {"core"},
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
# A folder of python/weftwork/ and those of these folders that it may import besides itself.
PACKAGE = "python/weftwork"
PYTHON_LAYERS = {
    "numpy": set(),
    "bytecode": {"numpy"},
    "lazy": {"numpy"},
    "nn": {"numpy", "lazy"},
    "distributed": {"numpy", "lazy"},
    "torch": {"numpy", "lazy", "nn", "distributed"},
    "cli": set(),
}
# Imports within functions that close a circle, by file: they are known, and no more may come.
CIRCLES = {"numpy/layout.py": {"views"}}
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


# A type that is defined at the left margin, with its template's line.
TYPE = re.compile(
    r"^(template <.*>\n)?(?:struct|class) (?:WEFT_API |\[\[.*?\]\] )*(\w+)(?: final)?(?: : .*)? \{", re.MULTILINE
)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)


def defined_twice(files: list[Path]) -> list[str]:
    """Types of one name in several files: the linker takes one's functions for the other's, and says nothing."""
    defined: dict[tuple[str, bool], list[str]] = {}
    for path in files:
        text = UNNAMED.sub("", path.read_text(errors="replace"))
        space = NAMESPACE.search(text)
        for template, name in TYPE.findall(text):
            key = f"{space[1]}::{name}" if space else name, bool(template)
            defined.setdefault(key, []).append(path.relative_to(ROOT).as_posix())
    return [f"{name} is defined in {' and '.join(places)}" for (name, _), places in defined.items() if len(places) > 1]


def python_imports(path: Path, tree: ast.Module) -> list[tuple[str, bool]]:
    """Files and folders of the package that a file imports, by their path in it, and whether at its top."""
    folder = path.relative_to(ROOT / PACKAGE).parent
    conditional = {id(node) for part in tree.body if isinstance(part, ast.If) for node in ast.walk(part)}
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level or id(node) in conditional:
            continue
        base = Path(*folder.parts[: len(folder.parts) - node.level + 1])
        names = [node.module] if node.module else [alias.name for alias in node.names]
        found += [((base / name.replace(".", "/")).as_posix(), id(node) in top) for name in names]
    return found


def python_problems(files: list[Path]) -> list[str]:
    """Imports against the table, circles of files, and imports within functions that hide one."""
    found, graph, inner = [], {}, []
    for path in files:
        name = path.relative_to(ROOT / PACKAGE).as_posix()
        folder = name.split("/")[0] if "/" in name else None
        graph[name] = set()
        for target, is_top in python_imports(path, ast.parse(path.read_text())):
            first = target.split("/")[0]
            if folder and folder != first and first in PYTHON_LAYERS and first not in PYTHON_LAYERS[folder]:
                found.append(f"{PACKAGE}/{name}: {folder} may not import {target}")
            file = f"{target}.py"
            if (ROOT / PACKAGE / file).exists() and file.split("/")[0] == folder:
                if is_top:
                    graph[name].add(file)
                elif Path(file).stem not in CIRCLES.get(name, set()):
                    inner.append((name, file))
    found += [
        f"{PACKAGE}/{name}: imports itself by {file}"
        for name in graph
        for file in graph[name]
        if reaches(graph, file, name)
    ]
    found += [
        f"{PACKAGE}/{name}: imports {file} within a function" for name, file in inner if name.startswith("numpy/")
    ]
    return found


def reaches(graph: dict[str, set[str]], start: str, end: str) -> bool:
    known, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name == end:
            return True
        if name not in known:
            known.add(name)
            waiting += graph.get(name, ())
    return False


def main() -> int:
    files = [p for top in ("weft", "python/src") for p in sorted((ROOT / top).rglob("*")) if p.suffix in (".h", ".cpp")]
    python = sorted((ROOT / PACKAGE).rglob("*.py"))
    found = [line for path in files for line in problems(path)] + defined_twice(files) + python_problems(python)
    print(
        "\n".join(
            [*found, f"layers: {len(files) + len(python)} files, {len(found)} includes and imports against the tables"]
        )
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
