"""The viewer of dumps: one HTML page with every stage of a compilation, which needs nothing but a browser.

``python -m weftwork.view DIR -o page.html``, where DIR is what WEFT_DUMP named, or the folder of one function in it.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["page"]

LOC = re.compile(r"\s*loc\((#\w+)\)")
ALIAS = re.compile(r"^(#\w+) = loc\((.*)\)$")
PLACE = re.compile(r'"([^"]*)":(\d+):\d+|(#\w+)')
NAMES = re.compile(r"%[\w$.#-]+")


@cache
def lines_of(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def places_of(text: list[str]) -> dict[str, str]:
    """What stands behind each name of a place."""
    return {found[1]: found[2] for found in map(ALIAS.match, text) if found}


def source_of(line: str, places: dict[str, str]) -> list[str]:
    """The user's place of a line of a stage and what stands there, or nothing. Of callers the innermost."""
    found = LOC.search(line)
    place = PLACE.search(places.get(found[1], "")) if found else None
    for _ in places:
        if place is None or place[3] is None:
            break
        place = PLACE.search(places.get(place[3], ""))
    if place is None or place[3]:
        return []
    file, number = place[1], int(place[2])
    known = lines_of(file)
    return [f"{Path(file).name}:{number}", known[number - 1].strip() if 0 < number <= len(known) else ""]


def compared(before: list[str], after: list[str]) -> list[tuple[str, str]]:
    """Lines of both with "-" before those that went, "+" before those that came; names of values do not count."""
    plain = [[NAMES.sub("%", LOC.sub("", line)) for line in text] for text in (before, after)]
    rows: list[tuple[str, str]] = []
    for tag, a, b, c, d in SequenceMatcher(None, plain[0], plain[1], autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [(" ", line) for line in after[c:d]]
        else:
            rows += [("-", line) for line in before[a:b]] + [("+", line) for line in after[c:d]]
    return rows


def rows_of(marked: list[tuple[str, str]], places: dict[str, str]) -> list[list[Any]]:
    return [
        [mark, LOC.sub("", line), *(source_of(line, places) if mark != "-" else ())]
        for mark, line in marked
        if not ALIAS.match(line)
    ]


def assembly_of(text: str) -> dict[str, str]:
    """The instructions of each function by name."""
    parts = re.split(r"^(?=[A-Za-z_][\w.$]*:)", text, flags=re.MULTILINE)
    return {part.split(":", 1)[0]: part.split(".Lfunc_end")[0].rstrip() for part in parts[1:]}


def function_of(folder: Path) -> dict[str, Any]:
    """What the page shows of one compiled function."""
    report = json.loads((folder / "report.json").read_text("utf-8"))
    times = dict(report["milliseconds"])
    nodes = {stage["file"]: stage["nodes"] for stage in report["stages"]}
    stages, before = [], None
    for path in sorted(folder.glob("[0-9][0-9]*")):
        # The folder may have been that of another program, with more stages.
        if path.suffix == ".mlir" and path.name not in nodes:
            continue
        text = path.read_text("utf-8", errors="replace").splitlines()
        name = path.stem.partition("-")[2] or "assembly"
        stage: dict[str, Any] = {
            "file": path.name,
            "nodes": nodes.get(path.name),
            "ms": times.get(f"pass.{name}", times.get(name)),
        }
        is_graph = path.suffix == ".mlir"
        places = places_of(text)
        stage["rows"] = rows_of([(" ", line) for line in text], places)
        stage["changes"] = rows_of(compared(before, text), places) if is_graph and before is not None else None
        before = text if is_graph else None
        stages.append(stage)
    assembly = assembly_of((folder / "40.s").read_text("utf-8", errors="replace")) if (folder / "40.s").exists() else {}
    kernels = [{**kernel, "assembly": assembly.get(kernel["name"], "")} for kernel in report["kernels"]]
    shown = {key: report[key] for key in ("name", "target", "milliseconds", "cuts", "memory", "launches")}
    return {**shown, "folder": folder.name, "stages": stages, "kernels": kernels}


def page(folder: str | Path) -> str:
    """The page for a folder of dumps, or for one function's; a :class:`ValueError` where there is no dump."""
    root = Path(folder)
    folders = [root] if (root / "report.json").exists() else sorted(path.parent for path in root.glob("*/report.json"))
    if not folders:
        raise ArgumentValueError(f"'{root}' has no dump: there is no report.json in it or in a folder of it  [view]")
    data = json.dumps([function_of(each) for each in folders]).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    return (Path(__file__).parent / "page.html").read_text("utf-8").replace("[/*functions*/]", data)
