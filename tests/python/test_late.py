"""Pieces are interpreted until they are worth compiling: first calls compile little, later ones what comes by again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weftwork as wf
from weftwork import late

X = np.random.default_rng(0).normal(size=4000)


def decides(x: Any) -> Any:
    y = np.tanh(x) * 2
    return y[1:] - 1 if y.sum() > 0 else y + float(y[0])


def settles(x: Any, turns: int) -> Any:
    count = {"turns": 0}  # which loses a key in each turn: that keeps the loop in pieces
    while np.abs(x).max() > 1e-300 and count["turns"] < turns:
        x = x * 0.5 + np.sin(x) * 0.25
        count["turns"] = count.pop("turns") + 1
    return x, count["turns"]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """One entry for each program that was compiled: whether that was beside the calls."""
    seen: list[bool] = []
    plain = late.Late.compile

    def noted(self: Any, beside: bool = False) -> None:
        seen.append(beside)
        plain(self, beside)

    monkeypatch.setattr(late.Late, "compile", noted)
    yield seen


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is worth compiling."""
    monkeypatch.setattr(late.Late, "has_earned", lambda self: False)


def calls_until(done: Callable[[], bool], call: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        call()
        time.sleep(0.01)


def test_a_first_call_compiles_nothing_and_the_next_ones_wait_for_nothing(compiled: list[bool]) -> None:
    fast = wf.jit(decides, strict=False)
    np.testing.assert_allclose(fast(X), decides(X))
    assert not compiled and fast.ways == {"compiled": 0, "pieces": 1, "plain": 0}
    calls_until(lambda: fast.ways["pieces"] > 3, lambda: np.testing.assert_allclose(fast(X), decides(X)))
    assert compiled and all(compiled)
    assert fast.ways["plain"] >= 1 and not fast.refusals
    # Another way through it is met, and then waits as well.
    before = len(compiled)
    np.testing.assert_allclose(fast(-X - 1), decides(-X - 1))
    assert len(compiled) == before
    pieces = fast.ways["pieces"]
    calls_until(lambda: fast.ways["pieces"] > pieces + 1 or bool(fast.given_back), lambda: fast(-X - 1))
    assert all(compiled)


def test_what_ends_plainly_has_compiled_nothing(compiled: list[bool]) -> None:
    def rows(x: Any) -> Any:
        kept = []
        for _ in range(len(x)):
            x = x * 0.5 + np.unique(x).size
            kept.append(x[0])
        return x[-1], kept

    fast = wf.jit(rows, strict=False)
    x = np.random.default_rng(1).normal(size=60)
    for _ in range(8):
        assert fast(x) == rows(x)
    assert fast.ways["plain"] == 8 and not compiled


def test_many_pieces_are_recorded_once_plain_calls_took_as_long(compiled: list[bool]) -> None:
    lines = "\n".join(f"    x = x * 1.5 + {i}\n    if x[{i}] < 0: return x - {i}" for i in range(15))
    names: dict[str, Any] = {}
    exec(f"def asks(x):\n{lines}\n    return x", names)
    asks = names["asks"]
    fast = wf.jit(asks, strict=False)
    np.testing.assert_array_equal(fast(X + 9), asks(X + 9))
    assert fast.ways == {"compiled": 0, "pieces": 0, "plain": 1} and not fast.refusals
    assert wf.explain(fast, X + 9).way == "pieces"
    fast(X + 9)
    assert fast.ways["plain"] == 2  # they took less than the recording
    calls_until(lambda: fast.ways["pieces"] > 2, lambda: [fast(X + 9) for _ in range(50)])
    np.testing.assert_array_equal(fast(X + 9), asks(X + 9))
    assert len(compiled) >= 15 and not fast.refusals


def test_many_turns_within_a_call_are_worth_it(compiled: list[bool]) -> None:
    fast = wf.jit(settles, strict=False)
    x = np.random.default_rng(2).normal(size=20_000)
    got, wanted = fast(x, 400), settles(x, 400)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-9)
    assert got[1] == wanted[1] and fast.ways["pieces"] == 1
    assert compiled and not any(compiled)


def test_arrays_are_written_as_by_the_programs(never: None) -> None:
    def writes(x: Any, y: Any, n: int) -> Any:
        if x[0] > 100:
            return None
        x += y * 2
        y[1:n] = x[: n - 1]
        return x.max(), x, y[0]

    fast = wf.jit(writes, strict=False)
    for x, y in ((np.ones(5), np.arange(5.0)), (np.ones(5, np.float32), np.ones((5,), np.float32))):
        ours, plain = (x.copy(), y.copy()), (x.copy(), y.copy())
        got, wanted = fast(*ours, 3), writes(*plain, 3)
        assert type(got[0]) is type(wanted[0]) and got[0] == wanted[0] and got[1] is ours[0] and got[2] == wanted[2]
        for a, b in zip(ours, plain, strict=True):
            np.testing.assert_array_equal(a, b)
    shared, again = np.arange(8.0), np.arange(8.0)
    assert fast(shared[1:], shared[:-1], 3)[0] == writes(again[1:], again[:-1], 3)[0]
    np.testing.assert_array_equal(shared, again)
    fixed = np.ones(5)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fast(fixed, np.ones(5), 3)


def test_errors_of_values_are_numpys(never: None) -> None:
    def looks(x: Any, i: Any) -> Any:
        if x.sum() > 0:
            x = x * 2
        return x[i] + 1

    fast = wf.jit(looks, strict=False)
    assert fast(np.ones(4), np.array([1, 3])).tolist() == [3, 3]
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        fast(np.ones(4), np.array([1, 9]))


def test_what_has_no_machine_code_runs_plainly(never: None) -> None:
    fast = wf.jit(decides, strict=False)

    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no code")

    fast._native = fails
    for _ in range(3):
        np.testing.assert_allclose(fast(X), decides(X))
    calls_until(lambda: fast.ways["plain"] >= 6, lambda: np.testing.assert_allclose(fast(X), decides(X)))
    assert fast.ways["pieces"] == 1


SCRIPT = """
import os, sys, time
import numpy as np, weftwork as wf

def decides(x):
    y = np.tanh(x) * 2
    return y[1:] - 1 if y.sum() > 0 else y + float(y[0])

fast = wf.jit(decides, strict=False)
x = np.ones(4000)
fast(x)
fast(x)
if sys.argv[1] == "fork":
    child = os.fork()
    while fast.ways["pieces"] < 3:
        fast(x)
        time.sleep(0.01)
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("done", fast(x).sum() == decides(x).sum())
"""


@pytest.mark.parametrize("how", ["exit", "fork"])
def test_processes_fork_and_end_while_programs_wait(how: str) -> None:
    environment = {**os.environ, "WEFT_STRICT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith("done"), (done.stdout, done.stderr)
