"""Runs the commands of docs/command.md and writes what they print below them; with --check, fails where the page says
something else. Times, sizes and names of machine code may differ.

Blocks "```mlir NAME" are files; in blocks "```console" lines that begin with "$ " are run by bash, in one folder, in order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import finish

PAGE = Path(__file__).parents[1] / "docs" / "command.md"
BLOCK = re.compile(r"^```(\w+)(?: ([\w.]+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: What differs from machine to machine and from day to day.
VOLATILE = [
    (r"\d[\d,.e+-]*(?= (?:ms|s|bytes?|threads?|programs?)\b)", "#"),
    (r'("(?:min|mean|p50|p90|p99|max|threads|code|file_bytes)": )[\d.e-]+', r"\1#"),
    (r"(difference is )[\d.e+-]+", r"\1#"),
    (r"_[0-9a-f]{8}\b", "_#"),
    (r"\S*/libweft_support.a", "libweft_support.a"),
    (r"[ \t]+", " "),
]


def masked(text: str) -> str:
    for pattern, instead in VOLATILE:
        text = re.sub(pattern, instead, text)
    return text


def environment(folder: Path) -> dict[str, str]:
    """The command on PATH, a cache of its own, and no other setting."""
    tools = folder / "tools"
    tools.mkdir()
    command = tools / "weft"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m weftwork "$@"\n')
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
    python = os.pathsep.join(path for path in sys.path if path)
    added = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": python,
        "WEFT_CACHE": str(folder / "cache"),
    }
    return {**kept, **added, "NO_COLOR": "1", "COLUMNS": "100", "HOME": str(folder)}


def outputs(block: str, folder: Path, variables: dict[str, str]) -> str:
    """The block with what its commands print now, or what it says where that differs by what may."""
    parts = []
    for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder / "work",
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = done.stdout if not done.stdout or done.stdout.endswith("\n") else done.stdout + "\n"
        parts.append(f"$ {command}\n{said if masked(said) == masked(printed) else printed}")
    return "".join(parts)


def page() -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        variables = environment(folder)

        def done(match: re.Match[str]) -> str:
            language, file, content = match.groups()
            if file:
                (folder / "work" / file).write_text(content)
            if language != "console":
                return match[0]
            return f"```console\n{outputs(content, folder, variables)}```"

        return BLOCK.sub(done, PAGE.read_text())


if __name__ == "__main__":
    sys.exit(finish(PAGE, page()))
