"""The compiler library as a C++ program uses it: installed, found, linked; the examples and the page's programs run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import weftwork as wf
from weftwork import _core

ROOT = Path(__file__).parents[2]
BUILD = Path(_core.__file__).resolve().parents[1]
PAGE = ROOT / "docs/cpp.md"
PROGRAMS = re.findall(r"^```cpp\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
pytestmark = [
    pytest.mark.skipif(not (BUILD / "lib/libweft.so").exists(), reason="the shared libraries were not built"),
    pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake"),
    # The C++ tests of tests/frontend run under sanitizers.
    pytest.mark.skipif(
        "asan" in os.environ.get("LD_PRELOAD", ""), reason="programs without sanitizers cannot load the library"
    ),
]


def run(*command, cwd=None, check=True):
    clean = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, cwd=cwd, env=clean)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout if check else done


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder with the examples and the page's programs, built against an installed tree."""
    folder = tmp_path_factory.mktemp("cpp")
    run("cmake", "--install", BUILD, "--prefix", folder / "installed")
    lines = (ROOT / "examples/cpp/CMakeLists.txt").read_text().replace(" ../c/", f" {ROOT}/examples/c/")
    for source in (ROOT / "examples/cpp").glob("*.cpp"):
        shutil.copy(source, folder)
    for i, program in enumerate(PROGRAMS):
        (folder / f"page{i}.cpp").write_text(program)
        lines += f"add_executable(page{i} page{i}.cpp)\ntarget_link_libraries(page{i} PRIVATE weftwork::weft)\n"
    shutil.copy(ROOT / "tests/frontend/many_shapes.cpp", folder)
    lines += "add_executable(many_shapes many_shapes.cpp)\ntarget_link_libraries(many_shapes PRIVATE weftwork::weft)\n"
    (folder / "CMakeLists.txt").write_text(lines)
    flags = "-Wall -Wextra -Wconversion -Werror"
    run(
        "cmake",
        "-S",
        folder,
        "-B",
        folder / "build",
        f"-DCMAKE_PREFIX_PATH={folder}/installed",
        f"-DCMAKE_CXX_FLAGS={flags}",
    )
    pages = [f"page{i}" for i in range(len(PROGRAMS))]
    run("cmake", "--build", folder / "build", "--target", "jit", "mlp", "many_shapes", "serve", "run_c", *pages)
    return folder / "build"


def test_the_programs_of_the_page_run(programs, tmp_path):
    assert len(PROGRAMS) == 3
    assert run(programs / "page0", cwd=tmp_path) == "0.731\n[[false  true]\n [false  true]]\n"
    run(programs / "page1", cwd=tmp_path)
    run(programs / "page2", cwd=tmp_path)


def test_what_cpp_saves_python_loads(programs, tmp_path):
    (tmp_path / "page").mkdir()
    w = np.array([[0.5, -1, 0.25], [2, 0, 1]], np.float32)
    assert (
        run(programs / "jit", cwd=tmp_path).splitlines()[-1]
        == f"layer gives 3 rows, the first begins with {np.tanh(2.5):.4f}"
    )
    exe = wf.load(tmp_path / "layer.weft")
    x = np.arange(10, dtype=np.float32).reshape(5, 2) / 10
    np.testing.assert_allclose(exe(x), np.tanh(x @ w), rtol=1e-6)
    assert exe.inputs[0].name == "x"
    assert any("jit.cpp" in kernel.source for kernel in exe.kernels)
    # And what runs any file runs these.
    run(programs / "page2", cwd=tmp_path / "page")
    for path in (tmp_path / "layer.weft", tmp_path / "page" / "layer.weft"):
        assert "0 differ" in run(programs / "serve", path, 100, "n=7")
        assert "output 0: f32" in run(programs / "run_c", path, "n=7")


def trained(parts, steps):
    """What mlp.cpp does, in NumPy."""
    w1, b1, w2, b2 = parts
    place = np.arange(256, dtype=np.float32).reshape(256, 1)
    x = np.concatenate([np.sin(place * np.float32(0.37)), np.cos(place * np.float32(0.73))], 1)
    y = x[:, :1] * x[:, 1:]
    losses = []
    for step in range(steps + 1):
        h = np.tanh(x @ w1 + b1)
        error = h @ w2 + b2 - y
        if step % 500 == 0:
            losses.append(float((error * error).mean()))
        d = error * np.float32(2 / 256)
        dh = (d @ w2.T) * (1 - h * h)
        rate = np.float32(0.1)
        w1, b1, w2, b2 = w1 - rate * (x.T @ dh), b1 - rate * dh.sum(0), w2 - rate * (h.T @ d), b2 - rate * d.sum(0)
    return losses


def test_a_network_of_a_file_trains_as_in_numpy(programs, tmp_path):
    rng = np.random.default_rng(0)
    parts = [rng.normal(0, 0.5, shape).astype(np.float32) for shape in ((2, 32), 32, (32, 1), 1)]
    (tmp_path / "weights.bin").write_bytes(b"".join(part.tobytes() for part in parts))
    out = run(programs / "mlp", tmp_path / "weights.bin")
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", out)]
    assert losses == pytest.approx(trained(parts, 2000), rel=0.02, abs=2e-5)
    assert losses[-1] < losses[0] / 10
    assert run(programs / "mlp", tmp_path / "none.bin", check=False).returncode == 1


@pytest.mark.slow
def test_memory_is_flat_over_shapes_without_end(programs):
    assert int(run("env", "WEFT_CACHE=off", "WEFT_THREADS=1", programs / "many_shapes")) < 1024
