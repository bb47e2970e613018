"""Devices, buffers and runs that go on by themselves: what is shared, what is copied, what is refused, and what lives how long."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork.errors import ArgumentTypeError, ArgumentValueError, ExecutionError, OutOfBoundsError

pytestmark = pytest.mark.usefixtures("few_objects")

DTYPES = [
    *(np.dtype(t) for t in "?bBhHiIlLefdFD"),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2),
    np.dtype(ml_dtypes.int4),
]


def sample(dtype: Any, shape: Any = (3, 4)) -> np.ndarray:
    return (np.arange(np.prod(shape, dtype=int)) % 5).reshape(shape).astype(dtype)


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


@pytest.fixture(scope="module")
def double() -> wf.Executable:
    return wf.compile(lambda x: x * 2, wf.spec((4,), np.float32))


@pytest.fixture(scope="module")
def slow() -> wf.Executable:
    """A run of some hundred milliseconds, most of it a chain that threads do not help."""

    def chain(x: Any) -> Any:
        for _ in wf.range(3_000_000):
            x = np.cos(x)
        return x

    return wf.compile(chain, wf.spec((4,), np.float64))


def test_devices_have_names_statistics_and_limits() -> None:
    device = wf.Device("cpu:5")
    assert (device.name, device.kind, device.index, repr(device)) == ("cpu:5", "cpu", 5, "Device('cpu:5')")
    assert (
        device == wf.Device("cpu:5") and device != wf.Device() and len({device, wf.Device("cpu:5"), wf.Device()}) == 2
    )
    assert (
        wf.devices()[0] == wf.Device("cpu") and device in wf.devices() and pickle.loads(pickle.dumps(device)) == device
    )
    buffer = wf.Buffer((1 << 18,), np.float32, device=device)
    assert device.memory["in_use"] == buffer.nbytes == 1 << 20 and device.memory["allocations"] == 1
    del buffer
    assert device.memory["in_use"] == 0 and device.memory["kept"] == device.memory["peak"] == 1 << 20
    device.release_unused()
    assert device.memory["kept"] == 0
    device.memory_limit = 1000
    assert device.memory_limit == device.memory["limit"] == 1000
    with pytest.raises(ExecutionError, match="of 1000 that may be"):
        wf.Buffer((1000,), np.float64, device="cpu:5")
    device.memory_limit = 0
    device.synchronize()
    for wrong in ("gpu", "cpu:x", "cpu:-1", "cpu:1024", ""):
        with pytest.raises(ArgumentValueError):
            wf.Device(wrong)
    with pytest.raises(ArgumentTypeError, match="a Device or its name"):
        wf.Device(3)


def test_large_results_that_are_arrays_are_memory_of_their_device() -> None:
    device, other = wf.Device("cpu:20"), wf.Device("cpu:21")
    double, x = wf.jit(lambda x: x * 2, device=device), np.ones(1 << 20, np.float32)
    before = other.memory["in_use"]
    result, second = double(x), double(x)
    assert device.memory["in_use"] == 2 * x.nbytes and other.memory["in_use"] == before
    address = second.ctypes.data
    del second
    assert device.memory["in_use"] == device.memory["kept"] == x.nbytes
    third = double(x)
    assert third.ctypes.data == address and device.memory["kept"] == 0
    device.memory_limit = 3 * x.nbytes
    fourth = double(x)
    with pytest.raises(ExecutionError, match=f"no memory for {x.nbytes} bytes") as caught:
        double(x)
    assert caught.value.label == "out_of_memory"
    with pytest.raises(MemoryError):
        fourth.resize(1 << 22)
    assert fourth.shape == (1 << 20,) and fourth[-1] == 2
    device.memory_limit = 0
    fourth.resize(1 << 21)
    assert fourth[(1 << 20) - 1] == 2 and fourth[1 << 20] == 0
    result.dtype = np.uint8
    del result, third, fourth
    assert device.memory["in_use"] == 0
    device.release_unused()
    assert device.memory["kept"] == 0


def test_memory_of_independent_turns_is_their_device_s() -> None:
    def sums(x):
        out = np.zeros((100, 100))
        for i in range(100):
            out[i] = np.sort(x[i] * x).sum(axis=0)
        return out

    device, first = wf.Device("cpu:23"), wf.Device()
    x = np.random.default_rng(0).normal(size=(100, 100))
    before = first.memory["in_use"]
    np.testing.assert_allclose(wf.jit(sums, device=device)(x), sums(x))
    assert device.memory["in_use"] >= x.nbytes and first.memory["in_use"] <= before


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_of_numpy_are_shared_both_ways(dtype: np.dtype) -> None:
    array = sample(dtype)
    buffer = wf.Buffer(array)
    assert (buffer.shape, buffer.dtype, buffer.nbytes, buffer.device.name) == ((3, 4), dtype, array.nbytes, "cpu:0")
    back = buffer.numpy()
    assert back.dtype == dtype and address(back) == address(array) and back.base is buffer and back.flags.writeable
    assert np.array_equal(back, array)
    back[0, 0] = 1
    assert array[0, 0] == 1
    assert np.array_equal(np.asarray(buffer), array) and np.array_equal(np.array(buffer, copy=True), array)
    assert str(dtype) in repr(buffer)


def test_the_buffer_protocol_is_that_of_numpy() -> None:
    for dtype in DTYPES:
        array = sample(dtype)
        try:
            theirs = memoryview(array)
        except (ValueError, BufferError) as error:
            with pytest.raises(type(error)):
                memoryview(wf.Buffer(array))
            continue
        ours = memoryview(wf.Buffer(array))
        assert (ours.format, ours.shape, ours.strides, ours.readonly) == (
            theirs.format,
            theirs.shape,
            theirs.strides,
            False,
        )
        assert ours.tobytes() == theirs.tobytes()
    memory = bytearray(b"abcdef")
    buffer = wf.Buffer(memory)
    buffer.numpy()[0] = ord("z")
    assert memory == b"zbcdef" and buffer.dtype == np.uint8
    assert not wf.Buffer(b"abc").writable and memoryview(wf.Buffer(b"abc")).readonly
    with pytest.raises(TypeError):
        memoryview(wf.Buffer(b"abc"))[0] = 1


def test_read_only_is_kept() -> None:
    array = sample(np.float32)
    array.flags.writeable = False
    buffer = wf.Buffer(array)
    assert (
        not buffer.writable
        and not buffer.numpy().flags.writeable
        and not buffer[1:].writable
        and "read-only" in repr(buffer)
    )
    with pytest.raises(ArgumentValueError, match="must not be written"):
        buffer.copy_from(np.zeros((3, 4), np.float32))
    with pytest.raises(BufferError, match="DLPack 1"):
        buffer.__dlpack__()
    assert not np.from_dlpack(buffer).flags.writeable
    assert wf.Buffer(array, copy=True).writable

    def fill(x: Any) -> Any:
        x[:] = 1
        return x

    with pytest.raises(ArgumentValueError, match="written"):
        wf.compile(fill, np.zeros((3, 4), np.float32))(buffer)


def test_what_is_not_dense_is_copied_or_refused_as_one_likes() -> None:
    array = sample(np.int32, (4, 6))
    unaligned = np.frombuffer(bytearray(41), np.uint8)[1:].view(np.int32)
    for other in (
        array.T,
        array[:, ::2],
        array[::-1],
        array.astype(">i4"),
        unaligned,
        np.broadcast_to(array[:1], (4, 6)),
    ):
        buffer = wf.Buffer(other)
        assert np.array_equal(buffer.numpy(), other) and buffer.dtype == np.int32 and buffer.writable
        assert not np.shares_memory(buffer.numpy(), other)
        assert np.array_equal(wf.Buffer(other, copy=True).numpy(), other)
        with pytest.raises(ArgumentValueError, match="must be copied"):
            wf.Buffer(other, copy=False)
    assert address(wf.Buffer(array, copy=False).numpy()) == address(array)
    assert not np.shares_memory(wf.Buffer(array, copy=True).numpy(), array)
    buffer = wf.Buffer(array)
    assert wf.Buffer(buffer).numpy().ctypes.data == address(array) and wf.Buffer(
        buffer, copy=True
    ).numpy().ctypes.data != address(array)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0, 2), (1, 1)], ids=str)
def test_no_dimensions_and_no_elements(shape: tuple[int, ...]) -> None:
    array = np.ones(shape, np.float32)
    for buffer in (wf.Buffer(array), wf.Buffer(shape, np.float32), wf.Buffer(np.from_dlpack(wf.Buffer(array)))):
        assert buffer.shape == buffer.numpy().shape == np.from_dlpack(buffer).shape == shape
        assert buffer.nbytes == array.nbytes and memoryview(buffer).shape == shape
    run = wf.compile(lambda x: x + 1, array)
    assert np.array_equal(run(wf.Buffer(array)).numpy(), array + 1)


def test_parts_and_other_shapes_share_memory() -> None:
    array = sample(np.float64, (5, 4))
    buffer = wf.Buffer(array)
    for index in (slice(1, 3), slice(None), slice(-2, None), slice(4, 2), slice(0, 100), 2, -1, np.int64(0)):
        assert np.array_equal(buffer[index].numpy(), array[index])
    assert address(buffer[3].numpy()) == address(array[3]) and buffer[3].shape == (4,)
    assert buffer.reshape(2, -1).shape == buffer.reshape((2, 10)).shape == (2, 10) and buffer.reshape(20)[7].shape == ()
    assert address(buffer.reshape(-1).numpy()) == address(array) and len(buffer) == 5 and len(list(buffer)) == 5
    for wrong in (5, -6, 1 << 70, slice(0, 4, 2), (0, 1), "x", None):
        with pytest.raises(OutOfBoundsError):
            buffer[wrong]
    for shape in ((3, -1), (-1, -1), (21,), (-2, -10)):
        with pytest.raises(ArgumentValueError):
            buffer.reshape(shape)
    with pytest.raises(TypeError):
        len(wf.Buffer((), np.int8))
    kept = buffer[2]
    address_of_array = weakref.ref(array)
    del array, buffer
    gc.collect()
    assert address_of_array() is not None and kept.numpy()[0] == 3
    del kept
    gc.collect()
    assert address_of_array() is None


def test_what_does_not_fit_is_an_error_of_its_kind(double: wf.Executable) -> None:
    buffer = wf.Buffer(np.ones(4, np.float32))
    with pytest.raises(ArgumentValueError, match=r"no device '\\udc80'"):
        wf.Device("\udc80")
    for copies in (
        lambda: buffer.__dlpack__(copy=3),
        lambda: wf.Buffer(buffer, copy=3),
        lambda: wf.Buffer(np.ones(4), copy="no"),
    ):
        with pytest.raises(ArgumentTypeError, match="copy must be True, False or None, got"):
            copies()
    for shape in (lambda: wf.Buffer((1 << 70,), np.float32), lambda: buffer.reshape(1 << 70)):
        with pytest.raises(ArgumentValueError, match="an integer of 64 bits was wanted, got 1180591620717411303424"):
            shape()
    for count in ("1", 1.5):
        with pytest.raises(ArgumentTypeError, match="iters and warmup must be integers"):
            double.benchmark(buffer, iters=count)
    with pytest.raises(ArgumentValueError, match="below 2"):
        double.profile(buffer, iters=1 << 31)
    with pytest.raises(ArgumentTypeError, match="target must be a name such as 'avx2', got int"):
        wf.compile(np.tanh, np.ones(3), target=3)


def test_copies_between_devices_and_within_one() -> None:
    array = sample(np.float32)
    buffer = wf.Buffer(array).to("cpu:1")
    assert (
        buffer.device.name == "cpu:1"
        and np.array_equal(buffer.numpy(), array)
        and not np.shares_memory(buffer.numpy(), array)
    )
    assert wf.Buffer(array, device="cpu:2").device == wf.Device("cpu:2") and wf.Buffer(buffer).device.name == "cpu:1"
    with pytest.raises(ArgumentValueError, match="must be copied"):
        wf.Buffer(buffer, device="cpu:0", copy=False)
    buffer.copy_from(array + 1)
    assert np.array_equal(buffer.numpy(), array + 1)
    line = wf.Buffer(np.arange(10.0))
    line[2:].copy_from(line[:8])  # overlapping: as if by way of another place
    assert line.numpy().tolist() == [0, 1, 0, 1, 2, 3, 4, 5, 6, 7]
    for wrong in (np.zeros(12, np.float32), np.zeros((3, 4)), np.zeros((4, 3), np.float32)):
        with pytest.raises((ArgumentTypeError, ArgumentValueError)):
            buffer.copy_from(wrong)
    again = pickle.loads(pickle.dumps(buffer))
    assert np.array_equal(again.numpy(), array + 1) and again.device.name == "cpu:0"
    assert np.array_equal(copy.deepcopy(buffer).numpy(), array + 1)


def test_what_is_no_array_is_refused() -> None:
    for wrong in (
        [1, 2],
        3,
        None,
        "text",
        {"a": 1},
        np.array(["a"]),
        np.array([object()]),
        np.zeros(2, "datetime64[s]"),
    ):
        with pytest.raises(ArgumentTypeError):
            wf.Buffer(wrong)
    with pytest.raises(ArgumentValueError):
        wf.Buffer((2, -1), np.float32)
    with pytest.raises(ArgumentValueError):
        wf.Buffer((1 << 62, 4), np.float32)


TORCH = [t for t in DTYPES if t not in (np.dtype(ml_dtypes.int4),)]


@pytest.mark.parametrize("dtype", TORCH, ids=str)
def test_tensors_of_torch_are_shared_both_ways(dtype: np.dtype) -> None:
    torch = pytest.importorskip("torch")
    ours = wf.Buffer(sample(dtype))
    tensor = torch.from_dlpack(ours)
    assert tensor.data_ptr() == address(ours.numpy()) and tensor.shape == (3, 4)
    back = wf.Buffer(tensor)
    assert (
        back.dtype == dtype
        and address(back.numpy()) == tensor.data_ptr()
        and np.array_equal(back.numpy(), ours.numpy())
    )
    moved = wf.Buffer(tensor.t())
    assert np.array_equal(moved.numpy(), ours.numpy().T) and address(moved.numpy()) != tensor.data_ptr()
    with pytest.raises(ArgumentValueError, match="must be copied"):
        wf.Buffer(tensor.t(), copy=False)
    assert address(wf.Buffer(tensor, copy=True).numpy()) != tensor.data_ptr()


def test_torch_writes_what_we_read() -> None:
    torch = pytest.importorskip("torch")
    buffer = wf.Buffer((4,), np.float32)
    tensor = torch.from_dlpack(buffer)
    tensor[:] = 5
    assert buffer.numpy().tolist() == [5.0] * 4 and buffer.writable
    with pytest.raises(Exception, match="grad"):
        wf.Buffer(torch.ones(3, requires_grad=True))
    kept = wf.Buffer(torch.arange(1000))
    gc.collect()
    assert kept.numpy().sum() == 499500
    del buffer
    gc.collect()
    assert tensor.sum() == 20


@pytest.mark.parametrize("dtype", [t for t in TORCH if t.itemsize < 8 and t != np.complex128], ids=str)
def test_arrays_of_jax_are_read_and_ours_by_jax(dtype: np.dtype) -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.asarray(sample(dtype))
    buffer = wf.Buffer(theirs)
    assert buffer.dtype == dtype and np.array_equal(buffer.numpy(), sample(dtype))
    back = jax.dlpack.from_dlpack(wf.Buffer(sample(dtype)))
    assert back.dtype == dtype and np.array_equal(np.asarray(back), sample(dtype))


class Producer:
    """An object with __dlpack__ alone, of the time before version 1."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Elsewhere(Producer):
    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def test_dlpack_as_the_array_api_has_it() -> None:
    array = sample(np.float32)
    buffer = wf.Buffer(array)
    assert buffer.__dlpack_device__() == (1, 0)
    assert '"dltensor_versioned"' in repr(buffer.__dlpack__(max_version=(1, 0))) and '"dltensor"' in repr(
        buffer.__dlpack__(max_version=(0, 8))
    )
    assert '"dltensor"' in repr(buffer.__dlpack__())
    assert address(np.from_dlpack(buffer)) == address(array) and address(np.from_dlpack(buffer, copy=True)) != address(
        array
    )
    assert address(np.from_dlpack(buffer, device="cpu", copy=False)) == address(array)
    with pytest.raises(BufferError):
        buffer.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ArgumentValueError):
        buffer.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        wf.Buffer(sample(ml_dtypes.int4)).__dlpack__()
    old = wf.Buffer(Producer(array))
    assert address(old.numpy()) == address(array) and not old.writable
    with pytest.raises(ArgumentTypeError, match="device type 2"):
        wf.Buffer(Elsewhere(array))
    for wrong in (1, (), [1, 0], (1,), ("1", 0), (1 << 70, 0)):
        with pytest.raises(ArgumentTypeError, match="max_version must be a tuple of two integers, got "):
            buffer.__dlpack__(max_version=wrong)
    for wrong in (None, [1, 0], (1,), "ab"):
        nowhere = type("Nowhere", (Producer,), {"__dlpack_device__": lambda self, wrong=wrong: wrong})(array)
        with pytest.raises(ArgumentTypeError, match="__dlpack_device__ must be a tuple of two integers, got "):
            wf.Buffer(nowhere)


