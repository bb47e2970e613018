"""Runs programs for another process: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any

from .harness import Outcome, outcome
from .wrappers import WRAPPERS


def answer(request: dict[str, Any]) -> dict[str, Any]:
    tags: tuple[str, ...] = ()
    source = request.get("source")
    if source is None:
        from .generate import program

        source, tags = program(request["seed"])
    found: Outcome = outcome(source, WRAPPERS[request["wrapper"]])
    reply: dict[str, Any] = {
        "ways": dict(found.ways),
        "calls": found.calls,
        "raised": found.raised,
        "tags": tags,
        "source": source,
    }
    if found.failure:
        reply["failure"] = [found.failure.kind, found.failure.text]
    return reply


def main() -> None:
    # What programs print goes nowhere: only replies may reach the other process.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.freeze()  # what is imported stays: collections are of what programs make
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
