"""Large weights: products read them as they lie until a later run has packed them, and nobody sees a difference."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_profile import named, spans_of

import weftwork as wf

DTYPES = [np.float32, np.float64, ml_dtypes.bfloat16, np.float16, np.int8]


pytestmark = pytest.mark.usefixtures("few_objects")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_CACHE", "off")


def values(dtype: Any, *shape: int) -> np.ndarray:
    numbers = np.random.default_rng(len(shape)).integers(-99, 99, shape)
    return (numbers if dtype is np.int8 else numbers / 64).astype(dtype)


def model(dtype: Any, wide: Any = None) -> Any:
    """Products with weights of every layout, and as many other constants as make the program a large one."""
    shapes = [(515, 130), (131, 515), (515, 257), (3, 515, 66)]
    rows, columns, odd, many = (values(dtype, *shape).astype(wide or dtype) for shape in shapes)
    odd, table = odd[:, ::2], np.arange(1 << 20, dtype=np.float32)
    for weights in (rows, columns, odd, many, table):
        weights.flags.writeable = False

    def products(x: Any, i: Any) -> list[Any]:
        return [x @ rows, x @ columns.T, x @ odd, x @ many, (x @ rows) * 2, np.take(table, i)]

    return products


def loaded(dtype: Any) -> wf.Executable:
    gc.collect()
    x = wf.spec((wf.Dim("m", 1, 40, 1000), 515), dtype)
    return wf.compile(model(dtype), x, wf.spec((3,), np.int64))


def bits(results: Any) -> list[bytes]:
    return [np.asarray(result).tobytes() for result in results]


@pytest.mark.parametrize("target", ["native", "avx2"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_the_same_before_and_after(
    dtype: Any, target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WEFT_TARGET", target)
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path))  # compiled once, loaded for each number of rows
    i = np.array([5, 0, 7])
    for m in (1, 2, 3, 5, 8, 24, 25, 49, 130):
        x = values(dtype, m, 515)
        with wf.knobs(pack_at_load=True):
            wanted = bits(loaded(dtype)(x, i))
        run = loaded(dtype)
        for _ in range(6):
            assert bits(run(x, i)) == wanted, f"{m} rows"
        del run
    wide = np.int64 if dtype is np.int8 else np.float64
    close = {np.float32: 1e-5, np.float64: 1e-13, ml_dtypes.bfloat16: 1e-2, np.float16: 2e-3, np.int8: 0}[dtype]
    for ours, known in zip(loaded(dtype)(x, i), model(dtype, wide)(x.astype(wide), i), strict=True):
        if dtype is np.int8:
            known = known.astype(ours.dtype)
        np.testing.assert_allclose(ours.astype(wide), known, rtol=close, atol=close * abs(known).max())


def test_the_first_run_packs_nothing_and_the_fifth_the_last(tmp_path: Path) -> None:
    run, x = loaded(np.float32), values(np.float32, 5, 515)
    packed = []
    for turn in range(6):
        with wf.profile(tmp_path / f"{turn}.json"):
            run(x, np.array([0, 1, 2]))
        packed.append(len(named(spans_of(tmp_path / f"{turn}.json"), "pack_")))
    assert packed[0] == packed[5] == 0 and sum(packed) == 4, packed
    with wf.profile(tmp_path / "load.json"), wf.knobs(pack_at_load=True):
        del run
        loaded(np.float32)
    assert len(named(spans_of(tmp_path / "load.json"), "pack_")) == 4


def test_small_programs_and_exported_ones_are_packed_at_once(tmp_path: Path) -> None:
    w = np.ones((300, 300), np.float32)
    w.flags.writeable = False
    with wf.profile(tmp_path / "trace.json"):
        wf.compile(lambda x: x @ w, wf.spec((20, 300), np.float32))
    assert len(named(spans_of(tmp_path / "trace.json"), "pack_")) == 1


def test_threads_that_run_while_one_packs() -> None:
    run, x, i = loaded(np.float32), values(np.float32, 60, 515), np.array([1, 2, 3])
    with wf.knobs(pack_at_load=True):
        wanted = bits(loaded(np.float32)(x, i))
    wrong: list[int] = []

    def many() -> None:
        wrong.extend(turn for turn in range(20) if bits(run(x, i)) != wanted)

    threads = [threading.Thread(target=many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer of GCC leaves its allocator locked in a child if a thread is in there",
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_child_forked_while_a_thread_packs_packs_by_itself() -> None:
    weights = values(np.float32, 1024, 4096)
    weights.flags.writeable = False
    x = values(np.float32, 3, 1024)
    for wait in range(8):
        exe = wf.compile(lambda x: x @ weights, x)
        wanted = bits([exe(x)])
        packer = threading.Thread(target=lambda exe=exe: [exe(x) for _ in range(4)])
        packer.start()
        time.sleep(wait * 4e-4)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            exe.benchmark(warmup=0, iters=1)
            os._exit(7 if bits([exe(x)]) == wanted else 1)
        packer.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_program_from_a_file(tmp_path: Path) -> None:
    run, x, i = loaded(np.float32), values(np.float32, 7, 515), np.array([1, 2, 3])
    wanted = bits(run(x, i))
    run.save(tmp_path / "model.weft")
    del run
    again = wf.load(tmp_path / "model.weft")
    for _ in range(6):
        assert bits(again(x, i)) == wanted


def test_every_stage_of_such_a_program_stands_alone(tmp_path: Path) -> None:
    x, i = values(np.float32, 9, 515), np.array([1, 2, 3])
    wanted = bits(loaded(np.float32)(x, i))
    gc.collect()
    with wf.knobs(dump=str(tmp_path)):
        run = loaded(np.float32)
    text = (tmp_path / "products" / "20-kernels.txt").read_text()
    assert text.count(" later  #") == 4 and text.count("until it is packed") >= 4
    for _ in range(6):
        assert bits(run(x, i)) == wanted
