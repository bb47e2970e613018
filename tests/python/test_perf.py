"""With WEFT_PERF perf names kernels, and knows their code and the user's lines."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """import os, numpy as np, weftwork as wf

def wave(x):
    y = x * 3
    return np.cos(y)

x = np.ones((1000, 700))
exe = wf.compile(wave, x)
for _ in range(200):
    exe(x)
print(os.getpid(), exe.kernels[0].name)
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model.py").write_text(PROGRAM)
    return tmp_path / "model.py"


def run(*command):
    environment = {**os.environ, "WEFT_PERF": "1", "WEFT_CACHE": "off", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, timeout=300)


def remove(process):
    for pattern in (f"perf-{process}.map", f"jit-{process}.dump", f"jitted-{process}-*.so"):
        for path in Path("/tmp").glob(pattern):
            path.unlink()


def records(dump):
    magic, version, head, machine, _, process, _, _ = struct.unpack_from("<6I2Q", dump)
    assert (magic, version, head, machine) == (0x4A695444, 1, 40, 62)
    at = head
    while at < len(dump):
        kind, size, _ = struct.unpack_from("<IIQ", dump, at)
        yield kind, process, dump[at + 16 : at + size]
        at += size
    assert at == len(dump)


def test_the_dump_has_names_code_and_lines(model):
    done = run(sys.executable, model)
    assert done.returncode == 0, done.stderr
    process, kernel = done.stdout.split()
    try:
        found = list(records(Path(f"/tmp/jit-{process}.dump").read_bytes()))
        names = {line.split(maxsplit=2)[2] for line in Path(f"/tmp/perf-{process}.map").read_text().splitlines()}
    finally:
        remove(process)
    lines, numbers = {}, []
    for kind, owner, body in found:
        assert owner == int(process)
        if kind == 2:
            address, count, at, line, _ = struct.unpack_from("<QQQII", body)
            assert count == 2 and at == address and body.endswith(b"\0")
            lines[address] = (body[32 : body.index(0, 32)].decode(), line)
        else:
            pid, _, vma, address, size, number = struct.unpack_from("<IIQQQQ", body)
            name, _, code = body[40:].partition(b"\0")
            assert kind == 0 and pid == owner and vma == address and len(code) == size > 0
            numbers.append(number)
            assert name.decode() in names
            if name.decode() == kernel:
                assert lines[address][0].endswith("model.py") and lines[address][1] == 5
    assert kernel in names and numbers == sorted(set(numbers))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("perf") is None, reason="there is no perf")
def test_perf_reads_it(model, tmp_path):
    recorded = run(
        "perf", "record", "-k", "mono", "-e", "cpu-clock", "-o", tmp_path / "run.data", sys.executable, model
    )
    if recorded.returncode != 0:
        pytest.skip("this system lets perf record nothing")
    process, kernel = recorded.stdout.split()
    try:
        injected = run("perf", "inject", "--jit", "-i", tmp_path / "run.data", "-o", tmp_path / "jit.data")
        assert injected.returncode == 0, injected.stderr
        report = run("perf", "report", "-i", tmp_path / "jit.data", "--stdio")
        script = run("perf", "script", "-i", tmp_path / "jit.data", "-F", "ip,sym,srcline")
    finally:
        remove(process)
    assert kernel in report.stdout
    assert "model.py:5" in script.stdout
