"""Convolutions and pooling: plain calls, jit and simulate give what windows summed by NumPy give."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from agreement import close

import weftwork as wf

RNG = np.random.default_rng(9)
RUNS = [lambda f: f, wf.jit, wf.simulate]


def padded(x: np.ndarray, pairs: Any, value: Any) -> np.ndarray:
    return np.pad(x, [(0, 0), (0, 0), *pairs], constant_values=value)


def windows(x: np.ndarray, size: Any, stride: Any, dilation: Any) -> np.ndarray:
    """(batch, channels, places…, elements…)."""
    count = len(size)
    reach = [(s - 1) * d + 1 for s, d in zip(size, dilation, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + count)))
    places = tuple(slice(None, None, s) for s in stride)
    return view[(slice(None), slice(None), *places, *(slice(None, None, d) for d in dilation))]


def convolution(x: np.ndarray, w: np.ndarray, stride: Any, pairs: Any, dilation: Any, groups: int) -> np.ndarray:
    count = w.ndim - 2
    found = windows(padded(x, pairs, 0), w.shape[2:], stride, dilation)
    parts = []
    for images, kernels in zip(np.split(found, groups, 1), np.split(w, groups, 0), strict=True):
        axes = [1, *range(2 + count, 2 + 2 * count)]
        parts.append(np.moveaxis(np.tensordot(images, kernels, (axes, range(1, 2 + count))), -1, 1))
    return np.concatenate(parts, 1)


CONVOLUTIONS = [
    (count, dtype, stride, pad, dilation, groups)
    for count in (1, 2, 3)
    for dtype, stride, pad, dilation, groups in (
        (np.float32, 1, 0, 1, 1), (np.float64, 2, 1, 1, 1), (np.float32, 1, 2, 2, 2), (np.float64, 3, (2, 1), 1, 4), (np.int64, 1, 1, 1, 1), (np.complex64, 1, 1, 2, 1),
    )
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("count", "dtype", "stride", "pad", "dilation", "groups"), CONVOLUTIONS)
def test_convolution(run: Any, count: int, dtype: Any, stride: int, pad: Any, dilation: int, groups: int) -> None:
    x = (RNG.normal(size=(2, 4, *(8, 7, 6)[:count])) * 4).astype(dtype)
    w = (RNG.normal(size=(8, 4 // groups, *(3, 2, 3)[:count])) * 4).astype(dtype)
    b = np.arange(8).astype(dtype)
    pairs = [pad if isinstance(pad, tuple) else (pad, pad)] * count
    conv = (wf.conv1d, wf.conv2d, wf.conv3d)[count - 1]
    wanted = convolution(x, w, [stride] * count, pairs, [dilation] * count, groups) + b.reshape(-1, *[1] * count)
    padding = pairs if isinstance(pad, tuple) else pad
    result = run(lambda x, w, b: conv(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups))(
        x, w, b
    )
    close(result, wanted, 200)
    close(
        run(lambda x, w: conv(x[0], w, stride=stride, padding=padding, dilation=dilation, groups=groups))(x, w),
        wanted[0] - b.reshape(-1, *[1] * count),
        400,
    )


@pytest.mark.parametrize("run", RUNS)
def test_padding_by_name(run: Any) -> None:
    x, w = RNG.normal(size=(1, 2, 7, 8)).astype(np.float32), RNG.normal(size=(3, 2, 3, 4)).astype(np.float32)
    close(
        run(lambda x, w: wf.conv2d(x, w, padding="same"))(x, w),
        convolution(x, w, (1, 1), ((1, 1), (1, 2)), (1, 1), 1),
        200,
    )
    close(
        run(lambda x, w: wf.conv2d(x, w, padding="same", stride=2))(x, w),
        convolution(x, w, (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
        200,
    )
    close(
        run(lambda x, w: wf.conv2d(x, w, padding="valid"))(x, w),
        convolution(x, w, (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
        200,
    )


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_pooling(run: Any, count: int) -> None:
    greatest, mean = [(getattr(wf, f"{name}_pool{count}d")) for name in ("max", "avg")]
    for dtype, size, stride, pad in itertools.product((np.float32, np.int8, bool), (2, 3), (None, 1), (0, 1)):
        x = (RNG.normal(size=(2, 3, *(8, 7, 6)[:count])) * 9).astype(dtype)
        pairs, sizes, axes = [(pad, pad)] * count, [size] * count, tuple(range(-count, 0))
        low = False if dtype is bool else np.iinfo(dtype).min if dtype is np.int8 else -np.inf
        found = windows(padded(x, pairs, low), sizes, [stride or size] * count, [1] * count)
        close(run(lambda x, a=(size, stride, pad): greatest(x, *a))(x), found.max(axes))
        if dtype is np.int8:
            close(run(lambda x, a=(size, stride, pad): greatest(x[1], *a))(x), found.max(axes)[1])
        held = windows(padded(x, pairs, 0), sizes, [stride or size] * count, [1] * count)
        close(run(lambda x, a=(size, stride, pad): mean(x, *a))(x), held.mean(axes))
        counts = windows(padded(np.ones_like(x, float), pairs, 0), sizes, [stride or size] * count, [1] * count).sum(
            axes
        )
        wanted = (held.sum(axes, dtype=np.float64) / counts).astype(np.float32 if dtype is np.float32 else np.float64)
        close(run(lambda x, a=(size, stride, pad): mean(x, *a, count_include_pad=False))(x), wanted)


def test_a_symbolic_batch() -> None:
    w = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)
    compiled = wf.jit(
        lambda x: wf.max_pool2d(np.maximum(wf.conv2d(x, w, padding=1), 0), 2), dynamic={"x": {0: wf.Dim("n", 1, 4, 9)}}
    )
    for size in (1, 3):
        x = RNG.normal(size=(size, 3, 8, 8)).astype(np.float32)
        wanted = np.maximum(convolution(x, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1), 0)
        close(compiled(x), windows(wanted, (2, 2), (2, 2), (1, 1)).max((-1, -2)), 200)
    assert compiled.plan_count == 1


IMAGE, KERNEL = np.ones((1, 2, 5, 5), np.float32), np.ones((4, 2, 3, 3), np.float32)


ERRORS: list[Any] = [
    (lambda x: wf.conv2d(x[0, 0], KERNEL), "spatial"), (lambda x: wf.conv2d(x, KERNEL[0]), "weights"), (lambda x: wf.conv2d(x, KERNEL, groups=2), "groups"),
    (lambda x: wf.conv2d(x, KERNEL, stride=0), "stride"), (lambda x: wf.conv2d(x, KERNEL, padding=-1), "padding"), (lambda x: wf.conv2d(x, KERNEL, padding="bad"), "padding"),
    (lambda x: wf.conv2d(x, KERNEL, bias=np.ones(3)), "bias"), (lambda x: wf.max_pool2d(x, 2, padding=2), "less than"), (lambda x: wf.avg_pool2d(x, (2, 2, 2)), "size"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "text"), ERRORS)
@pytest.mark.parametrize("run", RUNS)
def test_errors(run: Any, function: Any, text: str) -> None:
    with pytest.raises(wf.errors.ArgumentValueError, match=text):
        run(function)(IMAGE)


def test_what_overlapping_windows_read_is_computed_once() -> None:
    x = np.ones((1, 4, 32, 32), np.float32)
    pooled = wf.compile(lambda x: wf.max_pool2d(np.exp(x), 3, stride=2, padding=1), x)
    assert any("windows that overlap" in cut for cut in pooled.cuts)


# Channels, outputs, extents, window, stride, padding, dilation: windows in parts of lines, lines of one place, more outputs
# than a panel has, a last panel that is not full, blocks of k that end in a line, windows with holes, one element.
CONSTANT_KERNELS = [
    (16, 32, (14, 14), (3, 3), 1, 1, 1), (3, 40, (30, 31), (7, 7), 2, 3, 1), (300, 70, (9, 10), (3, 3), 1, 0, 1), (24, 33, (58, 57), (5, 5), 1, 2, 1),
    (64, 512, (7, 7), (3, 3), 1, 1, 1), (8, 40, (9, 9), (1, 1), 2, 0, 1), (40, 64, (12, 12), (1, 1), 1, 0, 1), (5, 24, (12, 11), (3, 3), 1, 2, 2),
    (7, 30, (5, 4), (5, 4), 1, 0, 1), (6, 32, (40,), (5,), 1, 2, 3), (4, 24, (6, 7, 8), (2, 3, 3), 1, 1, 1), (2, 24, (3, 1200), (3, 3), 1, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("channels", "outputs", "extents", "window", "stride", "pad", "dilation"), CONSTANT_KERNELS)
def test_convolution_with_a_constant_kernel(
    channels: int, outputs: int, extents: Any, window: Any, stride: int, pad: int, dilation: int, dtype: Any
) -> None:
    count = len(extents)
    w = (RNG.normal(size=(outputs, channels, *window)) / np.sqrt(channels * np.prod(window))).astype(dtype)
    conv = (wf.conv1d, wf.conv2d, wf.conv3d)[count - 1]
    f = lambda x: np.maximum(conv(x, w, stride=stride, padding=pad, dilation=dilation) + 1, 0)
    for batch in (1, 2):
        x = RNG.normal(size=(batch, channels, *extents)).astype(dtype)
        y = convolution(x, w, [stride] * count, [(pad, pad)] * count, [dilation] * count, 1)
        close(wf.jit(f)(x), np.maximum(y + 1, 0), 2000)


# The same of weights that are arguments, and in groups: windows are packed from where they lie.
ARGUMENT_KERNELS = [(*shape, 1) for shape in CONSTANT_KERNELS] + [
    (16, 16, (24, 24), (3, 3), 1, 1, 1, 1), (3, 16, (33, 47), (7, 7), 2, 3, 1, 1), (12, 8, (9, 31), (3, 2), (3, 2), 1, (2, 1), 4), (6, 6, (20, 17), (3, 3), 2, 1, 1, 6),
    (6, 12, (40,), (5,), 2, 1, 1, 3), (4, 4, (5, 6, 18), (2, 3, 3), 1, 1, 1, 4), (8, 5, (4, 3), (3, 3), 1, 1, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("target", ["native", "avx512", "avx2", "x86-64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("channels", "outputs", "extents", "window", "stride", "pad", "dilation", "groups"), ARGUMENT_KERNELS
)
def test_convolution_by_an_argument(
    channels: int,
    outputs: int,
    extents: Any,
    window: Any,
    stride: Any,
    pad: int,
    dilation: Any,
    groups: int,
    dtype: Any,
    target: str,
) -> None:
    count = len(extents)
    strides, dilations = ([v] * count if isinstance(v, int) else list(v) for v in (stride, dilation))
    w = (RNG.normal(size=(outputs, channels // groups, *window)) / np.sqrt(channels * np.prod(window))).astype(dtype)
    conv = (wf.conv1d, wf.conv2d, wf.conv3d)[count - 1]
    f = lambda x, w: np.maximum(conv(x, w, stride=stride, padding=pad, dilation=dilation, groups=groups) + 1, 0)
    for batch in (1, 2):
        x = RNG.normal(size=(batch, channels, *extents)).astype(dtype)
        y = np.maximum(convolution(x, w, strides, [(pad, pad)] * count, dilations, groups) + 1, 0)
        try:
            exe = wf.compile(f, x, w, target=target)
        except wf.errors.ArgumentValueError as error:
            pytest.skip(str(error))
        results = []
        for threads in (1, 2, 3):
            with wf.knobs(threads=threads):
                results.append(exe(x, w))
        close(results[0], y, 2000)
        assert all(np.array_equal(results[0], other) for other in results)
        assert not any(kernel.ops and set(kernel.ops) <= {"strided_view", "transpose"} for kernel in exe.kernels)


def test_a_convolution_keeps_special_values_where_their_windows_are() -> None:
    x, w = RNG.normal(size=(2, 3, 20, 21)).astype(np.float32), RNG.normal(size=(5, 3, 3, 3)).astype(np.float32)
    x[0, 1, 4, 5], x[1, 2, 19, 20], x[1, 0, 0, 0] = np.nan, np.inf, -np.inf
    for stride, groups, kernel in itertools.product((1, 2), (1, 3), (w, w[:3, :1])):
        if kernel.shape[1] * groups != 3:
            continue
        with np.errstate(invalid="ignore"):
            wanted = convolution(x, kernel, (stride, stride), ((1, 1), (1, 1)), (1, 1), groups)
        found = wf.jit(lambda x, w, s=stride, g=groups: wf.conv2d(x, w, stride=s, padding=1, groups=g))(x, kernel)
        np.testing.assert_allclose(found, wanted, 2e-5, 2e-5)


def spread(x: np.ndarray, stride: Any) -> np.ndarray:
    """With zeros between elements."""
    wide = np.zeros((*x.shape[:2], *((e - 1) * s + 1 for e, s in zip(x.shape[2:], stride, strict=True))), x.dtype)
    wide[(slice(None), slice(None), *(slice(None, None, s) for s in stride))] = x
    return wide


# Channels, outputs of a group, extents, window, stride, padding, more places at the end, dilation, groups.
TRANSPOSED = [
    (8, 5, (7, 9), (2, 2), (2, 2), 0, 0, 1, 1), (6, 3, (8, 8), (4, 4), (2, 2), 1, 0, 1, 1), (6, 2, (5, 7), (3, 3), (2, 2), 1, 1, 1, 2), (4, 4, (6, 5), (5, 4), (3, 2), 2, 1, 1, 1),
    (4, 3, (6, 6), (3, 3), (2, 2), 0, 0, 2, 1), (3, 4, (6, 6), (3, 3), (3, 2), 1, 0, 2, 3), (3, 2, (1, 1), (3, 2), (2, 3), 0, 0, 1, 1), (4, 2, (9,), (4,), (4,), 0, 2, 1, 2),
    (2, 3, (3, 4, 5), (2, 2, 2), (2, 2, 2), 0, 1, 1, 1), (5, 6, (11, 13), (3, 3), (1, 1), 1, 0, 1, 1), (2, 3, (4, 4), (2, 2), (3, 3), 0, 0, 1, 1), (2, 1, (3, 3), (7, 7), (5, 5), 0, 0, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS[1:])
@pytest.mark.parametrize(
    ("channels", "outputs", "extents", "window", "stride", "pad", "more", "dilation", "groups"), TRANSPOSED
)
def test_transposed_convolution(
    run: Any,
    channels: int,
    outputs: int,
    extents: Any,
    window: Any,
    stride: Any,
    pad: int,
    more: int,
    dilation: int,
    groups: int,
) -> None:
    count = len(extents)
    x, w = RNG.normal(size=(2, channels, *extents)), RNG.normal(size=(channels, outputs, *window))
    reverse = np.flip(
        w.reshape(groups, channels // groups, outputs, *window).swapaxes(1, 2), tuple(range(3, 3 + count))
    ).reshape(-1, channels // groups, *window)
    pairs = [((e - 1) * dilation - pad, (e - 1) * dilation - pad + more) for e in window]
    wanted = convolution(spread(x, stride), reverse, [1] * count, pairs, [dilation] * count, groups)
    conv = (wf.conv_transpose1d, wf.conv_transpose2d, wf.conv_transpose3d)[count - 1]
    f = run(lambda x, w: conv(x, w, stride=stride, padding=pad, output_padding=more, groups=groups, dilation=dilation))
    close(f(x, w), wanted, 2000)
    close(f(x.astype(np.float32), w.astype(np.float32)), wanted.astype(np.float32), 2000)


def test_no_zeros_between_elements_are_multiplied() -> None:
    x, w = np.ones((2, 8, 16, 16), np.float32), np.ones((8, 4, 2, 2), np.float32)
    exe = wf.compile(lambda x, w: wf.conv_transpose2d(x, w, stride=2), x, w)
    assert not any("pad" in kernel.ops for kernel in exe.kernels)
    assert (exe(x, w) == 8).all()


def product(x: Any, w: Any, stride: int, pad: int) -> Any:
    parts = windows(padded(x, ((pad, pad),) * 2, 0), w.shape[2:], (stride, stride), (1, 1))
    return np.tensordot(w, parts, axes=((1, 2, 3), (1, 4, 5))).transpose(1, 0, 2, 3)


def pooled(x: Any) -> Any:
    return windows(padded(x, ((1, 1),) * 2, -np.inf), (3, 3), (2, 2), (1, 1)).max((4, 5))


@pytest.mark.parametrize(("conv", "pool"), [
    (lambda x, w, s, p: wf.conv2d(x, w, stride=s, padding=p), lambda x: wf.max_pool2d(x, 3, stride=2, padding=1)), (product, pooled),
])  # fmt: skip
def test_a_network_of_convolutions_keeps_its_channels_together(conv: Any, pool: Any) -> None:
    random = np.random.default_rng(5)
    weights = [
        (random.normal(size=(48, n, k, k)) / k / np.sqrt(n)).astype(np.float32) for n, k in ((3, 5), (48, 3), (48, 1))
    ]
    scale, shift = random.normal(size=(2, 48, 1, 1)).astype(np.float32)

    def network(x: Any, conv: Any, pool: Any) -> Any:
        x = pool(np.maximum(conv(x, weights[0], 2, 2) * scale + shift, 0))
        y = np.maximum((conv(x, weights[1], 1, 1) - shift) / (scale + 3), 0)
        return np.maximum(conv(y, weights[2], 1, 0) * scale + x, 0).mean(axis=(2, 3))

    x = random.normal(size=(2, 3, 61, 59)).astype(np.float32)
    exe = wf.compile(lambda x: network(x, conv, pool), x)
    wanted = network(x.astype(np.float64), product, pooled)
    results = []
    for threads in (1, 2, 3):
        wf.set_num_threads(threads)
        results.append(exe(x))
    wf.set_num_threads(0)
    assert np.abs(results[0] - wanted).max() < 1e-5 * np.abs(wanted).max()
    assert all(np.array_equal(results[0], other) for other in results)
    products = [kernel.ops for kernel in exe.kernels if "dot_general" in kernel.ops]
    assert len(products) == 3 and all("maximum" in ops for ops in products)
    # Only the image given is transposed, and no matrix of windows is stored.
    assert sum("transpose" in kernel.ops for kernel in exe.kernels) == 1
    assert not any(set(kernel.ops) <= {"strided_view", "transpose"} for kernel in exe.kernels if kernel.ops)


def test_products_of_windows_in_any_order() -> None:
    x = RNG.normal(size=(3, 20, 21, 6)).astype(np.float32)
    w = RNG.normal(size=(6, 3, 32, 3)).astype(np.float32)
    view = lambda x: np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    for f in (
        lambda x: np.einsum("nhwcij,jico->ohnw", view(x), np.ascontiguousarray(w.transpose(3, 1, 0, 2))),
        lambda x: np.tensordot(view(x)[:, ::2, ::-3], w, ((3, 4, 5), (0, 1, 3))),
        lambda x: np.tensordot(w[:, ::-1], view(x), ((0, 3, 1), (3, 5, 4))),
        lambda x: np.tensordot(view(x)[:, :, :, 0], w[0], ((3, 4), (0, 2))),
    ):
        close(wf.jit(f)(x), f(x.astype(np.float64)).astype(np.float32), 2000)


@pytest.mark.parametrize("padding", [0, 1])
def test_a_pool_reads_what_the_convolution_stores(padding: int) -> None:
    x, w = RNG.normal(size=(2, 8, 21, 19)).astype(np.float32), RNG.normal(size=(32, 8, 3, 3)).astype(np.float32)
    exe = wf.compile(lambda x: wf.max_pool2d(np.maximum(wf.conv2d(x, w), 1), 3, stride=2, padding=padding), x)
    found = np.maximum(convolution(x.astype(np.float64), w, (1, 1), [(0, 0)] * 2, (1, 1), 1), 1)
    wanted = windows(padded(found, [(padding, padding)] * 2, -np.inf), (3, 3), (2, 2), (1, 1)).max((-1, -2))
    assert np.abs(exe(x) - wanted).max() < 1e-4
    kernels = [set(kernel.ops) for kernel in exe.kernels]
    assert any({"dot_general", "maximum"} <= ops for ops in kernels)
    assert any(ops >= ({"pad", "reduce"} if padding else {"reduce"}) for ops in kernels)
    assert not any("pad" in ops and "reduce" not in ops for ops in kernels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.float16])
@pytest.mark.parametrize("channels", [1, 2, 3, 5, 6, 7])
def test_channels_of_an_image_are_put_last(dtype: Any, channels: int) -> None:
    x = RNG.integers(1, 100, (channels, 67, 131)).astype(dtype)
    for f in (lambda x: np.ascontiguousarray(x.T), lambda x: np.pad(x.transpose(1, 2, 0), ((1, 3), (2, 0), (0, 0)))):
        np.testing.assert_array_equal(wf.jit(f)(x), f(x))


def test_a_gather_of_each_element_several_times_is_a_broadcast() -> None:
    x = RNG.normal(size=(4, 6, 8)).astype(np.float32)
    rows, columns, ends = np.arange(12) // 2, np.arange(24) // 3, np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, -2])
    for f, repeats in (
        (lambda x: x[:, rows] + 1, True), (lambda x: x[:, rows[:, None], columns] + 1, True), (lambda x: x[rows[:8]] + 1, True), (lambda x: x[:, ends], False),
        (lambda x: x[:, rows, columns[:12]], False), (lambda x: x[:, np.minimum(rows + 1, 5)], False), (lambda x: x[columns[:12], rows], False),
    ):  # fmt: skip
        exe = wf.compile(f, x)
        np.testing.assert_array_equal(exe(x), f(x))
        assert repeats != any("gather" in kernel.ops for kernel in exe.kernels)


def test_what_two_kernels_need_is_stored_when_it_is_whole() -> None:
    x, w = RNG.normal(size=(2, 4, 21, 22)).astype(np.float32), RNG.normal(size=(4, 4, 3, 3)).astype(np.float32)

    def f(x: Any, w: Any) -> Any:
        best = x[:, :, 0:19:2, 0:20:2]
        for i, j in list(itertools.product(range(3), repeat=2))[1:]:
            best = np.maximum(best, x[:, :, i : i + 19 : 2, j : j + 20 : 2])
        return wf.conv2d(best, w, padding=1) + best

    exe = wf.compile(f, x, w)
    assert not any({"dot_general", "slice"} <= set(kernel.ops) for kernel in exe.kernels)
    best = windows(x, (3, 3), (2, 2), (1, 1)).max((4, 5))
    close(exe(x, w), convolution(best, w, (1, 1), ((1, 1), (1, 1)), (1, 1), 1) + best, 200)
