"""What modules of models do with tensors, in programs: results and gradients are those of eager, and torch runs none of it."""

import itertools

import needs_torch
import pytest

needs_torch.require()

import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

import weftwork.torch
from weftwork.torch import forms, grids, record

pytestmark = pytest.mark.usefixtures("fresh_torch")


def assert_native(function, *inputs, dynamic=False):
    """Compiled as in eager, forward and backward, without calls of torch."""
    graphs = []
    call = torch.compile(
        function, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), dynamic=dynamic
    )
    both = [[x.clone().requires_grad_(x.is_floating_point()) for x in inputs] for _ in range(2)]
    for f, given in zip((function, call), both, strict=True):
        result = f(*given)
        given.append(result)
        if result.requires_grad:
            result.sin().sum().backward()
    for wanted, given in zip(*both, strict=True):
        torch.testing.assert_close(given, wanted)
        assert given.stride() == wanted.stride()
        if wanted.is_leaf and wanted.grad is not None:
            torch.testing.assert_close(given.grad, wanted.grad, rtol=1e-4, atol=1e-4)
    report = weftwork.torch.Report.of(graphs)
    assert not report.fallback, str(report)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1).transpose(0, 1).as_strided((3, 2), (2, 1)) * 2,
        lambda x: (x + 1)[:, 1:].as_strided((2, 2), (1, 3)) * 2,
        lambda x: (x * 2).clone()[1:].as_strided((2, 2), (1, 1)) + 1,
        lambda x: (x + 1).mT.mT[1].as_strided((3, 2), (1, 1), 2) + 1,
    ],
)
def test_strides_over_the_memory_of_views(function):
    assert_native(function, torch.randn(3, 4))


@pytest.mark.parametrize(
    ("rank", "mode", "padding", "align", "dynamic"),
    [
        (2, "bilinear", "zeros", False, True),
        (2, "bicubic", "reflection", True, False),
        (3, "bilinear", "reflection", True, True),
        (3, "nearest", "border", False, False),
    ],
)
def test_samples_at_the_places_of_a_grid(rank, mode, padding, align, dynamic):
    def sample(x, grid):
        return torch.nn.functional.grid_sample(x, grid, mode, padding, align) * 2

    image, grid = torch.randn(2, 3, *(5, 4, 6)[:rank]), torch.randn(2, *(3, 4, 2)[:rank], rank)
    assert_native(sample, image, grid, dynamic=dynamic)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("rows", [1, 4])
def test_samples_taken_apart_are_those_of_torch(rank, rows):
    aten = torch.ops.aten
    forward, backward = (getattr(aten, f"grid_sampler_{rank}d{end}") for end in ("", "_backward"))
    for mode, padding, align in itertools.product(range(3 if rank == 2 else 2), range(3), (False, True)):
        x = torch.randn(2, 3, rows, *(5,) * (rank - 1)).double()
        grid = torch.randn(2, *(3,) * rank, rank).double() * 1.5
        wanted = forward(x, grid, mode, padding, align)
        torch.testing.assert_close(grids.sample(x, grid, mode, padding, align), wanted)
        given = (torch.randn_like(wanted), x, grid, mode, padding, align, [True, True])
        torch.testing.assert_close(grids.sample_backward(*given), backward(*given))


@pytest.mark.parametrize("place", [float("nan"), float("inf"), -1e30])
@pytest.mark.parametrize("rank", [2, 3])
def test_places_that_are_nowhere(rank, place):
    aten = torch.ops.aten
    forward, backward = (getattr(aten, f"grid_sampler_{rank}d{end}") for end in ("", "_backward"))
    x, grid = torch.randn(1, 2, *(4,) * rank), torch.rand(1, *(2,) * rank, rank)
    grid[..., 0, 0] = place
    wanted = forward(x, grid, 0, 0, False)
    if rank == 3:
        torch.testing.assert_close(grids.sample(x, grid, 0, 0, False), wanted)
    given = (torch.ones_like(wanted), x, grid, 0, 0, False, [True, True])
    for ours, theirs in zip(grids.sample_backward(*given), backward(*given), strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_attention_over_pixels_of_images_of_any_size():
    def attend(x):
        y = x.flatten(2).transpose(1, 2)
        return (y @ y.transpose(1, 2)).softmax(-1) @ y

    assert_native(attend, torch.randn(2, 8, 6, 6), dynamic=True)


def filled_up(x):
    """Lines in chunks of 64, the last filled up; torch infers how long a chunk is."""
    x = torch.nn.functional.pad(x, (0, (64 - x.shape[1] % 64) % 64))
    y = x.reshape(x.shape[0], x.shape[1] // 64, -1)
    return torch.where(torch.ones(64).cumsum(0) < 9, y, 0.0).sin()


def in_windows(x):
    b, h, w, c = x.shape
    x = torch.nn.functional.pad(x, (0, 0, 0, -w % 4, 0, -h % 4))
    rows, columns = x.shape[1] // 4, x.shape[2] // 4
    y = x.view(b, rows, 4, columns, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
    y = (y @ y.mT @ y).view(b, rows, columns, 4, 4, c).permute(0, 1, 3, 2, 4, 5)
    return y.reshape(b, rows * 4, columns * 4, c)[:, :h, :w].contiguous()


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (filled_up, (2, 70)),
        (in_windows, (2, 9, 18, 3)),
        (lambda x: x[:, : x.shape[1] - x.shape[1] % 8].reshape(x.shape[0], -1, 8).cos(), (2, 70)),
        (lambda x: x + torch.arange(2048.0)[max(0, 2048 - x.shape[1]) :], (2, 70)),
    ],
)
def test_extents_that_are_equal_in_another_form(function, sizes):
    assert_native(function, torch.randn(sizes), dynamic=True)


def test_arguments_written_whose_extent_is_a_product():
    def write(x, y):
        x.mul_(0).add_(y.reshape(-1, 5).sin())
        return x + 1

    graphs = []
    call = torch.compile(write, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), dynamic=True)
    given, wanted, y = torch.zeros(12, 5), torch.zeros(12, 5), torch.randn(3, 4, 5)
    torch.testing.assert_close(call(given, y), write(wanted, y))
    torch.testing.assert_close(given, wanted)
    assert not weftwork.torch.Report.of(graphs).fallback


