"""Profiles: the trace is whole JSON, spans nest on each thread, and what happened is in it."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import weftwork as wf


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("WEFT_CACHE", "off")


def spans_of(path):
    """The spans of a trace by thread name; spans of a thread nest."""
    trace = json.loads(path.read_text())
    assert trace["otherData"]["dropped"] == 0
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    threads = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
            threads.setdefault(names[event["tid"]], []).append(event)
    for events in threads.values():
        open_until = []
        for event in events:
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], "spans of a thread nest"
            open_until.append(end)
    return threads


def named(threads, start):
    return [e for events in threads.values() for e in events if e["name"].startswith(start)]


def inside(inner, outer):
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3


def test_tracing_and_compiling_are_told_step_by_step(tmp_path):
    @wf.jit
    def curve(x):
        return np.tanh(x) + 1

    path = tmp_path / "trace.json"
    with wf.profile(path):
        curve(np.ones(7))
    threads = spans_of(path)
    (first,) = named(threads, "first call")
    (compiled,) = named(threads, "compile curve")
    (traced,) = named(threads, "trace curve")
    assert inside(traced, first) and inside(compiled, first)
    for name in ("flatten", "cse", "lower", "emit", "llvm.parse", "llvm.passes", "llvm.code", "load"):
        assert any(inside(e, compiled) for e in named(threads, name)), name
    assert compiled["args"]["hit"] is False
    assert "main" in threads


def test_a_hit_in_the_cache_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path / "cache"))
    f = lambda x: np.sqrt(x) * 3
    path = tmp_path / "trace.json"
    wf.compile(f, np.ones(5))
    with wf.profile(path):
        wf.compile(f, np.ones(5))
    threads = spans_of(path)
    assert named(threads, "compile")[0]["args"]["hit"] is True
    assert not named(threads, "llvm")


def test_profiles_may_overlap_and_each_has_its_own_time(tmp_path):
    f = lambda x: x + 1
    outer, inner = wf.profile(tmp_path / "outer.json"), wf.profile(tmp_path / "inner.json")
    outer.start()
    wf.trace(f, np.ones(2))
    inner.start()
    wf.trace(f, np.ones(3))
    outer.stop()
    wf.trace(f, np.ones(4))
    inner.stop()
    wf.trace(f, np.ones(5))
    assert len(named(spans_of(tmp_path / "outer.json"), "trace")) == 2
    assert len(named(spans_of(tmp_path / "inner.json"), "trace")) == 2


def test_threads_of_the_user_have_their_tracks(tmp_path):
    path = tmp_path / "trace.json"
    with wf.profile(path):
        threads = [threading.Thread(target=lambda: wf.trace(lambda x: x * 2, np.ones(3))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tracks = spans_of(path)
    assert len(tracks) == 3
    assert all(name.startswith("thread ") for name in tracks)


def test_a_file_that_cannot_be_written_is_an_error_and_nothing_is_left(tmp_path):
    profile = wf.profile(tmp_path / "none" / "trace.json").start()
    with pytest.raises(OSError, match="cannot write"):
        profile.stop()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(wf.Error, match="not being recorded"):
        profile.stop()
    profile = wf.profile(tmp_path / "trace.json").start()
    with pytest.raises(wf.Error, match="already"):
        profile.start()
    profile.stop()


def test_names_are_escaped(tmp_path):
    from weftwork.profile import span

    path = tmp_path / "trace.json"
    with wf.profile(path), span("test", 'a "name" \\ with\nlines and é', value='"'):
        pass
    ((event,),) = spans_of(path).values()
    assert event["name"] == 'a "name" \\ with\nlines and é'
    assert event["args"] == {"value": '"'}


def test_weft_trace_records_a_whole_process(tmp_path):
    path = tmp_path / "trace.json"
    code = "import numpy as np, weftwork as wf; wf.jit(lambda x: x + 1)(np.ones(3))"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "WEFT_TRACE": str(path)})
    threads = spans_of(path)
    assert named(threads, "compile lambda") and named(threads, "trace lambda")
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


def test_kernels_are_told_with_lines_operations_bytes_and_threads(tmp_path, monkeypatch):
    @wf.jit
    def big(x):
        y = np.tanh(x)
        return np.sort(y[:100]), y + 1

    x = np.ones((3000, 1000), np.float32)
    path = tmp_path / "trace.json"
    with wf.knobs(threads=2), wf.profile(path):
        for _ in range(3):
            big(x)
    threads = spans_of(path)
    runs = named(threads, "run big")
    assert len(runs) == 3
    kernels = [e for e in threads["main"] if e["cat"] == "kernel"]
    (first, *_) = [e for e in kernels if e["name"].startswith("tanh")]
    assert first["args"]["source"].startswith("test_profile.py:")
    assert any(op.startswith("tanh (test_profile.py:") for op in first["args"]["ops"])
    assert first["args"]["read_bytes"] == x.nbytes
    assert all(any(inside(kernel, run) for run in runs) for kernel in kernels)
    assert len([e for e in kernels if e["name"] == "sort"]) == 3
    # What workers did of it has the same name, on their own tracks.
    workers = [name for name in threads if name.startswith("weft-")]
    assert all(e["cat"] == "kernel" for name in workers for e in threads[name])


def test_runs_tell_the_values_of_symbolic_extents(tmp_path):
    f = wf.jit(lambda x: x * 2, dynamic={"x": {0: wf.Dim("n")}})
    path = tmp_path / "trace.json"
    with wf.profile(path):
        f(np.ones(3))
        f(np.ones(11))
    threads = spans_of(path)
    assert [e["args"] for e in named(threads, "run")] == [{"n": 3}, {"n": 11}]
    assert [e["args"]["read_bytes"] for e in threads["main"] if e["cat"] == "kernel"] == ["8*n"] * 2


def test_an_executable_tells_what_each_kernel_took():
    weights = np.ones((64, 64), np.float32)

    def model(x):
        h = np.tanh(x @ weights)
        for _ in wf.range(5):
            h = np.sort(h * 2, axis=-1)
        return h

    executable = wf.compile(model, np.ones((32, 64), np.float32))
    profile = executable.profile(iters=4)
    launches = {k.name: k.launches for k in profile.kernels}
    assert launches["sort"] == 5
    assert abs(sum(k.share for k in profile.kernels) - 1) < 1e-9
    assert all(0 < k.min <= k.total for k in profile.kernels)
    assert sum(k.total for k in profile.kernels) <= profile.seconds
    text = str(profile)
    assert text.splitlines()[0].startswith("model: ")
    assert all(k.name in text and k.lines[0] in text for k in profile.kernels)
    with pytest.raises(ValueError, match="iters"):
        executable.profile(iters=0)
