"""Runs drawn programs, or the cases of a folder, plain and by wf.jit, and prints what differs.

python -m tests.state --count N --seed S [--jobs 1] [--save] [--wrapper jit]
python -m tests.state --cases [NAME ...]
python -m tests.state --show SEED.NUMBER
"""

from __future__ import annotations

import argparse
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .builder import IMPORT
from .minimise import minimised
from .pool import Worker
from .wrappers import WRAPPERS

CASES = Path(__file__).parent / "cases"


class Campaign:
    """What was found so far; threads with a worker each share it."""

    def __init__(self, requests: Iterator[dict[str, Any]], total: int) -> None:
        self.requests, self.total = requests, total
        self.lock = threading.Lock()
        self.failures: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.ways: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.calls = self.raised = self.done = 0
        self.began = self.told = self.ended = time.monotonic()

    def work(self, worker: Worker) -> None:
        while True:
            with self.lock:
                request = next(self.requests, None)
            if request is None:
                worker.close()
                return
            name = request.pop("name")
            reply = worker.ask(**request) | {"name": name}
            with self.lock:
                self.take(reply, request)

    def take(self, reply: dict[str, Any], request: dict[str, Any]) -> None:
        self.done += 1
        self.ended = time.monotonic()
        self.calls += reply["calls"]
        self.raised += reply["raised"]
        self.ways.update(reply["ways"])
        if reply["source"] is None:
            reply["source"], reply["tags"] = drawn(request["seed"])
        self.tags.update(set(reply["tags"]))
        if "failure" in reply:
            self.failures[reply["failure"][0]].append(reply)
            print(f"{reply['name']}: {reply['failure'][0]}", file=sys.stderr, flush=True)
        if time.monotonic() - self.told > 10:
            self.told = time.monotonic()
            print(self.progress(), file=sys.stderr, flush=True)

    def progress(self) -> str:
        rate = self.done / max(self.ended - self.began, 1e-9)
        failed = sum(map(len, self.failures.values()))
        return f"{self.done}/{self.total} programs, {rate:.0f}/s, {failed} failed in {len(self.failures)} ways"

    def report(self, options: argparse.Namespace) -> None:
        worker = Worker(options.wrapper)
        for kind, replies in sorted(self.failures.items(), key=lambda item: len(item[1])):
            print(f"\n== {kind}: {len(replies)} programs, such as {', '.join(r['name'] for r in replies[:8])}")
            print(self.suspects(replies))
            for reply in sorted(replies, key=lambda r: len(r["source"]))[: options.examples]:
                source, text = reply["source"], reply["failure"][1]
                if not options.whole:
                    source = minimised(
                        source, lambda text, kind=kind: worker.ask(source=text).get("failure", [""])[0] == kind
                    )
                    text = worker.ask(source=source).get("failure", ["", text])[1]
                print(f"-- {reply['name']}, {text}\n{source}", flush=True)
                if options.save:
                    save(source, kind, reply["name"])
        worker.close()
        print(f"\n{self.progress()}")
        ways = ", ".join(f"{name} {number}" for name, number in self.ways.most_common())
        print(f"{self.calls} statements compared, {self.raised} of them raise; ways of calls: {ways or 'not told'}")

    def suspects(self, replies: list[dict[str, Any]]) -> str:
        """The fragments that these programs have more often than others."""
        here = Counter(tag for reply in replies for tag in set(reply["tags"]))
        shares = sorted(((n / self.tags[tag], tag, n) for tag, n in here.items()), reverse=True)[:6]
        return "   fragments: " + ", ".join(f"{tag} {n} of {self.tags[tag]}" for _, tag, n in shares) if shares else ""


def drawn(seed: str) -> tuple[str, tuple[str, ...]]:
    from .generate import program

    return program(seed)


def save(source: str, kind: str, name: str) -> None:
    """Keeps a failing program as a case."""
    stem = re.sub(r"\W+", "_", f"found_{kind}_{name}").strip("_").lower()
    CASES.mkdir(exist_ok=True)
    start = "" if IMPORT in source else f"{IMPORT}\n\n"
    (CASES / f"{stem}.py").write_text(f'"""Found by drawing {name}: {kind}."""\n\n{start}{source}')


def requests(options: argparse.Namespace) -> tuple[Iterator[dict[str, Any]], int]:
    if options.cases is None:
        numbers = range(options.first, options.first + options.count)
        return ({"seed": f"{options.seed}.{i}", "name": f"{options.seed}.{i}"} for i in numbers), options.count
    files = sorted(p for p in CASES.glob("*.py") if not options.cases or p.stem in options.cases)
    return ({"source": p.read_text(), "name": p.stem} for p in files), len(files)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.state", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--save", action="store_true", help="keeps a minimised program of each kind in tests/state/cases"
    )
    parser.add_argument("--examples", type=int, default=1, help="programs printed of each kind of failure")
    parser.add_argument("--whole", action="store_true", help="prints programs as drawn, not minimised")
    parser.add_argument(
        "--wrapper", choices=WRAPPERS, default="jit", help="what jit is; all but jit and plain are wrong"
    )
    parser.add_argument("--cases", nargs="*", help="runs the files of tests/state/cases, or those named")
    parser.add_argument("--show", metavar="SEED.NUMBER", help="prints a drawn program")
    options = parser.parse_args()
    if options.show:
        print(drawn(options.show)[0])
        return 0
    campaign = Campaign(*requests(options))
    threads = [
        threading.Thread(target=campaign.work, args=(Worker(options.wrapper),), daemon=True)
        for _ in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    campaign.report(options)
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