def test_chunks_whose_number_is_known():
    def chunks(x):
        y = torch.nn.functional.pad(x.exp(), (0, -x.shape[1] % 64)).cos()
        parts = [y[:, i * 64 : i * 64 + 64] for i in range(y.shape[1] // 64)]
        return torch.stack([p * y[:, -64:] for p in parts], 1) + y.view(x.shape[0], -1, 64)

    assert_native(chunks, torch.randn(3, 50), dynamic=True)


def test_forms_of_extents_keep_their_value():
    n, m = sympy.symbols("n m", integer=True, positive=True)
    for expression in [
        n + PythonMod(-n, 64),
        n + PythonMod(-Mod(n, 64), 64),
        n + m - Mod(n + m, 8),
        FloorDiv(n * n * m, 2 * n),
        FloorDiv(n + PythonMod(-n, 8), FloorDiv(n + PythonMod(-n, 8), 8)),
        PythonMod(m - 3 * Mod(n, 5), 5) + sympy.Max(n, m),
    ]:
        form = forms.simplest(expression)
        for values in itertools.product((1, 2, 7, 8, 9, 63, 64, 65, 130), repeat=2):
            given = dict(zip((n, m), values, strict=True))
            assert form.subs(given) == expression.subs(given)


@pytest.mark.parametrize("between", [torch.nn.LeakyReLU(0.2), torch.nn.MaxPool2d(2)])
def test_linear_after_flattened_images_of_any_size(between):
    images = torch.randn(2, 3, 8, 10)
    features = between(torch.randn(2, 4, 6, 8)).flatten(1).shape[1]
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), between, torch.nn.Flatten(), torch.nn.Linear(features, 5))
    assert_native(module, images, dynamic=True)


def quantize(x, scale):
    whole = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127)
    return whole + torch.fake_quantize_per_channel_affine(x, scale.detach(), torch.tensor([0, 1, -2]).int(), 1, -8, 7)


@pytest.mark.parametrize("dynamic", [False, True])
def test_weights_quantized_while_training(dynamic):
    x = torch.cat([torch.arange(24.0) * 0.05, torch.randn(24) * 9]).view(-1, 3)
    assert_native(quantize, x, torch.tensor([0.1, 0.37, 0.25]), dynamic=dynamic)


@pytest.mark.parametrize(("bins", "low", "high"), [(10, -2, 2), (7, 0, 6), (3, 0, 0.7)])
def test_counts_in_bins(bins, low, high):
    x = torch.cat([torch.randn(999), torch.arange(-8.0, 8.0), torch.tensor([float("inf")])])
    assert_native(lambda x: torch.histc(x.detach(), bins, low, high) * 2, x, dynamic=True)


def test_what_cannot_be_recorded_is_found_at_once(monkeypatch):
    """These sums along symbolic extents, each of the one before, are torch's: the graph is recorded twice, not once for each."""
    added = []
    add = record.Recording.add
    monkeypatch.setattr(record.Recording, "add", lambda self, node: (added.append(node), add(self, node))[1])

    def function(x):
        for _ in range(12):
            x = torch.logcumsumexp(x.sin(), 0) + x.max(0, keepdim=True)[0]
        return x

    x = torch.randn(7, 3)
    call = torch.compile(function, backend="weftwork", dynamic=True)
    torch.testing.assert_close(call(x), function(x))
    assert len(added) <= 2 * len(set(added)) + 1
