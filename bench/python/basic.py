"""Call overhead, first result, and common kernels: weftwork and its peers, each in a process of its own, taking turns.

python bench/python/basic.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(xp: Any, x: Any) -> Any:
    c = x - x.mean(axis=-1, keepdims=True)
    return c / xp.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5)


RNG = np.random.default_rng(0)
WORK: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "call x+1": (lambda xp, x: x + 1, (np.ones(8, np.float32),)),
    "gelu 4096x1024": (gelu, (RNG.normal(size=(4096, 1024)).astype(np.float32),)),
    "softmax 4096x1024": (softmax, (RNG.normal(size=(4096, 1024)).astype(np.float32),)),
    "layer norm 4096x1024": (layer_norm, (RNG.normal(size=(4096, 1024)).astype(np.float32),)),
    "sum axis 0 4096x1024": (lambda xp, x: x.sum(axis=0), (RNG.normal(size=(4096, 1024)).astype(np.float32),)),
    "matmul 1024": (lambda xp, x, y: x @ y, tuple(RNG.normal(size=(1024, 1024)).astype(np.float32) for _ in range(2))),
    "matmul 128x384x1536": (
        lambda xp, x, y: x @ y,
        (RNG.normal(size=(128, 384)).astype(np.float32), RNG.normal(size=(384, 1536)).astype(np.float32)),
    ),
}


def numpy_call(function: Callable[..., Any], args: Any) -> Callable[[], Any]:
    return lambda: function(np, *args)


def weftwork_call(function: Callable[..., Any], args: Any) -> Callable[[], Any]:
    import weftwork as wf

    jitted = wf.jit(lambda *a: function(np, *a))
    return lambda: jitted(*args)


def torch_call(function: Callable[..., Any], args: Any) -> Callable[[], Any]:
    import torch

    class Torch:
        tanh, exp, sqrt = torch.tanh, torch.exp, torch.sqrt

    class Axis(torch.Tensor):
        def max(self, axis: int, keepdims: bool = False) -> Any:  # type: ignore[override]
            return torch.amax(self, dim=axis, keepdim=keepdims)

    tensors = [torch.from_numpy(a).as_subclass(Axis) for a in args]
    torch.set_grad_enabled(False)
    return lambda: function(Torch, *tensors)


PEERS = {"weftwork": weftwork_call, "numpy": numpy_call, "torch": torch_call}


def serve(peer: str) -> None:
    """Times the work named on each line of standard input: seconds for a call, at best."""
    calls: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name = line.strip()
        start = time.perf_counter()
        first = name not in calls
        if first:
            calls[name] = PEERS[peer](*WORK[name])
            calls[name]()
        first_seconds = time.perf_counter() - start
        call, best, spent = calls[name], float("inf"), time.perf_counter()
        while time.perf_counter() - spent < 0.3:
            start = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - start)
        print(json.dumps([best, first_seconds if first else None]), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return 0
    command = [sys.executable, __file__, "--serve"]
    processes = {
        peer: subprocess.Popen([*command, peer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
        for peer in PEERS
    }
    print(f"{'work':<24}" + "".join(f"{peer:>14}" for peer in PEERS) + "   best peer / ours   first result")
    for name in WORK:
        best: dict[str, float] = {}
        first = 0.0
        for _ in range(arguments.rounds):
            for peer, process in list(processes.items()):
                process.stdin.write(name + "\n")  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                answer = process.stdout.readline()  # type: ignore[union-attr]
                if not answer:
                    del processes[peer]
                    continue
                seconds, first_seconds = json.loads(answer)
                best[peer] = min(best.get(peer, float("inf")), seconds)
                if peer == "weftwork" and first_seconds is not None:
                    first = first_seconds
        peers = [seconds for peer, seconds in best.items() if peer != "weftwork"]
        columns = "".join(f"{best[peer] * 1e6:>11.1f} us" if peer in best else f"{'-':>14}" for peer in PEERS)
        print(f"{name:<24}{columns}{min(peers) / best['weftwork']:>18.2f}x{first * 1e3:>12.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
