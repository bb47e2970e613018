"""The compile cache: the same results from it, whatever happened to it."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import weftwork as wf

PROGRAM = """
import sys
import numpy as np, weftwork as wf
table = np.arange(300, dtype=np.float32); table.flags.writeable = False
f = wf.jit(lambda x: np.tanh(x) @ np.ones((7, 3), np.float32) + table[:3])
print(np.asarray(f(np.linspace(0, 1, 35, dtype=np.float32).reshape(5, 7))).tobytes().hex())
info = wf.cache.info()
print(info.hits, info.misses, *f.executables[0].times)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("WEFT_CACHE", str(folder))
    monkeypatch.delenv("WEFT_DUMP", raising=False)
    return folder


def was_cached(jitted):
    return [*jitted.executables[-1].times] == ["cache"]


def fresh(function, *args):
    """What a new jit gives, and whether it came from the cache."""
    jitted = wf.jit(function)
    return np.asarray(jitted(*args)), was_cached(jitted)


def entries(folder):
    return sorted(folder.glob("*.weft"))


def test_another_process_finds_what_one_has_compiled(folder):
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert runs[0][0] == runs[1][0]
    assert runs[0][1:3] == ["0", "1"] and "llvm" in runs[0]
    assert runs[1][1:3] == ["1", "0"] and runs[1][3:] == ["cache"]
    assert (folder.stat().st_mode & 0o777) == 0o700


def test_an_entry_is_of_one_program_alone(folder):
    x = np.arange(12.0).reshape(3, 4)
    table = np.arange(4.0)
    table.flags.writeable = False
    other = np.arange(4.0) + 1
    other.flags.writeable = False
    functions = [lambda x: x + 1, lambda x: x + 2, lambda x: x.T + 1, lambda x: x + table, lambda x: x + other]
    for function in functions:
        result, cached = fresh(function, x)
        assert not cached
        np.testing.assert_array_equal(result, function(x))
    for function in functions:
        result, cached = fresh(function, x)
        assert cached
        np.testing.assert_array_equal(result, function(x))
    assert not fresh(functions[0], x.astype(np.float32))[1]
    assert not fresh(functions[0], x[:2])[1]
    compiled = wf.jit(functions[0], target="x86-64")
    compiled(x)
    assert not was_cached(compiled)


def test_symbolic_extents_and_views_written_in_place_come_back(folder):
    def step(x, y):
        x[1:] += y[:-1]
        return x.sum()

    for cached in (False, True):
        jitted = wf.jit(step, dynamic={"x": {0: wf.Dim("n", 2, 8, 64)}, "y": {0: wf.Dim("n", 2, 8, 64)}})
        for n in (2, 5, 64):
            x, y = np.arange(float(n)), np.ones(n)
            expected = x.copy()
            assert jitted(x, y) == step(expected, y)
            np.testing.assert_array_equal(x, expected)
        assert was_cached(jitted) == cached
        with pytest.raises(wf.errors.ArgumentValueError, match="extent 'n'"):
            jitted(np.ones(65), np.ones(65))


def test_large_constants_stay_with_the_caller(folder):
    rng = np.random.default_rng(0)
    weights = rng.random((300, 200), dtype=np.float32)
    weights.flags.writeable = False
    x = rng.random((17, 200), dtype=np.float32)
    results = [fresh(lambda x: x @ weights.T + np.cumsum(np.arange(300, dtype=np.float32)), x) for _ in range(2)]
    assert [cached for _, cached in results] == [False, True]
    assert results[0][0].tobytes() == results[1][0].tobytes()
    np.testing.assert_allclose(results[1][0], x @ weights.T + np.cumsum(np.arange(300, dtype=np.float32)), rtol=1e-5)
    assert sum(entry.stat().st_size for entry in entries(folder)) < weights.nbytes / 2


