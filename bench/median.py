"""Several runs as one: of each workload the run with the median ratio, so that what is compared was measured side by side."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.measure import Cell, Row, Settings
from bench.peers import OURS


def read(folder: Path) -> tuple[list[Row], Settings]:
    """The rows and settings of a run, from its results.json."""
    values = json.loads((folder / "results.json").read_text())
    cells = [{peer: Cell(**cell) for peer, cell in row["cells"].items()} for row in values["rows"]]
    return [Row(**{**row, "cells": c}) for row, c in zip(values["rows"], cells)], Settings(**values["settings"])


def median(rows: Sequence[Row]) -> Row:
    """One workload over several runs. Its times are those of the run whose ratio to the best peer is the (lower) median one;
    limit, first results and memory are such that their ratios or they themselves are the medians of all runs."""
    timed = [row for row in rows if row.seconds(OURS)]
    if not timed:
        return rows[0]
    chosen = sorted(timed, key=lambda row: row.ratio() or 0)[(len(timed) - 1) // 2]

    def over(value: Callable[[Row], float | None]) -> float | None:
        known = [v for row in timed if (v := value(row)) is not None]
        return statistics.median(known) if known else None

    seconds = chosen.seconds(OURS)
    share = over(lambda row: row.limit / row.seconds(OURS) if row.limit else None)  # type: ignore[operator]
    ours = dataclasses.replace(
        chosen.cells[OURS],
        first=over(lambda row: row.cells[OURS].first),
        cached=over(lambda row: row.cells[OURS].cached),
        memory=over(lambda row: row.cells[OURS].memory),  # type: ignore[arg-type]
    )
    limit = share * seconds if share and seconds else None
    return dataclasses.replace(chosen, cells={**chosen.cells, OURS: ours}, limit=limit)


def median_of(folders: Sequence[Path]) -> tuple[list[Row], Settings]:
    """The workloads that every run has."""
    runs = [read(folder) for folder in folders]
    by_name = [{row.name: row for row in rows} for rows, _ in runs]
    shared = [name for name in by_name[0] if all(name in rows for rows in by_name)]
    return [median([rows[name] for rows in by_name]) for name in shared], dataclasses.replace(
        runs[0][1], runs=len(runs)
    )