def test_capsules_let_go_once_whether_taken_or_not() -> None:
    def gone(use: Any) -> bool:
        array = sample(np.float32)
        watch = weakref.ref(array)
        used = use(wf.Buffer(array))
        del array
        gc.collect()
        assert watch() is not None
        del used
        gc.collect()
        return watch() is None

    assert gone(lambda b: b.__dlpack__())
    assert gone(lambda b: b.__dlpack__(max_version=(1, 0)))
    assert gone(np.from_dlpack)
    assert gone(lambda b: wf.Buffer(Producer(b.numpy())))
    assert gone(lambda b: b.numpy()[1:])
    assert gone(memoryview)
    assert gone(lambda b: b[1:].reshape(-1))
    # A capsule can be taken once.
    capsule = wf.Buffer(sample(np.float32)).__dlpack__()
    taker = type("Taker", (), {"__dlpack__": lambda self, **_: capsule, "__dlpack_device__": lambda self: (1, 0)})()
    wf.Buffer(taker)
    with pytest.raises(ValueError, match="nobody took"):
        wf.Buffer(taker)


def test_calls_take_arrays_of_every_kind(double: wf.Executable) -> None:
    array = np.arange(4, dtype=np.float32)
    wanted = array * 2
    result = double(array)
    assert type(result) is np.ndarray and np.array_equal(result, wanted)
    result = double(wf.Buffer(array))
    assert type(result) is wf.Buffer and np.array_equal(result.numpy(), wanted)
    assert np.array_equal(double(memoryview(array)), wanted) and np.array_equal(double(Producer(array)), wanted)
    assert np.array_equal(double(array.astype(">f4")), wanted) and np.array_equal(double(np.ma.array(array)), wanted)
    two = wf.compile(lambda x, y: (x + y, x - y), array, wanted)
    total, rest = two(wf.Buffer(array), array[::-1])
    assert (
        type(total) is type(rest) is wf.Buffer
        and rest.numpy().tolist() == [-3, -1, 1, 3]
        and total.numpy().tolist() == [3] * 4
    )
    with pytest.raises(ArgumentTypeError, match="f32"):
        double(wf.Buffer(np.zeros(4)))
    with pytest.raises(ArgumentValueError):
        double(wf.Buffer(np.zeros(5, np.float32)))
    with pytest.raises(ArgumentTypeError, match="inputs"):
        double(wf.Buffer(array), wf.Buffer(array))


