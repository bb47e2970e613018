#!/usr/bin/env python3
"""Keeps files, functions and the whole small; -v prints what comes near a limit."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Lines of weft/ and python/ together, as their formatters lay them out. A commit that raises this number says what the
# lines buy.
TOTAL = 119_600
#        warn, fail
HEADER = (250, 400)
SOURCE = (400, 600)
TEST = (600, 1000)
FUNCTION = (40, 60)

OPENS = re.compile(r"^[A-Za-z_].*\)[^;]*\{\s*$")
NOT_FUNCTION = re.compile(r"^(namespace|class|struct|enum|union|extern)\b")


def cpp_functions(lines: list[str]):
    """(name, first line, length) of every function that begins and ends in column 0."""
    start = None
    for number, line in enumerate(lines):
        if start is None and OPENS.match(line) and not NOT_FUNCTION.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            body = lines[start : number + 1]
            # A total switch over an enumeration is as long as the enumeration.
            if sum(part.lstrip().startswith("case ") for part in body) < len(body) / 4:
                name = re.search(r"([\w:~]+)\(", lines[start])
                yield (name.group(1) if name else "?"), start + 1, len(body)
            start = None


def python_functions(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def measure(path: Path):
    """(what, size, limits) for the file and each of its functions."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    test = name.startswith(("tests/", "bench/"))
    yield name, len(lines), TEST if test else HEADER if path.suffix == ".h" else SOURCE
    if not test:
        for function, line, size in python_functions(text) if path.suffix == ".py" else cpp_functions(lines):
            yield f"{name}:{line} {function}()", size, FUNCTION


def main() -> int:
    failed = near = total = 0
    for top in ("weft", "python", "tools", "tests", "bench", "examples", "scripts"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".py") or "__pycache__" in path.parts:
                continue
            for what, size, (warn, fail) in measure(path):
                if size > fail:
                    print(f"{what}: {size} lines, the limit is {fail}")
                elif size > warn and "-v" in sys.argv:
                    print(f"{what}: {size} lines, nearing {fail}")
                failed += size > fail
                near += warn < size <= fail
            if top in ("weft", "python"):
                total += len(path.read_text(errors="replace").splitlines())
    if total > TOTAL:
        print(f"weft/ and python/: {total} lines, the limit is {TOTAL}")
    print(f"sizes: {total} of {TOTAL} lines, {failed} over a limit, {near} near one")
    return 1 if failed or total > TOTAL else 0


if __name__ == "__main__":
    sys.exit(main())
