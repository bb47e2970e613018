"""Executables as files: saved, loaded, damaged."""

import subprocess
import sys

import numpy as np
import pytest

import weftwork as wf


def test_what_is_loaded_is_what_was_saved(tmp_path):
    weights = np.random.default_rng(0).random((200, 30), dtype=np.float32)

    def layer(x: wf.tensor[wf.mutable, np.float32, ("n", 200)], scale):
        x *= scale
        return np.tanh(x @ weights), (x > 0).sum(axis=1)

    saved = wf.compile(layer, wf.spec(("n", 200), np.float32), np.float32(2))
    path = tmp_path / "layer.weft"
    saved.save(path)
    loaded = wf.load(path)
    assert (loaded.inputs, loaded.outputs, loaded.kernels, loaded.cuts) == (
        saved.inputs,
        saved.outputs,
        saved.kernels,
        saved.cuts,
    )
    assert loaded.memory == saved.memory
    for n in (1, 13):
        x = np.random.default_rng(n).random((n, 200), dtype=np.float32)
        other = x.copy()
        results = zip(saved(x, np.array(2, np.float32)), loaded(other, np.array(2, np.float32)), strict=True)
        assert all(a.tobytes() == b.tobytes() for a, b in results)
        assert x.tobytes() == other.tobytes()
    with pytest.raises(wf.errors.ArgumentValueError, match="'x' must have the shape"):
        loaded(np.ones((3, 199), np.float32), np.array(2, np.float32))
    # Again, by whom it was loaded; the first file may go.
    loaded.save(tmp_path / "again.weft")
    path.unlink()
    assert (tmp_path / "again.weft").read_bytes() == (saved.save(path) or path.read_bytes())


PROGRAM = """
import sys
import numpy as np, weftwork as wf
print(*wf.load(sys.argv[1])(np.arange(3.0)))
"""


def test_another_process_loads_it(tmp_path):
    wf.compile(lambda x: np.exp(x) + np.arange(3), np.ones(3)).save(str(tmp_path / "f.weft"))
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "f.weft")], capture_output=True, text=True, check=True
    )
    np.testing.assert_allclose([float(word) for word in run.stdout.split()], np.exp(np.arange(3.0)) + np.arange(3))


def test_a_loop_of_a_loaded_one_ends_with_a_constant(tmp_path):
    def step(c):
        y = c[0] @ c[0].T @ c[0]
        return y + y @ c[1], np.full((2, 2), 0.5), c[2] + 1

    def last(x):
        return wf.while_loop(lambda c: c[2] < 3, step, (x, np.zeros((2, 2)), 0))

    x = np.full((12, 2), 0.01)
    saved = wf.compile(last, x)
    saved.save(tmp_path / "last.weft")
    # Its constants are memory that nobody may write.
    for got, want in zip(wf.load(tmp_path / "last.weft")(x), saved(x), strict=True):
        assert got.tobytes() == want.tobytes()
    np.testing.assert_array_equal(saved(x)[1], np.full((2, 2), 0.5))


def has_avx512():
    try:
        wf.compile(np.negative, np.ones(3), target="avx512")
    except wf.errors.ArgumentValueError:
        return False
    return True


def test_a_file_for_several_kinds_of_cpu(tmp_path, monkeypatch):
    weights = np.random.default_rng(0).random((64, 3000), dtype=np.float32)
    x = np.random.default_rng(1).random((5, 64), dtype=np.float32)
    executable = wf.compile(lambda x: np.tanh(x @ weights), x)
    path, single = tmp_path / "all.weft", tmp_path / "one.weft"
    executable.save(path, targets=["x86-64", "avx512", "native", "avx2", "x86-64"])
    executable.save(single)
    # The weights are in it once.
    assert path.stat().st_size < single.stat().st_size + weights.nbytes / 2
    assert wf.load(path).target == "native"
    # On a CPU without AVX-512 native code is code for AVX2.
    for target in ("avx2", "x86-64") if has_avx512() else ("x86-64",):
        with wf.knobs(target=target):
            loaded = wf.load(path)
            assert loaded.target == target and not loaded.times
            np.testing.assert_allclose(loaded(x), np.tanh(x @ weights), rtol=1e-5)
            assert loaded(x).tobytes() == wf.compile(lambda x: np.tanh(x @ weights), x)(x).tobytes()
            # There is no code for it in this one, but its text.
            compiled = wf.load(single)
            assert compiled.target == target and compiled.times
            assert compiled(x).tobytes() == loaded(x).tobytes()
    # Who loaded it gives it further, for what it was made for or for less.
    wf.load(path).save(tmp_path / "again.weft")
    assert (tmp_path / "again.weft").read_bytes() == path.read_bytes()
    wf.load(path).save(tmp_path / "less.weft", targets=["x86-64"])
    least = wf.load(tmp_path / "less.weft")
    assert least.target == "x86-64"
    np.testing.assert_allclose(least(x), np.tanh(x @ weights), rtol=1e-5)
    with pytest.raises(wf.errors.ArgumentValueError, match="target must be"):
        executable.save(path, targets=["avx1024"])
    with pytest.raises(wf.errors.ArgumentTypeError, match="targets must be a sequence"):
        executable.save(path, targets="avx2")
    assert path.read_bytes() == (tmp_path / "again.weft").read_bytes()


def test_bytes_of_all_parts_of_a_file_count(tmp_path):
    path = tmp_path / "f.weft"
    # Constants, a reduction, and code in several pieces.
    weights = np.arange(21, dtype=np.float32).reshape(7, 3)
    executable = wf.compile(
        lambda x: (np.tanh(x @ weights) + np.array([1.5, 2.5, 3.5])).sum(axis=0), np.ones((2, 7), np.float32)
    )
    executable.save(path, targets=["x86-64", "avx2"])
    whole = path.read_bytes()
    # A prime step meets each part of it; `./dev fuzz --files` damages the others.
    for at in range(0, len(whole), 13):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(wf.errors.FileError, match="executable file"):
            wf.load(path)
    for size in range(0, len(whole), 13):
        path.write_bytes(whole[:size])
        with pytest.raises(OSError, match="executable file"):
            wf.load(path)
    for more in (b"\0", bytes(64), b"x" * 64):
        path.write_bytes(whole + more)
        with pytest.raises(OSError, match="executable file"):
            wf.load(path)
    with pytest.raises(OSError, match="No such file"):
        wf.load(tmp_path / "nowhere.weft")
    with pytest.raises(OSError, match="is no file"):
        wf.load(tmp_path)
    with pytest.raises(OSError, match="cannot be written"):
        wf.compile(lambda x: x, np.ones(3)).save(tmp_path / "nowhere" / "f.weft")