def test_jitted_functions_take_buffers_where_they_lie() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    buffer, fixed = wf.Buffer(x), x.copy()
    fixed.flags.writeable = False

    def f(pair: Any, out: Any = None, scale: Any = 2.0, tag: Any = None) -> Any:
        x, y = pair["x"], pair["y"]
        if out is not None:
            out[...] = x
        return {"sum": x + y * scale, "total": np.sum(x), "given": x, "out": out}

    jitted = wf.jit(f, static_argnames="tag")
    wanted = f({"x": x, "y": x})
    for call in (jitted, wf.simulate(f)):
        for _ in range(2):  # traced, then found
            result = call({"x": buffer, "y": x})
            assert isinstance(result["sum"], wf.Buffer) and result["given"] is buffer and result["out"] is None
            np.testing.assert_array_equal(result["sum"].numpy(), wanted["sum"], strict=True)
            assert isinstance(result["total"], np.float32) and result["total"] == 15
        # What is written is written there, in parts of one memory, too.
        out = wf.Buffer(np.zeros((4, 3), np.float32))
        assert call({"x": buffer, "y": buffer}, out=out[1:3])["out"].numpy().base is not None
        np.testing.assert_array_equal(out.numpy()[1:3], x)
        rows = wf.Buffer(np.arange(12, dtype=np.float32).reshape(4, 3))
        call({"x": rows[0:2], "y": x}, rows[1:3])
        np.testing.assert_array_equal(rows.numpy()[1:3], np.arange(6).reshape(2, 3))
        with pytest.raises(ArgumentValueError, match="read-only"):
            call({"x": buffer, "y": x}, wf.Buffer(fixed))
    assert len(jitted.executables) == 3
    assert wf.jit(lambda x: x + 1, device="cpu:1")(buffer).device == wf.Device("cpu:1")
    assert jitted({"x": x, "y": x}, tag=buffer.device)["given"] is x  # no buffer, no buffers
    assert wf.jit(lambda x: x)(wf.Buffer(np.float32(3))).shape == () and wf.jit(lambda x: x + 1)(
        wf.Buffer((0, 2), np.int32)
    ).shape == (0, 2)
    assert wf.trace(lambda x, y: x + y, buffer, x).inputs[0].shape == (2, 3)
    assert len(wf.explain(lambda x: x + 1, buffer).kernels) == 1
    address_before = address(buffer.numpy())
    np.testing.assert_array_equal(
        wf.jit(lambda x: np.negative(x, out=x))(buffer).numpy(), -np.arange(6, dtype=np.float32).reshape(2, 3)
    )
    assert address(buffer.numpy()) == address_before and x[1, 2] == -5


