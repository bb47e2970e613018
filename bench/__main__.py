"""Measures Weftwork beside its peers and beside the machine; docs/bench.md says how to read the results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import report, workload
from bench.measure import ROOT, Row, Settings, measure
from bench.median import median_of
from bench.peers import OURS, PEERS, installed


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="families, or parts of names of workloads; all without any")
    peers = [peer for peer in PEERS if peer != OURS]
    parser.add_argument("--peers", nargs="*", choices=peers, default=peers, help="whom to measure beside ours")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu-time", action="store_true", help="on a busy machine, with --threads 1: time on the CPU")
    parser.add_argument("--quick", action="store_true", help="two short rounds: figures to look at, not to quote")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench", help="folder of the results")
    parser.add_argument("--module", action="append", default=[], help="a Python file that declares more workloads")
    parser.add_argument(
        "--median", nargs="+", type=Path, help="folders of earlier runs: reports their medians, measures nothing"
    )
    parser.add_argument("--list", action="store_true", help="names of the workloads")
    arguments = parser.parse_args()
    if arguments.cpu_time and arguments.threads != 1:
        parser.error("--cpu-time adds up threads: it needs --threads 1")
    return arguments


def summarise(rows: list[Row], settings: Settings, out: Path) -> None:
    for peer, mean, count in report.means(rows, settings):
        print(f"{peer}: {mean} over {count} workloads")
    print("\n".join(f"wrote {path}" for path in report.write(rows, settings, out)))


def main() -> int:
    arguments = parse()
    if arguments.median:
        rows, settings = median_of(arguments.median)
        print("\n".join(map(report.line, rows)))
        summarise(rows, settings, arguments.out)
        return 0
    works = [
        work
        for work in workload.load(arguments.module).values()
        if not arguments.names or any(name == work.family or name in work.name for name in arguments.names)
    ]
    if arguments.list or not works:
        print("\n".join(f"{work.family:<14}{work.name}" for work in works) or "no such workload")
        return int(not works)
    peers = [peer for peer in arguments.peers if installed(peer)]
    for peer in arguments.peers:
        if peer not in peers:
            print(f"{peer}: not installed, left out")
    settings = Settings(peers, arguments.threads, arguments.rounds, cpu=arguments.cpu_time, extra=arguments.module)
    if arguments.quick:
        settings.rounds, settings.seconds = 2, 0.1
    rows = []
    for row in measure(works, settings):
        rows.append(row)
        print(report.line(row), flush=True)
        for peer, cell in row.cells.items():
            if peer != OURS and cell.problem and not cell.problem.startswith("skipped"):
                print(f"    {peer}: {cell.problem}", flush=True)
        report.write(rows, settings, arguments.out)
    summarise(rows, settings, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