USERS = """
import sys
import numpy as np, weftwork as wf
factor = int(sys.argv[1])
if sys.argv[2] == "body":
    op = wf.custom_op("scaled", lambda x: wf.spec(x.shape, x.dtype), body=lambda x: x * factor)
else:
    op = wf.custom_op("scaled", lambda x: wf.spec(x.shape, x.dtype), reference=lambda x: x * factor)
print(wf.jit(lambda x: op(x) + 1)(np.ones(3))[0])
"""


@pytest.mark.parametrize("kind", ["body", "reference"])
def test_operations_of_users_are_those_of_the_process(folder, kind):
    for factor in (2, 3):
        run = subprocess.run(
            [sys.executable, "-c", USERS, str(factor), kind], capture_output=True, text=True, check=True
        )
        assert run.stdout.split() == [str(factor + 1.0)]


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other", "folder"])
def test_a_damaged_entry_is_compiled_again(folder, damage):
    x = np.arange(6.0)
    exp = lambda x: np.exp(x)
    fresh(exp, x)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    if damage == "cut":
        entry.write_bytes(whole[:-100])
    elif damage == "empty":
        entry.write_bytes(b"")
    elif damage == "changed":
        entry.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :])
    elif damage == "other":
        fresh(lambda x: np.sin(x), x)
        entry.write_bytes(next(e for e in entries(folder) if e != entry).read_bytes())
    else:
        entry.unlink()
        entry.mkdir()
    result, cached = fresh(exp, x)
    assert not cached
    np.testing.assert_allclose(result, np.exp(x))
    assert damage == "folder" or fresh(exp, x)[1]


def test_where_nothing_is_kept(folder, monkeypatch, tmp_path):
    for word in ("off", "0"):
        monkeypatch.setenv("WEFT_CACHE", word)
        assert not any(fresh(np.exp, np.ones(3))[1] for _ in range(2))
        assert wf.cache.info().directory == "" and f"'{word}'" in wf.cache.info().problem
    wf.cache.clear()
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("WEFT_CACHE", str(shared))
    assert not any(fresh(np.exp, np.ones(3))[1] for _ in range(2))
    assert "other users" in wf.cache.info().problem and not list(shared.iterdir())
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    assert not fresh(np.exp, np.ones(3))[1]
    assert "cannot be made" in wf.cache.info().problem


def test_the_usual_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("WEFT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x" / "cache"))
    assert wf.cache.info().directory == str(tmp_path / "x" / "cache" / "weftwork")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wf.cache.info().directory == str(tmp_path / ".cache" / "weftwork")
    monkeypatch.delenv("HOME")
    assert wf.cache.info().directory == ""


def test_info_and_clear(folder):
    before = wf.cache.info()
    assert (before.entries, before.bytes, before.limit) == (0, 0, 1 << 30)
    for _ in range(2):
        fresh(np.exp, np.ones(3)), fresh(np.sin, np.ones(3))
    after = wf.cache.info()
    assert after.entries == 2 and after.bytes == sum(entry.stat().st_size for entry in entries(folder))
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 2)
    (folder / "mine.weft").write_text("no entry")
    wf.cache.clear()
    assert [entry.name for entry in entries(folder)] == ["mine.weft"]


def test_entries_used_least_recently_go(folder, monkeypatch):
    fresh(lambda x: x + 0.5, np.ones(3))
    (first,) = entries(folder)
    size = first.stat().st_size
    monkeypatch.setenv("WEFT_CACHE_BYTES", str(size * 20))
    draft = folder / (first.name + ".1.1.tmp")
    draft.write_text("left by a process that ended")
    old = time.time() - 7200
    os.utime(draft, (old, old))
    for i in range(150):
        os.utime(first)
        fresh(lambda x, i=i: x + i, np.ones(3))
        for entry in entries(folder):  # ages them, as days would
            os.utime(entry, (entry.stat().st_mtime - 100,) * 2)
    assert len(entries(folder)) < 100
    assert first.exists() and not draft.exists()


def program_of(k):
    return lambda x: x * k + 1