def test_jitted_functions_take_arrays_of_other_libraries(tmp_path: Path) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    rows = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(2,))
    for wrap in (wf.jit, wf.simulate):
        add = wrap(lambda x: np.add(x, 1, out=x))
        tensor, plus = torch.ones(3), wrap(lambda x: x + 1)
        assert add(tensor) is tensor and tensor.tolist() == [2, 2, 2]
        assert plus(tensor).tolist() == [3, 3, 3] and add(tensor) is tensor and plus(tensor).tolist() == [4, 4, 4]
        assert type(plus(jax.numpy.ones(2))) is np.ndarray and plus(torch.ones(2, 3).T).shape == (3, 2)
        for fixed in (torch.ones(2, 3).T, jax.numpy.ones(2)):  # a copy, and memory that is not to be written
            with pytest.raises(ArgumentValueError, match="read-only"):
                add(fixed)
        before = rows.tolist()
        assert (
            add(rows) is rows
            and rows.tolist() == [value + 1 for value in before] == wrap(lambda x: x * rows)(np.ones(2)).tolist()
        )
        with pytest.raises(ArgumentTypeError, match="plain ndarrays or buffers, or have __dlpack__, got MaskedArray"):
            plus(np.ma.array([1.0]))
    assert wf.jit(lambda x, y: x)(np.ones(2), {1}).tolist() == [1, 1]


