"""Functions that begin with code compiled quickly, and go on with faster code that gives the same bits."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork.device import to_device
from weftwork.graph import Executable
from weftwork.jit import native_executable

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE", "off")


def chain(x: Any) -> Any:
    y = x
    for i in range(20):
        y = y * x.dtype.type(0.5) + x.dtype.type(i)
    return y - x


def functions(x: Any) -> Any:
    return np.exp(x) / (1 + np.exp(-x)) + np.tanh(x) * np.log1p(abs(x))


def sums(x: Any) -> Any:
    return np.cumsum(x, axis=1)


def softmax(x: Any) -> Any:
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def normed(x: Any) -> Any:
    moved = x - x.mean(axis=1, keepdims=True)
    return moved / np.sqrt((moved * moved).mean(axis=1, keepdims=True) + x.dtype.type(0.01))


def nearest(x: Any) -> Any:
    return np.argmin(x, axis=1), np.exp(x).sum(axis=1)


def bits(results: Any) -> list[bytes]:
    return [array.tobytes() for array in (results if isinstance(results, tuple) else [results])]


def tiered(function: Any, *arrays: Any) -> Executable:
    """As jit compiles it, before its first run."""
    return Executable(native_executable(wf.trace(function, *arrays), "native", to_device(None), tiered=True))


def code_bytes(executable: Executable) -> int:
    return int(executable.memory["code"])


def hard(dtype: Any, *shape: int) -> np.ndarray:
    """Numbers of every size, some of them special."""
    x = (np.random.default_rng(7).standard_normal(shape) * 4).astype(dtype)
    limits = ml_dtypes.finfo(dtype)
    special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, limits.smallest_subnormal, limits.max], dtype)
    x.reshape(-1)[5::19][: len(special)] = special
    return x


@pytest.mark.parametrize("target", ["native", "avx2"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", [chain, functions, sums, softmax, normed, nearest])
def test_both_codes_give_the_same_bits(function: Any, dtype: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TARGET", target)
    for shape in [(64, 257), (130, 31), (3, 1023), (77, 64), (128, 640)]:
        x = hard(dtype, *shape)
        jitted = wf.jit(function)
        with np.errstate(all="ignore"):
            first = bits(jitted(x))
            jitted.executables[0].benchmark(x, warmup=0, iters=1)
            assert bits(jitted(x)) == first, shape
            with wf.knobs(tiered=False):
                assert bits(wf.jit(function)(x)) == first, shape


@pytest.mark.parametrize(
    ("function", "dtype"), [(chain, ml_dtypes.bfloat16), (functions, np.float64), (sums, ml_dtypes.bfloat16)]
)
def test_the_first_code_is_smaller_until_a_run_asks_for_the_other(function: Any, dtype: Any) -> None:
    x = hard(dtype, 64, 512)
    full = code_bytes(wf.compile(function, x))
    with wf.knobs(tiered=False):
        assert code_bytes(tiered(function, x)) == full
    if full == mmap.PAGESIZE:
        pytest.skip("on this CPU one page holds either code")
    quick = tiered(function, x)
    assert code_bytes(quick) < 0.8 * full
    quick(x)
    end = time.monotonic() + 60
    while code_bytes(quick) != full:
        assert time.monotonic() < end
        time.sleep(0.001)
    waiting = tiered(function, x)
    waiting.benchmark(x, warmup=0, iters=1)
    assert code_bytes(waiting) == full


def test_programs_that_do_much_or_may_do_much_are_compiled_in_full_at_once() -> None:
    large, rows = wf.spec((1 << 14, 1 << 14), np.float16), wf.spec((wf.Dim("n", 1, 1000, 1 << 40), 64), np.float16)
    weights = np.arange(1 << 10).astype(np.float16)
    weights.flags.writeable = False
    for function, *arrays in [
        (chain, large),
        (chain, rows),
        (lambda x: chain(x) + weights, np.ones((64, 1024), np.float16)),
    ]:
        assert code_bytes(tiered(function, *arrays)) == code_bytes(wf.compile(function, *arrays))


def test_saved_files_hold_the_faster_code(tmp_path: Path) -> None:
    x = hard(np.float16, 64, 512)
    jitted = wf.jit(chain)
    first = jitted(x).tobytes()
    jitted.executables[0].save(tmp_path / "saved.weft")
    loaded = wf.load(tmp_path / "saved.weft")
    assert code_bytes(loaded) == code_bytes(wf.compile(chain, x))
    assert loaded(x).tobytes() == first


def test_threads_that_run_while_the_code_changes() -> None:
    x = hard(np.float16, 64, 512)
    wanted, wrong = wf.jit(chain)(x).tobytes(), []
    for _ in range(5):
        jitted = wf.jit(chain)

        def many(jitted: Any = jitted) -> None:
            wrong.extend(i for i in range(200) if jitted(x).tobytes() != wanted)

        threads = [threading.Thread(target=many) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_functions_that_are_dropped_at_once() -> None:
    x = hard(np.float16, 8, 512)
    wanted = wf.jit(chain)(x).tobytes()
    for _ in range(20):
        assert wf.jit(chain)(x).tobytes() == wanted


def in_child(jitted: Any, x: np.ndarray, path: str, answers: Any) -> None:
    first = jitted(x).tobytes()
    jitted.executables[0].save(path)
    other = wf.jit(functions)
    answers.put((first, wf.load(path)(x).tobytes(), other(x).tobytes(), code_bytes(other.executables[0])))


def test_children_of_a_fork_go_on(tmp_path: Path) -> None:
    x = hard(np.float16, 64, 512)
    jitted, context = wf.jit(chain), multiprocessing.get_context("fork")
    answers, wanted = context.Queue(), jitted(x).tobytes()
    child = context.Process(target=in_child, args=(jitted, x, str(tmp_path / "saved.weft"), answers))
    child.start()
    first, saved, other, _ = answers.get(timeout=60)
    child.join(60)
    assert (child.exitcode, first, saved, other) == (0, wanted, wanted, wf.jit(functions)(x).tobytes())


def test_a_process_that_ends_at_once_leaves_the_faster_code_in_the_cache(tmp_path: Path) -> None:
    source = tmp_path / "ends.py"
    source.write_text(
        "import sys, numpy as np, weftwork as wf\n"
        "def chain(x):\n"
        "    y = x\n"
        "    for i in range(6):\n"
        "        y = y * np.float16(0.5) + np.float16(i)\n"
        "    return y - x\n"
        "x = np.ones((64, 512), np.float16)\n"
        "f = wf.jit(chain)\n"
        "f(x)\n"
        "print(*f.executables[0].times) if len(sys.argv) > 1 else None\n"
    )
    run = lambda *more: subprocess.run(
        [sys.executable, str(source), *more],
        env={**os.environ, "WEFT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run().stderr == ""
    assert len(list((tmp_path / "cache").glob("*.weft"))) == 1
    assert run("show").stdout.split() == ["cache"]