def work_on(folder, seed):
    """Writes entries and files, and reads those of others, until it is killed; a dot for each write."""
    os.environ["WEFT_CACHE"] = str(folder)
    rng = np.random.default_rng(seed)
    x = np.arange(8.0)
    log = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def check(k, result, what):
        if not np.array_equal(result, x * k + 1):
            (folder / "wrong").write_text(f"{what} {k}")

    while True:
        k, path = int(rng.integers(12)), folder / f"saved-{rng.integers(12)}"
        result, cached = fresh(program_of(k), x)
        check(k, result, "entry")
        if not cached:
            os.write(log, b".")
        wf.compile(program_of(k), x).save(path.with_name(f"saved-{k}"))
        os.write(log, b".")
        if path.exists():
            check(int(path.name.split("-")[1]), wf.load(path)(x), "file")
        if (found := entries(folder)) and rng.random() < 0.7:
            found[int(rng.integers(len(found)))].unlink(missing_ok=True)


def kill_while_writing(folder, writes, kills, processes=4):
    """Kills processes at random until so many are dead and they have written so often between them; then nothing may be broken."""
    folder.mkdir(mode=0o700)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["weftwork"])
    rng = np.random.default_rng(0)
    workers, killed = [], 0
    log = folder / "log"
    while killed < kills or not log.exists() or log.stat().st_size < writes:
        while len(workers) < processes:
            workers.append(context.Process(target=work_on, args=(folder, int(rng.integers(1 << 30)))))
            workers[-1].start()
        time.sleep(rng.random() * 0.3)
        victim = workers.pop(int(rng.integers(len(workers))))
        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        assert victim.exitcode == -signal.SIGKILL
        killed += 1
    for worker in workers:
        worker.kill()
        worker.join()
    assert not (folder / "wrong").exists(), (folder / "wrong").read_text()
    x = np.arange(8.0)
    saved = [path for path in folder.glob("saved-*") if not path.suffix]
    assert saved  # of entries all may have been deleted
    for path in saved:
        np.testing.assert_array_equal(wf.load(path)(x), x * int(path.name.split("-")[1]) + 1)
    for k in range(12):
        for _ in range(2):
            result, cached = fresh(program_of(k), x)
            np.testing.assert_array_equal(result, x * k + 1)
        assert cached


def test_processes_that_are_killed_leave_sound_files(folder):
    kill_while_writing(folder, writes=60, kills=6)


@pytest.mark.slow
def test_processes_that_are_killed_during_many_writes_leave_sound_files(folder):
    kill_while_writing(folder, writes=300, kills=20)


def test_large_weights_are_packed_once_while_a_program_lives(folder):
    x = np.linspace(-1, 1, 100 * 512, dtype=np.float32).reshape(100, 512)
    w = np.linspace(-1, 1, 512 * 700, dtype=np.float32).reshape(512, 700).copy()

    def function(x):
        return x @ w

    def again(change=None):
        """The same program anew, where no file holds it."""
        for entry in entries(folder):
            entry.unlink()
        w.flags.writeable = True
        if change is not None:
            w[3] = change
        w.flags.writeable = False
        compiled = wf.compile(function, x)
        np.testing.assert_allclose(compiled(x), x @ w, rtol=1e-3, atol=1e-3)
        return compiled, [*compiled.times] == ["cache"]

    first, cached = again()
    assert not cached
    second, cached = again()
    assert cached
    assert second(x).tobytes() == first(x).tobytes()
    # Other weights in the same memory, and the same ones elsewhere.
    third, cached = again(change=2)
    assert not cached
    given, w = w, w.copy()
    fourth, cached = again()
    assert not cached
    w = given
    del third, fourth
    gc.collect()
    _, cached = again()
    assert not cached


def test_a_pipe_in_the_place_of_an_entry_is_left_alone(folder):
    f, x = (lambda x: np.tanh(x) * 2 + 1), np.ones(5)
    wf.compile(f, x)
    (entry,) = folder.glob("*.weft")
    entry.unlink()
    os.mkfifo(entry)
    code = "import numpy as np, weftwork as wf; print(wf.compile(lambda x: np.tanh(x) * 2 + 1, np.ones(5))(np.ones(5)).tolist())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == str(f(x).tolist())
    assert entry.is_fifo()