def test_what_a_function_reads_from_its_surroundings_is_read_anew() -> None:
    torch = pytest.importorskip("torch")
    buffer, tensor = wf.Buffer(np.ones(2)), torch.ones(2)
    f = wf.jit(lambda x: np.add(x, tensor) + buffer)
    assert f(np.ones(2)).tolist() == [3, 3]
    buffer.numpy()[0] = 5
    tensor[1] = 7
    assert f(np.ones(2)).tolist() == [7, 9]


def test_jitted_functions_call_each_other() -> None:
    def half(x: Any, by: Any = 2) -> Any:
        return {"half": x / by}

    inner = wf.jit(half, static_argnames="by")
    outer = wf.jit(lambda x: inner(x)["half"] + inner(x=x * 2, by=4)["half"])
    for x in (np.arange(3.0), np.arange(4.0)):
        np.testing.assert_array_equal(outer(x), x / 2 + x * 2 / 4)
    assert len(outer.executables) == 2 and not inner.executables

    def plus(x: Any) -> Any:
        return x + 1

    plus.__annotations__["x"] = wf.tensor[np.float64, ("n",)]
    row = wf.jit(plus)
    assert wf.jit(lambda x: row(x))(np.ones(2)).tolist() == [2, 2]
    with pytest.raises(
        ArgumentValueError, match=r"argument 'x' must be wf.tensor\[float64, \(n,\)\], got float64 of shape \(2, 2\)"
    ):
        wf.jit(lambda x: row(x))(np.ones((2, 2)))
    assert len(wf.trace(outer, np.ones(3)).outputs) == 1 and wf.simulate(outer)(np.ones(2)).tolist() == [1, 1]


