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
    assert (loaded.inputs, loaded.outputs, loaded.kernels, loaded.cuts) == (saved.inputs, saved.outputs, saved.kernels, saved.cuts)
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
    run = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "f.weft")], capture_output=True, text=True, check=True)
    np.testing.assert_allclose([float(word) for word in run.stdout.split()], np.exp(np.arange(3.0)) + np.arange(3))


def test_every_byte_of_a_file_counts(tmp_path):
    path = tmp_path / "f.weft"
    wf.compile(lambda x: x + np.array([1.5, 2.5, 3.5]), np.ones(3)).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    places = {*range(200), *rng.integers(len(whole), size=600).tolist(), len(whole) - 1}
    found = 0
    for at in sorted(places):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            result = wf.load(path)(np.zeros(3))
        except OSError as error:
            assert "executable file" in str(error)
            found += 1
        else:
            assert result.tolist() == [1.5, 2.5, 3.5]
    assert found > len(places) * 0.8
    for size in [*range(0, 200, 7), *rng.integers(len(whole), size=100).tolist()]:
        path.write_bytes(whole[:size])
        with pytest.raises(OSError, match="executable file"):
            wf.load(path)
    with pytest.raises(OSError, match="No such file"):
        wf.load(tmp_path / "nowhere.weft")
    with pytest.raises(OSError, match="is no file"):
        wf.load(tmp_path)
    with pytest.raises(OSError, match="cannot be written"):
        wf.compile(lambda x: x, np.ones(3)).save(tmp_path / "nowhere" / "f.weft")
