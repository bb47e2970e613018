"""What was measured, for readers: a Markdown page, a CSV and a JSON file, a plot."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.measure import Row, Settings
from bench.peers import OURS, version


def duration(seconds: float | None) -> str:
    """Three digits and a unit."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"


def geometric_mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    """The mean of what is there, and of how many."""
    known = [value for value in values if value]
    return (math.exp(sum(map(math.log, known)) / len(known)) if known else None), len(known)


def to_limit(row: Row) -> float | None:
    ours = row.seconds(OURS)
    return ours / row.limit if ours and row.limit else None


def line(row: Row) -> str:
    """One workload for the terminal."""
    cell = row.cells[OURS]
    best = row.best_peer()
    peer = f"{best} {duration(row.seconds(best))}" if best else "-"
    what = cell.problem or f"{times(row.ratio()):>8}   {times(to_limit(row)):>8} of the limit"
    return f"{row.name:<34}{duration(cell.seconds):>10}   {peer:<24}{what}"


def markdown(rows: Sequence[Row], settings: Settings) -> str:
    peers = [OURS, *settings.peers]
    head = ["work", "best peer / ours", "ours / limit", "limit", *peers, "first result", "from disk", "memory"]
    text = ["# Measurements", "", machine(settings), "", *table(head, (cells(row, peers) for row in rows)), ""]
    text += ["## Geometric means", "", *table(["ours is faster than", "by", "workloads"], means(rows, settings)), ""]
    slow = sorted(((row.ratio() or 0, row) for row in rows if (row.ratio() or 2) < 1), key=lambda pair: pair[0])
    text += ["## Slower than the best peer", ""]
    lines = ([row.name, times(ratio), row.best_peer(), times(to_limit(row))] for ratio, row in slow)
    text += [*table(["work", "best peer / ours", "best peer", "ours / limit"], lines), ""] if slow else ["None.", ""]
    failed = [(row.name, row.cells[OURS].problem) for row in rows if row.cells[OURS].problem]
    text += ["## Without a time of ours", ""]
    text += [*table(["work", "why"], failed), ""] if failed else ["None.", ""]
    return "\n".join(text)


def machine(settings: Settings) -> str:
    peers = ", ".join(f"{peer} {version(peer)}" for peer in settings.peers)
    return (
        f"{cpu()}; {f'medians of {settings.runs} runs; ' if settings.runs > 1 else ''}{settings.threads} threads; {settings.rounds} rounds of {settings.seconds:g} s a peer, "
        f"{'time on the CPU' if settings.cpu else 'wall clock'}; {peers}. "
        f"Load average at the end: {os.getloadavg()[0]:.1f}."
    )


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(part.split(":")[1].strip() for part in lines if part.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> list[str]:
    bars = lambda parts: "| " + " | ".join(str(part).replace("|", "\\|") for part in parts) + " |"
    return [bars(head), "|" + "---|" * len(head), *map(bars, lines)]


def cells(row: Row, peers: Sequence[str]) -> list[str]:
    shown = []
    for peer in peers:
        problem = row.cells[peer].problem
        shown.append(duration(row.seconds(peer)) if not problem else problem.split(":")[0].replace("skipped", "-"))
    limit = f"{duration(row.limit)} ({row.by})" if row.limit else "-"
    ours = row.cells[OURS]
    memory = "-" if not ours.memory else f"{ours.memory / 1e6:.1f} MB"
    ratios = [times(row.ratio()), times(to_limit(row)), limit]
    return [row.name, *ratios, *shown, duration(ours.first), duration(ours.cached), memory]


def means(rows: Sequence[Row], settings: Settings) -> Iterable[list[str]]:
    for peer in [None, *settings.peers]:
        mean, count = geometric_mean(row.ratio(peer) for row in rows)
        yield [peer or "the best peer", times(mean), str(count)]
    mean, count = geometric_mean(to_limit(row) for row in rows)
    yield ["the limit (ours / limit)", times(mean), str(count)]


def write(rows: Sequence[Row], settings: Settings, folder: Path) -> list[Path]:
    """Writes results.md, .json and .csv, and results.png where matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(markdown(rows, settings))
    values = {"machine": cpu(), "settings": dataclasses.asdict(settings), "rows": [dataclasses.asdict(r) for r in rows]}
    (folder / "results.json").write_text(json.dumps(values, indent=1))
    with (folder / "results.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["work", "family", "peer", "seconds", "first", "cached", "memory", "difference", "problem", "limit", "by"]
        )
        for row in rows:
            for peer, cell in row.cells.items():
                known = [cell.seconds, cell.first, cell.cached, cell.memory, cell.difference, cell.problem]
                writer.writerow([row.name, row.family, peer, *known, row.limit, row.by])
    return [folder / "results.md", folder / "results.json", folder / "results.csv", *plot(rows, folder / "results.png")]


def plot(rows: Sequence[Row], path: Path) -> list[Path]:
    """Each workload's times as parts of ours, on a logarithmic axis: what is right of the line is slower than we are."""
    shown = [row for row in rows if row.seconds(OURS)]
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return []
    if not shown:
        return []
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.25 * len(shown)))
    for peer in dict.fromkeys(peer for row in shown for peer in row.cells if peer != OURS):
        points = [(row.ratio(peer), i) for i, row in enumerate(shown) if row.ratio(peer)]
        if points:
            axes.scatter(*zip(*points), s=18, label=peer)
    limits = [(row.limit / row.seconds(OURS), i) for i, row in enumerate(shown) if row.limit]  # type: ignore[operator]
    if limits:
        axes.scatter(*zip(*limits), s=40, marker="|", color="black", label="limit")
    axes.axvline(1, color="grey", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), [row.name for row in shown], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("time / Weftwork's time")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return [path]