def test_torch_and_jax_arrays_are_arguments(double: wf.Executable) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    assert np.array_equal(double(torch.arange(4.0)), [0, 2, 4, 6]) and np.array_equal(
        double(jax.numpy.arange(4.0)), [0, 2, 4, 6]
    )
    short = wf.compile(lambda x: x + x, wf.spec((4,), ml_dtypes.bfloat16))
    assert short(torch.arange(4).to(torch.bfloat16)).astype(float).tolist() == [0, 2, 4, 6]
    assert double.run_async(torch.arange(4.0)).wait().tolist() == [0, 2, 4, 6]


def test_an_input_that_is_written_is_the_result() -> None:
    def add(x: Any, y: Any) -> Any:
        x += y
        return x

    array, y = np.zeros((3, 4), np.float32), np.ones((3, 4), np.float32)
    program = wf.compile(add, array, y)
    buffer = wf.Buffer(array)
    assert program(buffer, y) is buffer and array.sum() == 12
    assert program.run_async(array, y).wait() is array and array.sum() == 24
    with pytest.raises(ArgumentValueError, match="must be copied"):
        program(np.zeros((4, 3), np.float32).T, wf.Buffer(y))
    with pytest.raises(ArgumentValueError, match="must be copied"):
        program.run_async(np.zeros((4, 3), np.float32).T, y)
    for call in (program, program.run_async):
        with pytest.raises(ArgumentValueError, match="shares memory"):
            call(wf.Buffer(array), buffer)
    turned = np.zeros((4, 3), np.float32).T
    assert program(turned, y) is turned and turned.sum() == 12


