"""What the examples in torch share: the same work in eager, compiled, and with --inductor by Inductor, and how fast each is."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any

from tqdm import tqdm

import weftwork.torch


def parser(*, calls: int) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser()
    made.add_argument("--calls", type=int, default=calls)
    made.add_argument("--inductor", action="store_true")
    return made


def backends(options: argparse.Namespace) -> dict[str, Any]:
    """Backends of torch.compile by name; None is eager."""
    return {"eager": None, "weftwork": weftwork.torch.backend, **({"inductor": "inductor"} if options.inductor else {})}


def measure(
    name: str, unit: str, call: Callable[[Any], Any], inputs: Iterable[tuple[Any, int]], calls: int
) -> list[Any]:
    """Calls a function with each input, which has so many units; prints units a second after the first two calls, which compile."""
    found, done, ready, begin = [], 0, 0.0, time.perf_counter()
    for i, (given, count) in enumerate(tqdm(inputs, desc=name, total=calls, leave=False)):
        found.append(call(given))
        if i == 1:
            ready, begin = time.perf_counter() - begin, time.perf_counter()
        elif i > 1:
            done += count
    print(f"{name:9} {done / (time.perf_counter() - begin):9.1f} {unit}/s, ready after {ready:.1f} s")
    return found
