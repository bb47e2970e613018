"""Neuron devices, over a stand-in for the Neuron runtime's library (tests/runtime/stub_nrt.cpp): no hardware is needed."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf
from weftwork.errors import ArgumentTypeError, ArgumentValueError, ExecutionError, FileError, UnsupportedError

SOURCE = Path(__file__).parents[1] / "runtime" / "stub_nrt.cpp"
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
pytestmark = [
    pytest.mark.skipif(not COMPILER, reason="no C++ compiler for the stand-in"),
    pytest.mark.usefixtures("few_objects"),
]

SUM = b"toy\nin input0 10 2 3\nin input1 10 2 3\nout output0 10 2 3\nadd output0 input0 input1\n"
X, Y = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), 10, np.float32)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("neuron") / "libnrt.so.1"
    subprocess.run([str(COMPILER), "-std=c++20", "-O1", "-shared", "-fPIC", str(SOURCE), "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def runtime(library: Path) -> Iterator[ctypes.CDLL]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_LIBNRT", str(library))
        wf.Device("neuron:0")
    stub = ctypes.CDLL(str(library))
    stub.stub_nrt_left.restype = stub.stub_nrt_executed.restype = ctypes.c_int64
    yield stub


@pytest.fixture
def neff(tmp_path: Path) -> Path:
    path = tmp_path / "model.neff"
    path.write_bytes(SUM)
    return path


def test_each_visible_core_is_a_device(runtime: ctypes.CDLL) -> None:
    assert [d.name for d in wf.devices() if d.kind == "neuron"] == ["neuron:0", "neuron:1"]
    assert wf.Device("neuron").index == 0 and wf.Device("neuron:1").kind == "neuron"
    with pytest.raises(ArgumentValueError, match=r"'neuron:2'.*neuron:0.*neuron:1"):
        wf.Device("neuron:2")


def test_buffers_there_are_copied_to_and_fro(runtime: ctypes.CDLL) -> None:
    device = wf.Device("neuron:1")
    buffer = wf.Buffer(X, device=device)
    assert buffer.device == device and np.array_equal(buffer.to("cpu").numpy(), X)
    assert np.array_equal(buffer[1:].to("cpu").numpy(), X[1:]) and np.array_equal(
        buffer.reshape(3, 2).to("cpu:1").numpy(), X.reshape(3, 2)
    )
    buffer[1].copy_from(Y[1])
    assert np.array_equal(buffer.to("neuron:0").to("cpu").numpy(), [X[0], Y[1]])
    assert buffer.__dlpack_device__() == (18, 1) and device.memory["in_use"] > 0
    assert np.array_equal(np.from_dlpack(buffer, device="cpu"), [X[0], Y[1]])
    for refused in (
        buffer.numpy,
        buffer.__dlpack__,
        lambda: memoryview(buffer),
        lambda: buffer.__dlpack__(dl_device=(1, 0), copy=False),
    ):
        with pytest.raises((ArgumentTypeError, BufferError)):
            refused()
    device.memory_limit = device.memory["in_use"] + 1024
    with pytest.raises(ExecutionError, match="may be"):
        wf.Buffer((1024,), np.float32, device=device)
    device.memory_limit = 0
    with pytest.raises(ExecutionError, match="out_of_memory"):
        wf.Buffer((1 << 31,), np.uint8, device=device)


@pytest.mark.parametrize("core", [0, 1])
def test_a_neff_runs_like_any_executable(runtime: ctypes.CDLL, neff: Path, core: int) -> None:
    device = wf.Device(f"neuron:{core}")
    program = wf.load(neff, device=device)
    assert [(io.name, io.dtype, io.shape) for io in program.inputs] == [
        (f"input{i}", np.float32, (2, 3)) for i in (0, 1)
    ]
    assert (
        program.device == device
        and program.target == "neuron"
        and program.kernels == []
        and program.memory["code"] == 0
    )
    assert np.array_equal(program(X, Y), X + Y) and np.array_equal(program(X.T.copy().T, Y[::-1]), X + Y)
    result = program(wf.Buffer(X, device=device), wf.Buffer(Y, device=device))
    assert result.device == device and np.array_equal(result.to("cpu").numpy(), X + Y)
    both = wf.Buffer(np.stack([X, Y]), device=device)
    assert np.array_equal(program(both[0], both[1]).to("cpu").numpy(), X + Y)
    assert np.array_equal(program.run_async(X, Y).wait(), X + Y)
    assert program.benchmark(iters=3)["min"] > 0
    with pytest.raises(ArgumentTypeError, match="f32"):
        program(X.astype(float), Y)
    with pytest.raises(ArgumentValueError, match="shape"):
        program(X[:1], Y)
    with pytest.raises(ArgumentTypeError, match="inputs"):
        program(X)
    with pytest.raises(UnsupportedError, match="saved as its NEFF"):
        program.save(neff)


def test_inputs_go_by_the_numbers_in_their_names(runtime: ctypes.CDLL, tmp_path: Path) -> None:
    path = tmp_path / "many.neff"
    path.write_bytes(
        b"toy\n"
        + b"".join(b"in input%d 10 %d\n" % (i, i + 1) for i in (10, 2, 0, 1))
        + b"out output0 10 3\ncopy output0 input2\n"
    )
    program = wf.load(path, device="neuron:0")
    assert [io.name for io in program.inputs] == ["input0", "input1", "input2", "input10"]
    assert program(*(np.full(n, n, np.float32) for n in (1, 2, 3, 11))).tolist() == [3, 3, 3]


CALLS = {
    "nrt_load": (4, "NRT_RESOURCE"),
    "nrt_get_model_tensor_info": (3, "NRT_INVALID_HANDLE"),
    "nrt_tensor_allocate": (6, "NRT_HW_ERROR"),
    "nrt_tensor_allocate_slice": (2, "NRT_INVALID"),
    "nrt_tensor_write": (1, "NRT_FAILURE"),
    "nrt_tensor_read": (5, "NRT_TIMEOUT"),
    "nrt_allocate_tensor_set": (4, "NRT_RESOURCE"),
    "nrt_add_tensor_to_tensor_set": (2, "NRT_INVALID"),
    "nrt_execute": (1202, "NRT_EXEC_HW_ERR_NC_UE"),
}


@pytest.mark.parametrize("call", CALLS)
def test_errors_name_the_call_and_its_status(
    runtime: ctypes.CDLL, neff: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    status, name = CALLS[call]
    device = wf.Device("neuron:0")
    gc.collect()
    device.release_unused()
    left = runtime.stub_nrt_left()
    program = wf.load(neff, device=device)
    device.release_unused()
    monkeypatch.setenv("STUB_NRT_FAIL", f"{call}:{status}")
    with pytest.raises(ExecutionError, match=rf"{call} ended with {name} \({status}\).*\[neuron_call\]"):
        wf.load(neff, device=device)(X, Y)
    monkeypatch.setenv("STUB_NRT_FAIL", f"{call}:4242")
    if call not in ("nrt_load", "nrt_get_model_tensor_info"):
        with pytest.raises(ExecutionError, match=rf"{call} ended with an unknown status \(4242\)"):
            program(X, Y)
    monkeypatch.delenv("STUB_NRT_FAIL")
    assert np.array_equal(program(X, Y), X + Y)
    del program
    gc.collect()
    device.release_unused()
    assert runtime.stub_nrt_left() == left


def test_what_is_no_neff_is_refused(runtime: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.neff"
    path.write_bytes(b"something")
    with pytest.raises(ExecutionError, match="NRT_UNSUPPORTED_NEFF_VERSION"):
        wf.load(path, device="neuron:0")
    path.write_bytes(b"toy\nin a 99 2\n")
    with pytest.raises(FileError, match="unknown kind, 99"):
        wf.load(path, device="neuron:0")
    path.write_bytes(SUM)
    monkeypatch.setenv("STUB_NRT_LIE", "1")
    with pytest.raises(FileError, match="has 25 bytes, its shape asks for 24"):
        wf.load(path, device="neuron:0")
    with pytest.raises(OSError):
        wf.load(tmp_path / "absent.neff", device="neuron:0")


def test_threads_run_on_both_cores(runtime: ctypes.CDLL, neff: Path) -> None:
    programs = [wf.load(neff, device=f"neuron:{core}") for core in (0, 1)]
    executed = runtime.stub_nrt_executed()
    wrong: list[Any] = []

    def work(i: int) -> None:
        for k in range(200):
            result = programs[i % 2](X * k, Y)
            if not np.array_equal(result, X * k + Y):
                wrong.append(result)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and runtime.stub_nrt_executed() - executed == 1600


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for neuronx-cc that "compiles" to what lies beside it."""
    file = tmp_path / "bin" / "neuronx-cc"
    file.parent.mkdir()
    file.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nwords = sys.argv[1:]\n"
        "output = words[words.index('--output') + 1]\n"
        "pathlib.Path(output).write_bytes((pathlib.Path(__file__).parent / 'model').read_bytes())\n"
    )
    file.chmod(0o755)
    monkeypatch.setenv("WEFT_NEURONX_CC", str(file))
    monkeypatch.delenv("WEFT_TARGET", raising=False)
    return file.parent / "model"


