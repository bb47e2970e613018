"""Functions of libraries not written for us: python -m tests.libraries record | replay | report; see --help."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .catalogue import chosen


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.libraries", description=__doc__)
    parser.add_argument("command", choices=["record", "replay", "report"])
    parser.add_argument("--library", nargs="+", metavar="NAME", help="default: all of tests/libraries/catalogue.py")
    parser.add_argument("--cases", type=Path, default=Path("build/libraries"), help="where cases and results are kept")
    parser.add_argument("--seconds", type=float, default=60, help="record: how long doctests and tests each may run")
    parser.add_argument("--limit", type=int, help="replay: at most so many cases of a library, spread over it")
    parser.add_argument("--only", default="", help="replay: cases whose module.name contains this")
    parser.add_argument("--time", action="store_true", help="replay: the least time of plain and of compiled calls too")
    parser.add_argument(
        "--elements", type=int, default=0, help="replay: arrays are made so long where a call allows it"
    )
    parser.add_argument("--timeout", type=float, default=20, help="replay: seconds that a case may take")
    parser.add_argument(
        "--jit",
        default="weftwork:jit",
        help="replay: what compiles; tests.libraries.worker:identity tries the suite itself",
    )
    parser.add_argument("--lines", type=int, default=40, help="report: how many reasons are listed")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    libraries = chosen(given.library)
    if given.command == "record":
        from .record import record

        for library in libraries:
            begun = time.monotonic()
            count = record(library, given.cases, given.seconds)
            print(f"{library.name}: {count} cases in {time.monotonic() - begun:.0f} s", flush=True)
    elif given.command == "replay":
        from .replay import replay

        for library in libraries:
            replay(library.name, given)
    if given.command != "record":
        from .report import report

        report(given.cases, [library.name for library in libraries], given.lines)


main()