def test_runs_go_on_by_themselves(double: wf.Executable, slow: wf.Executable) -> None:
    array = np.arange(4, dtype=np.float32)
    run = double.run_async(array)
    assert run.wait().tolist() == [0, 2, 4, 6] and run.wait() is run.wait() and run.done() and "done" in repr(run)
    assert type(double.run_async(wf.Buffer(array)).wait()) is wf.Buffer
    start = time.perf_counter()
    run = slow.run_async(np.zeros(4))
    began = time.perf_counter() - start
    second = slow.run_async(np.zeros(4))
    assert not second.done() and began < 0.1
    wf.Device().synchronize()
    assert run.done() and second.done() and np.array_equal(run.wait(), slow(np.zeros(4)))
    with pytest.raises(ArgumentTypeError):
        double.run_async(np.zeros(4))
    with pytest.raises(ArgumentValueError):
        double.run_async(np.zeros(3, np.float32))


def test_other_threads_run_while_one_waits(slow: wf.Executable) -> None:
    for call in (lambda: slow(np.zeros(4)), lambda: slow.run_async(np.zeros(4)).wait()):
        turns, ended = 0, threading.Event()

        def count(ended: threading.Event = ended) -> None:
            nonlocal turns
            while not ended.is_set():
                turns += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        call()
        ended.set()
        thread.join()
        assert turns > 10


def test_arrays_live_as_long_as_the_run(slow: wf.Executable) -> None:
    array = np.zeros(4)
    watch = weakref.ref(array)
    run = slow.run_async(array)
    del array
    gc.collect()
    assert watch() is not None
    result = run.wait()
    del run
    gc.collect()
    assert watch() is None and result.shape == (4,)
    # One that nobody waits for.
    array = np.zeros(4)
    watch = weakref.ref(array)
    slow.run_async(array)
    del array
    wf.Device().synchronize()
    gc.collect()
    assert watch() is None