def test_functions_are_compiled_for_a_device(runtime: ctypes.CDLL, compiler: Path, tmp_path: Path) -> None:
    compiler.write_bytes(SUM)
    f = wf.jit(lambda x, y: x + y, device="neuron")
    assert np.array_equal(f(X, Y), X + Y) and f.executables[0].device.name == "neuron:0"
    assert [io.name for io in f.executables[0].inputs] == ["x", "y"]
    program = wf.compile(lambda x, y: x + y, X, Y, device="neuron:1")
    assert np.array_equal(program(X, Y), X + Y) and program.device.name == "neuron:1"
    wf.compile(lambda x, y: x + y, X, Y).save(tmp_path / "f.weft")
    assert np.array_equal(wf.load(tmp_path / "f.weft", device="neuron:0")(X, Y), X + Y)
    compiler.write_bytes(SUM.replace(b"2 3", b"2 4"))
    with pytest.raises(FileError, match=r"'x' is f32\[?\(?2, 3.*neff_signature"):
        wf.compile(lambda x, y: x + y, X, Y, device="neuron:1")
    compiler.write_bytes(SUM.replace(b"in input1 10 2 3\n", b""))
    with pytest.raises(FileError, match="2 inputs or outputs where its NEFF has 1"):
        wf.compile(lambda x, y: x + y, X, Y, device="neuron:1")


