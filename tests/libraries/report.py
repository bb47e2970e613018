"""What replays found, as a table, as reasons, and as what became slower."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

OUTCOMES = ("equal", "wrong", "error", "crash", "timeout", "left out")
WAYS = ("compiled", "pieces", "plain", "unknown")
SLOWEST = 10


def report(folder: Path, names: list[str], lines: int) -> None:
    """Prints it for the libraries that have results."""
    files = {name: folder / f"{name}.results.json" for name in names}
    found = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    if not found:
        print("no results: replay first")
        return
    everything = [{**result, "library": name} for name, results in found.items() for result in results]
    rows = [row_of(name, results) for name, results in found.items()]
    print_table(rows + ([row_of("all", everything)] if len(rows) > 1 else []))
    print_reasons(everything, lines)
    print_strict(everything, lines // 2)
    print_plain(everything, lines // 2)
    print_slowest(everything)


def row_of(name: str, results: list[dict[str, Any]]) -> dict[str, str]:
    counts = Counter(result["outcome"] for result in results)
    equal = [result for result in results if result["outcome"] == "equal"]
    ways = Counter(result["way"] for result in equal)
    row = {"library": name, "cases": str(len(results)), "functions": str(len({r["function"] for r in results}))}
    row |= {outcome: str(counts[outcome]) for outcome in OUTCOMES}
    row |= {way: f"{100 * ways[way] / max(len(equal), 1):.0f}%" for way in WAYS}
    strict = [result["strict"] == "one" for result in equal if "strict" in result]
    row["one program"] = f"{100 * sum(strict) / len(strict):.0f}%" if strict else "-"
    row["aliases"] = str(sum(result["alias"] for result in equal))
    for key, title in (("seconds", "jit/plain"), ("renewed", "new objects")):
        ratios = [math.log(result[key][1] / result[key][0]) for result in equal if key in result]
        row[title] = f"{math.exp(sum(ratios) / len(ratios)):.2f}" if ratios else "-"
    return row


def print_table(rows: list[dict[str, str]]) -> None:
    widths = {key: max(len(key), *(len(row[key]) for row in rows)) for key in rows[0]}
    for row in ({key: key for key in widths}, *rows):
        print("  ".join(f"{row[key]:<{w}}" if key == "library" else f"{row[key]:>{w}}" for key, w in widths.items()))


def reason_of(result: dict[str, Any]) -> str:
    """What happened, without the numbers and names that differ from case to case."""
    text = re.sub(r"\((got |not )?<?[^()]{60,}\)", "(…)", result["text"])
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)
    return f"{result['outcome']}: {re.sub(r'[-+]?[0-9]+([.][0-9]*)?(e[-+]?[0-9]+)?j?', 'N', text)[:140]}"


def print_reasons(results: list[dict[str, Any]], lines: int) -> None:
    """All that are not equal, by reason, the commonest first; all functions are in the results file."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        if result["outcome"] != "equal":
            groups.setdefault(reason_of(result), []).append(result)
    order = ("crash", "wrong", "timeout", "error", "left out")
    ranked = sorted(groups.items(), key=lambda item: (order.index(item[1][0]["outcome"]), -len(item[1])))
    for reason, group in ranked[:lines]:
        functions = Counter(result["function"] for result in group)
        shown = ", ".join(function for function, _ in functions.most_common(3))
        more = f" and {len(functions) - 3} more" if len(functions) > 3 else ""
        alone = sum(result.get("alone") == "equal" for result in group)
        print(
            f"\n{len(group):5}  {reason}\n       {shown}{more}"
            + (f"\n       {alone} equal in a process without a past" * bool(alone))
        )
        if group[0]["outcome"] not in ("error", "left out"):
            print(f"       {group[0]['library']} #{group[0]['number']}: {group[0]['text']}")
    if len(ranked) > lines:
        print(f"\n{len(ranked) - lines} more reasons; --lines shows them")


def print_strict(results: list[dict[str, Any]], lines: int) -> None:
    """Why cases that are equal are not one program, the commonest reasons first."""
    refused = [result for result in results if result.get("strict", "one") != "one"]
    groups = Counter(reason_of({"outcome": "not one program", "text": result["strict"]}) for result in refused)
    first = {reason_of({"outcome": "not one program", "text": r["strict"]}): r for r in reversed(refused)}
    if groups and lines:
        print("\nnot one program:")
    for reason, count in groups.most_common(lines):
        example = first[reason]
        print(f"{count:5}  {reason.split(': ', 1)[1]}\n       {example['function']} #{example['number']}")


def print_plain(results: list[dict[str, Any]], lines: int) -> None:
    """Why cases ran plainly, the commonest reasons first."""
    plain = [result for result in results if result.get("way") == "plain" and "why" in result]
    text = lambda result: reason_of({"outcome": "plain", "text": result["why"][0]}).split(": ", 1)[1]
    groups = Counter(map(text, plain))
    if groups and lines:
        print("\nplain:")
    for reason, count in groups.most_common(lines):
        functions = Counter(f"{r['function']} #{r['number']}" for r in plain if text(r) == reason)
        print(f"{count:5}  {reason}\n       {', '.join(list(functions)[:3])}")


def print_slowest(results: list[dict[str, Any]]) -> None:
    timed = sorted((r for r in results if "seconds" in r), key=lambda r: -r["seconds"][1] / r["seconds"][0])
    if timed:
        print("\nslowest beside plain Python:")
    for result in timed[:SLOWEST]:
        plain, jitted = result["seconds"]
        times = f"{jitted / plain:8.2f}x  {1e6 * plain:9.1f} us plain, {1e6 * jitted:9.1f} us jit"
        why = f"; {result['why'][0].splitlines()[0][:80]}" if "why" in result else ""
        print(f"{times}  {result['function']} #{result['number']} ({result['way']}{why})")
