"""With WEFT_DEBUG gdb stops in kernels by the user's line and names them; without, it knows nothing of them."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import weftwork as wf

PROGRAM = """import numpy as np, weftwork as wf

def wave(x):
    y = x * 3
    return np.cos(y)

x = np.ones((100, 7))
wf.compile(wave, x)(x)
"""
COMMANDS = """set breakpoint pending on
set confirm off
set pagination off
set debuginfod enabled off
break model.py:5
break model.py:4
run
bt 2
continue
bt 2
kill
quit
"""


@pytest.mark.skipif(shutil.which("gdb") is None, reason="there is no gdb")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="gdb would be run with AddressSanitizer itself")
@pytest.mark.parametrize("debug", ["1", "0"])
def test_gdb_stops_in_a_kernel_by_the_line_of_python(debug, tmp_path):
    (tmp_path / "model.py").write_text(PROGRAM)
    (tmp_path / "commands").write_text(COMMANDS)
    env = {**os.environ, "WEFT_DEBUG": debug, "WEFT_CACHE": "off", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [
        "gdb",
        "-q",
        "-batch",
        "-nx",
        "-x",
        tmp_path / "commands",
        "--args",
        sys.executable,
        tmp_path / "model.py",
    ]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)
    if "ptrace" in run.stderr:
        pytest.skip("this system lets no debugger in")
    stopped = [line for line in run.stdout.splitlines() if line.startswith("#0")]
    assert bool(stopped) == (debug == "1"), run.stdout + run.stderr
    if stopped:
        # Both are lines of one kernel: that of what it stores, and that of an operation fused into it.
        assert all("cosine" in line for line in stopped)
        assert "model.py:4" in stopped[0] and "model.py:5" in stopped[1]


def test_programs_with_lines_compute_the_same():
    w = np.random.default_rng(0).random((70, 90), dtype=np.float32)

    def model(x):
        y = np.tanh(x @ w)
        for i in wf.range(9):
            y = np.sort(y * i, axis=-1)
        return y - y.max(axis=1, keepdims=True), np.where(y > 0, y, x.sum())

    x = np.random.default_rng(1).random((33, 70), dtype=np.float32)
    wanted = wf.compile(model, x)(x)
    with wf.knobs(debug=True):
        found = wf.compile(model, x)(x)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))