def test_what_is_written_in_place_comes_back(runtime: ctypes.CDLL, compiler: Path) -> None:
    compiler.write_bytes(SUM)

    def add(x: Any, y: Any) -> Any:
        x += y
        return x

    program, x = wf.compile(add, X, Y, device="neuron:0"), X.copy()
    assert program(x, Y) is x and np.array_equal(x, X + Y)
    turned = np.asfortranarray(X)
    assert program(turned, Y) is turned and np.array_equal(turned, X + Y)
    there = wf.Buffer(X, device="neuron:0")
    assert program(there, wf.Buffer(Y, device="neuron:0")) is there and np.array_equal(there.to("cpu").numpy(), X + Y)


def run(code: str, **environment: str) -> str:
    code = (
        "import numpy as np, weftwork as wf\ntry:\n    print(wf.Device('neuron:0'), flush=True)\nexcept wf.Error as error:\n    print(error)\n"
        + code
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_missing_or_broken_runtime_is_said(library: Path, tmp_path: Path) -> None:
    environment = {"WEFT_LIBNRT": str(library)}
    assert "cannot be loaded" in run("", WEFT_LIBNRT=str(tmp_path / "none.so")) and "WEFT_LIBNRT" in run(
        "", WEFT_LIBNRT="libnone.so.7"
    )
    assert "has no nrt_init  [neuron_runtime]" in run("", WEFT_LIBNRT="libm.so.6")
    assert "nrt_init ended with NRT_FAILURE (1)" in run("", STUB_NRT_FAIL="nrt_init:1", **environment)
    log = tmp_path / "log"
    for what, failing in (
        ("ended with NRT_UNINITIALIZED (13)", {"STUB_NRT_FAIL": "nrt_get_visible_vnc_count:13"}),
        ("shows no core", {"STUB_NRT_CORES": "0"}),
    ):
        assert what in run("", STUB_NRT_LOG=str(log), **failing, **environment)
        assert log.read_text() == "closed\n"
        log.unlink()
    assert "Device('neuron:0')\n4" in run(
        "print(len([d for d in wf.devices() if d.kind == 'neuron']))", STUB_NRT_CORES="4", **environment
    )


def test_the_runtime_is_closed_at_the_end_and_left_alone_by_children(library: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = """
import os
kept = wf.Buffer(np.ones(3), device="neuron:0")
if os.fork() == 0:
    try:
        kept.to("cpu")
    except wf.errors.ExecutionError as error:
        print(error.label, flush=True)
    del kept
    os._exit(0)
os.wait()
print(kept.to("cpu").numpy())
"""
    assert run(code, WEFT_LIBNRT=str(library), STUB_NRT_LOG=str(log)) == "Device('neuron:0')\nforked\n[1. 1. 1.]\n"
    assert log.read_text() == "closed\n"