def test_await(slow: wf.Executable, double: wf.Executable) -> None:
    async def main() -> tuple[Any, Any, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        both = await asyncio.gather(
            *(as_task(r) for r in (slow.run_async(np.zeros(4)), double.run_async(np.ones(4, np.float32))))
        )
        done = double.run_async(np.ones(4, np.float32))
        done.wait()
        await done
        ticking.cancel()
        return both[0], both[1], ticks

    async def as_task(run: Any) -> Any:
        return await run

    first, second, ticks = asyncio.run(main())
    assert np.array_equal(first, slow(np.zeros(4))) and second.tolist() == [2] * 4 and ticks > 10


def test_errors_are_raised_where_one_waits() -> None:
    def fail(x: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("of ours")

    broken = wf.custom_op("test.broken_later", lambda x: x, reference=fail)
    run = wf.compile(lambda x: broken(x), np.zeros(4, np.float32)).run_async(np.zeros(4, np.float32))
    for _ in range(2):
        with pytest.raises(ExecutionError, match="of ours"):
            run.wait()
    assert run.done()


def test_threads_of_a_scope_hold_for_its_runs() -> None:
    seen = []

    def note(x: np.ndarray) -> np.ndarray:
        seen.append(wf.num_threads())
        return x

    look = wf.custom_op("test.threads_seen", lambda x: x, reference=note)
    program = wf.compile(lambda x: look(x), np.zeros(4, np.float32))
    with wf.knobs(threads=3):
        inside = program.run_async(np.zeros(4, np.float32))
    inside.wait()
    program.run_async(np.zeros(4, np.float32)).wait()
    assert seen == [3, wf.num_threads()]


def test_many_threads_share_buffers_and_programs(double: wf.Executable) -> None:
    buffer = wf.Buffer(np.arange(4, dtype=np.float32))
    wrong = []

    def work() -> None:
        for _ in range(300):
            part = double(buffer)[1:].numpy()
            later = double.run_async(buffer).wait().numpy()
            taken = np.from_dlpack(double(buffer))
            if part.tolist() != [2, 4, 6] or not np.array_equal(later, taken):
                wrong.append(part)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed")
@pytest.mark.parametrize("kind", ["call", "async", "dlpack", "memoryview"])
def test_memory_is_flat(double: wf.Executable, kind: str) -> None:
    array = np.arange(4, dtype=np.float32)
    buffer = wf.Buffer(array)
    calls = {
        "call": lambda: double(buffer),
        "async": lambda: double.run_async(array).wait(),
        "dlpack": lambda: (buffer.__dlpack__(), np.from_dlpack(wf.Buffer(np.from_dlpack(buffer)))),
        "memoryview": lambda: (memoryview(buffer[1:]), buffer.reshape(2, 2).numpy()),
    }
    call = calls[kind]
    for _ in range(2000):
        call()
    gc.collect()
    references, before = sys.getrefcount(array), resident()
    for _ in range(25_000):
        call()
    gc.collect()
    assert resident() - before < 1 << 20 and sys.getrefcount(array) == references


def test_benchmarks_have_percentiles(double: wf.Executable) -> None:
    times = double.benchmark(iters=200)
    assert list(times) == ["min", "mean", "median", "p90", "p99", "max"]
    assert (
        0 < times["min"] <= times["median"] <= times["p90"] <= times["p99"] <= times["max"]
        and times["min"] <= times["mean"] <= times["max"]
    )
    assert double.benchmark(np.zeros(4, np.float32), iters=1, warmup=0)["min"] > 0
    with pytest.raises(ArgumentValueError):
        double.benchmark(iters=0)
    with pytest.raises(ArgumentTypeError):
        double.benchmark(np.zeros(4))


def test_programs_are_compiled_for_a_device(tmp_path: Path) -> None:
    x = np.arange(6.0)
    device = wf.Device("cpu:3")
    before = device.memory["allocations"]
    f = wf.jit(lambda x: np.sort(x) + np.cumsum(x), device=device)
    g = wf.jit(lambda x: x + 1, device="cpu:3")
    assert np.array_equal(f(x), x + np.cumsum(x)) and np.array_equal(g(x), x + 1)
    assert f.executables[0].device == g.executables[0].device == device
    assert wf.compile(lambda x: x + 1, x).device == wf.Device() and wf.compile(g, x).device == device
    program = wf.compile(lambda x: x * 3, x, device="cpu:3")
    program.save(tmp_path / "f.weft")
    loaded = wf.load(tmp_path / "f.weft", device=device)
    assert loaded.device == device and loaded(wf.Buffer(x, device=device)).device == device
    assert device.memory["allocations"] > before
    assert loaded(wf.Buffer(x)).device == device  # copied to where the program is
    with pytest.raises(ArgumentValueError):
        wf.jit(lambda x: x, device="gpu")


def finish(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import numpy as np, weftwork as wf, sys, os, time\n" + textwrap.dedent(program)
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


CHAIN = """
def chain(x):
    for _ in wf.range(3_000_000):
        x = np.cos(x)
    return x
slow = wf.compile(chain, wf.spec((4,), np.float64))
"""


@pytest.mark.parametrize(
    "end", ["", "sys.exit(3)", "raise ValueError", "os._exit(0)", "os.kill(os.getpid(), 2); time.sleep(9)"]
)
def test_python_ends_while_runs_are_pending(end: str) -> None:
    start = time.perf_counter()
    done = finish(
        CHAIN + "\nruns = [slow.run_async(np.zeros(4)) for _ in range(1000)]\nslow.run_async(np.zeros(4))\n" + end
    )
    assert done.returncode in (0, 1, 3, -2, 130) and time.perf_counter() - start < 60, done.stderr
    assert "Fatal" not in done.stderr and "Segmentation" not in done.stderr


def test_a_thread_that_waits_while_python_ends_hears_of_it() -> None:
    done = finish(
        CHAIN
        + """
import threading
runs = [slow.run_async(np.zeros(4)) for _ in range(1000)]
def wait():
    try:
        runs[-1].wait()
    except wf.errors.ExecutionError as error:
        os.write(1, error.label.encode())
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.05)
import atexit
atexit.register(time.sleep, 0)
"""
    )
    assert done.returncode == 0 and done.stdout in ("", "run_dropped"), done.stderr


def test_ctrl_c_ends_the_waiting_and_not_the_run() -> None:
    done = finish(
        CHAIN
        + """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests may ignore it
runs = [slow.run_async(np.zeros(4)) for _ in range(20)]
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    runs[-1].wait()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start < 5, runs[-1].done())
print(runs[0].wait().shape)
"""
    )
    assert done.stdout == "interrupted True False\n(4,)\n", done.stdout + done.stderr


def test_a_child_of_a_fork_runs_and_knows_what_it_lacks() -> None:
    program, begun = CHAIN, ""
    if "asan" in os.environ.get(
        "LD_PRELOAD", ""
    ):  # GCC's, which leaves its allocator locked in a child if a thread is in there
        program, begun = CHAIN.replace("3_000_000", "30_000_000"), "time.sleep(0.3)"
    done = finish(
        program
        + f"""
run = slow.run_async(np.zeros(4))
{begun}
child = os.fork()
if child == 0:
    try:
        run.wait()
    except wf.errors.ExecutionError as error:
        print(error.label, slow.run_async(np.zeros(4)).wait().shape, wf.Buffer(np.ones(2)).to("cpu:1").numpy(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(run.wait().shape)
"""
    )
    assert done.stdout == "forked (4,) [1. 1.]\n(4,)\n", done.stdout + done.stderr
