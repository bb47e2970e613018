"""Spots, worms and corals: two substances that react and spread (Gray and Scott, 1984), as lazy arrays, and a picture of what grows.

python examples/reaction_diffusion.py [--size 256] [--steps 6000] [--picture reaction_diffusion.png]
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

import weftwork as wf

TURNS = 20  # steps that are computed together


def neighbours(a: Any) -> Any:
    """The Laplacian on a torus."""
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


def steps(u: Any, v: Any, feed: Any, kill: Any) -> tuple[Any, Any]:
    """Some steps of du = 0.16 lap u - u v^2 + feed (1 - u), dv = 0.08 lap v + u v^2 - (feed + kill) v."""
    for _ in range(TURNS):
        reaction = u * v * v
        u, v = (
            u + 0.16 * neighbours(u) - reaction + feed * (1 - u),
            v + 0.08 * neighbours(v) + reaction - (feed + kill) * v,
        )
    return u, v


def start(size: int) -> list[np.ndarray]:
    """Some drops of v in u, and rates that differ from left to right and from top to bottom."""
    rng = np.random.default_rng(7)
    u, v = np.ones((size, size), np.float32), np.zeros((size, size), np.float32)
    for _ in range(size // 4):
        i, j = rng.integers(0, size, 2)
        u[i : i + 6, j : j + 6], v[i : i + 6, j : j + 6] = 0.5, 0.25
    feed = np.linspace(0.022, 0.058, size)[None, :] + np.zeros((size, 1))
    # The rates between which something grows that does not fill all.
    kill = np.linspace(0.0575, 0.0625, size)[:, None] + 0.16 * (feed - 0.036)
    return [u, v, feed.astype(np.float32), kill.astype(np.float32)]


def seconds_a_step(run: Any, u: Any, v: Any, rates: list[Any]) -> float:
    """The least time of some rounds, of one step."""
    least = float("inf")
    for _ in range(8):
        begun = time.perf_counter()
        u, v = run(u, v, *rates)
        wf.eval(u, v)
        least = min(least, time.perf_counter() - begun)
    return least / TURNS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--picture", default="reaction_diffusion.png")
    options = parser.parse_args()
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise SystemExit("a package is missing: pip install matplotlib") from None

    arrays = start(options.size)
    u, v, *rates = map(wf.asarray, arrays)
    compiled = wf.jit(steps)
    ways = {
        "NumPy": seconds_a_step(steps, *arrays[:2], arrays[2:]),
        "lazy arrays, recorded each time": seconds_a_step(steps, u, v, rates),
        "the same function under wf.jit": seconds_a_step(compiled, u, v, rates),
    }
    for name, seconds in ways.items():
        print(f"{name:32} {seconds * 1e6:8.1f} us a step, {ways['NumPy'] / seconds:5.1f}x")

    begun = time.perf_counter()
    for done in range(0, options.steps, TURNS):
        u, v = compiled(u, v, *rates)
        if sys.stderr.isatty():
            print(f"\r{done + TURNS} of {options.steps} steps", end="", file=sys.stderr, flush=True)
    picture = np.clip(v.numpy() / 0.4, 0, 1)
    print(f"\n{options.steps} steps of {options.size} x {options.size} in {time.perf_counter() - begun:.2f} s")
    plt.imsave(options.picture, picture, cmap="magma", vmin=0, vmax=1)
    print(f"the picture is {options.picture}: {100 * float((v > 0.1).mean()):.0f} % of it has grown")


if __name__ == "__main__":
    main()
