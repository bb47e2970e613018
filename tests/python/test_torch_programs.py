"""Programs of unusual kinds: whatever torch does eagerly the compiled function does, results, gradients, strides and what it writes."""

import needs_torch
import pytest

needs_torch.require()

import torch
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

import weftwork.torch  # noqa: F401

pytestmark = pytest.mark.usefixtures("fresh_torch")


def copied(value):
    """A tensor with the same layout in memory of its own."""
    if not isinstance(value, torch.Tensor):
        return value
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return made.copy_(value) if value.numel() else made


def same(function, *inputs, gradient=False, **options):
    call = torch.compile(function, backend="weftwork", **options)
    for _ in range(2):
        found = []
        for f in (call, function):
            arguments = [copied(x) for x in inputs]
            leaves = [
                a.requires_grad_()
                for a in arguments
                if gradient and isinstance(a, torch.Tensor) and a.is_floating_point()
            ]
            torch.manual_seed(1)
            results = f(*arguments)
            results = tree_leaves(results)
            smooth = [r.float().sum() for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
            slopes = torch.autograd.grad(sum(smooth), leaves, allow_unused=True) if smooth and leaves else ()
            found.append([*results, *arguments, *slopes])
        strided = len(found[0]) - len(slopes)
        for place, (given, wanted) in enumerate(zip(*found, strict=True)):
            if not isinstance(wanted, torch.Tensor):
                assert given == wanted and type(given) is type(wanted)
                continue
            torch.testing.assert_close(given, wanted, equal_nan=True)
            assert given.stride() == wanted.stride() or wanted.numel() < 2 or place >= strided


# The inputs are the same whatever has drawn before.
numbers = torch.Generator().manual_seed(0)


def X(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=numbers).to(dtype)


def conversions(x):
    return [
        (x * 50).to(d).to(torch.float32)
        for d in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64)
    ]


def bits(x):
    y = x.view(torch.int32)
    return (y ^ (y << 3)).view(torch.float32).isnan(), (y >> 31).to(torch.uint8), (y & 0xFF).bool()


def ladder_of_views(x):
    y = x.t()[1:].unfold(0, 2, 1).select(-1, 1)
    z = y.unsqueeze(0).expand(3, *y.shape).transpose(0, 2)
    return y, z, z[..., 1], z.flatten(1)


def in_slices_of_slices(x):
    y = x[1:]
    z = y[:, ::2]
    z[0].mul_(3)
    z[1:, -1] = z[0, 0]
    y[-1].copy_(x[0])
    x.t()[2].add_(z.sum())
    return z, x.sum()


def puts(x, i, j):
    x = x.clone()
    x[i, :, j] = 5.0
    x[:, i] += 1
    x.index_put_((i, j, torch.zeros_like(i)), torch.tensor(2.0), accumulate=True)
    x[..., x[0, 0] > 0] *= 2
    return x


def reductions_into(x, i):
    zeros = torch.zeros(4, x.shape[1])
    return [
        zeros.scatter_reduce(0, i, x, how, include_self=own)
        for how in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ]


def empty(x):
    y = x[:, 2:2]
    return (
        y.sum(),
        y.sum(1),
        y.prod(0),
        torch.cat([y, x], 1),
        y @ y.t(),
        F.softmax(y, 1),
        y.mean(),
        torch.stack([y, y]).shape[0],
        y.argsort(1),
        y.any(),
        y.all(),
    )


def nested(x):
    def outer(scale):
        kept = []

        def inner(v, depth=0):
            kept.append(v.sum())
            return v if depth == 3 else inner(torch.tanh(v * scale + kept[-1]), depth + 1)

        return inner, kept

    function, kept = outer(x.mean())
    return function(x), torch.stack(kept), len(kept)


def under_autocast(x, w):
    with torch.autocast("cpu", torch.bfloat16):
        y = F.gelu(x @ w)
        with torch.autocast("cpu", enabled=False):
            z = y.float() @ w.t()
        return torch.softmax(y, -1), z, F.layer_norm(y, (y.shape[-1],))


def zero_dimensional(x):
    s = x.sum()
    return (
        s + 1,
        s[None],
        s.expand(2, 3),
        torch.where(s > 0, s, -s),
        s.view(1, 1).squeeze(),
        s.unsqueeze(0).cumsum(0),
        torch.ones((), dtype=torch.int64) / 2,
    )


def mixed_dtypes(x, i):
    return (
        x + i,
        x * True,
        i / 2,
        i // 2,
        i % 3,
        -i.to(torch.uint8),
        x.half() + 1,
        x.bfloat16() * i,
        torch.true_divide(i, i + 10),
        i.float().half() + i,
        i > 1.5,
    )


def nan_and_inf(x):
    y = torch.log(x)
    return (
        y,
        torch.nan_to_num(y),
        y.max(),
        torch.maximum(y, x),
        y.clamp(-1, 1),
        torch.fmin(y, x),
        y == y,
        torch.nanmean(y),
        y.sort()[0],
        torch.where(y.isnan(), 0, y),
    )


def channels_last(x, w):
    y = F.conv2d(x.contiguous(memory_format=torch.channels_last), w, padding=1)
    return (
        y,
        F.max_pool2d(y, 2),
        y.mean((2, 3), keepdim=True),
        F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False),
    )


def views_that_are_written(x):
    a, b = x.chunk(2, 1)
    a += b
    b.zero_()
    return x.view(-1)[::3], a.t()


def sets_and_orders(x):
    values, places = x.flatten().sort(stable=True, descending=True)
    return (
        values,
        places,
        x.topk(2, 1),
        x.kthvalue(2, 0).values,
        x.cummax(1).indices,
        x.median(),
        torch.bucketize(x, values.flip(0)),
        x.argmax(),
    )


def diagonals(x):
    return (
        x.diagonal(1).contiguous() * 2,
        torch.diag_embed(x[0], 1),
        x.tril(-1),
        torch.triu(x, 2),
        x.trace(),
        torch.block_diag(x, x[:1]),
        x.rot90(),
    )


def loops(x):
    total = torch.zeros_like(x)
    for i in range(x.shape[0]):
        total[i] = x[: i + 1].sum(0)
        if i % 2:
            total = total.flip(0)
    return total


def draws(x):
    return (
        x + torch.rand_like(x),
        F.dropout(x, 0.5),
        torch.randperm(5),
        torch.randint(0, 9, (3,)),
        torch.normal(x, 1.0),
        torch.bernoulli(x.sigmoid()),
    )


def complex_numbers(x):
    z = torch.complex(x, x.flip(0))
    return (
        z.abs(),
        z.angle(),
        (z @ z.mT.conj()).real,
        torch.fft.rfft(x).abs(),
        torch.view_as_real(z * 1j),
        torch.fft.ifft2(torch.fft.fft2(z)).imag,
    )


def einsums(x, y):
    return (
        torch.einsum("ij,kj->ik", x, y),
        torch.einsum("ii->i", x[:, : x.shape[0]]),
        torch.einsum("ij,ij,kj->k", x, x, y),
        torch.tensordot(x, y, ([1], [1])),
    )


def closures(x):
    table = {"a": x, "b": [x * 2, (x + 1,)]}
    return table["b"][1][0] + table["a"], len(table), table["b"][0].shape[0]


def paddings(x):
    return [F.pad(x[None, None], (1, 2, 2, 1), mode=mode) for mode in ("reflect", "replicate", "circular")] + [
        F.pad(x, (-1, 1), value=3.0),
        x.roll((1, -1), (0, 1)),
    ]


def masks(x, i):
    mask = i > 1
    return (
        x.masked_fill(mask[:, None], -1),
        torch.where(mask[:, None], x, 2.0),
        x.masked_scatter(mask[:, None].expand_as(x), x.flip(0)),
        (x * mask[:, None]).count_nonzero(1),
    )


def shares_memory(x, y):
    y.add_(1)
    return x + y, y[0], y


I = torch.tensor([0, 2, 1, 3])


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (conversions, (X(3, 4),)),
        (bits, (X(5),)),
        (ladder_of_views, (X(4, 5),)),
        (ladder_of_views, (X(5, 4).t(),)),
        (in_slices_of_slices, (X(4, 5),)),
        (in_slices_of_slices, (X(4, 10)[:, ::2],)),
        (puts, (X(4, 4, 4), I, I.flip(0))),
        (reductions_into, (X(6, 3), torch.tensor([[0, 1, 3], [1, 1, 0], [3, 0, 0], [0, 0, 1], [1, 3, 3], [0, 1, 0]]))),
        (empty, (X(3, 4),)),
        (nested, (X(3, 4),)),
        (under_autocast, (X(4, 8), X(8, 8))),
        (zero_dimensional, (X(3, 4),)),
        (mixed_dtypes, (X(4), I)),
        (nan_and_inf, (torch.tensor([-1.0, 0.0, 1.0, torch.inf, torch.nan]),)),
        (channels_last, (X(2, 3, 6, 6), X(4, 3, 3, 3))),
        (views_that_are_written, (X(4, 6),)),
        (sets_and_orders, (X(4, 6),)),
        (diagonals, (X(4, 4),)),
        (loops, (X(5, 3),)),
        (draws, (X(4, 3),)),
        (complex_numbers, (X(4, 6),)),
        (einsums, (X(4, 6), X(5, 6))),
        (closures, (X(4, 6),)),
        (paddings, (X(4, 6),)),
        (masks, (X(4, 6), I)),
        (shares_memory, (X(4, 6), X(4, 6))),
    ],
)
def test_a_program_does_what_eager_does(function, inputs):
    same(function, *inputs)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (ladder_of_views, (X(4, 5),)),
        (puts, (X(4, 4, 4), I, I.flip(0))),
        (reductions_into, (X(6, 3), torch.tensor([[0, 1, 3], [1, 1, 0], [3, 0, 0], [0, 0, 1], [1, 3, 3], [0, 1, 0]]))),
        (nested, (X(3, 4),)),
        (under_autocast, (X(4, 8), X(8, 8))),
        (channels_last, (X(2, 3, 6, 6), X(4, 3, 3, 3))),
        (diagonals, (X(4, 4),)),
        (loops, (X(5, 3),)),
        (complex_numbers, (X(4, 6),)),
        (einsums, (X(4, 6), X(5, 6))),
        (paddings, (X(4, 6),)),
        (masks, (X(4, 6), I)),
    ],
)
def test_its_gradient_is_eagers(function, inputs):
    same(function, *inputs, gradient=True)


@pytest.mark.parametrize(
    "function",
    [ladder_of_views, empty, nested, diagonals, loops, complex_numbers, paddings, sets_and_orders, zero_dimensional],
)
def test_sizes_are_symbolic(function):
    for shape in ((4, 6), (5, 7), (3, 9)):
        same(function, X(*shape), dynamic=True)


@pytest.mark.parametrize("exponent", [torch.int64, torch.float16, torch.float32])
@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float32, torch.float64])
def test_ldexp_has_the_dtype_of_eager(dtype, exponent):
    for shapes in (((3,), ()), ((), (3,)), ((), ())):
        same(torch.ldexp, *((X(*shape) * 3).to(d) for shape, d in zip(shapes, (dtype, exponent), strict=True)))


def test_scatters_that_combine():
    places = torch.tensor([[0, 1], [1, 1]])
    for dtype in (torch.float32, torch.bfloat16, torch.int32, torch.uint8):
        x, y = ((X(4, 3) * 9).abs().to(dtype) for _ in range(2))
        x = -x if dtype.is_signed else x
        same(lambda x, y, i: [x.scatter(0, i, y, reduce=how) for how in ("add", "multiply")], x, y, places)
        same(lambda x, i: [x.scatter(1, i, 3, reduce=how) for how in ("add", "multiply")], x, places)
        same(lambda x, y, i: [x.scatter_reduce(0, i, y, "mean", include_self=s) for s in (True, False)], x, y, places)


@pytest.mark.parametrize("dim", [0, -1])
def test_gradients_of_normed_weights(dim):
    lengths = X(3, 1, 1) if dim == 0 else X(1, 1, 2)
    options = {"options": {"fallback": False}}
    same(lambda v, g: torch._weight_norm(v, g, dim), X(3, 4, 2), lengths, gradient=True, **options)


def test_numbers_where_integers_and_complex_numbers_are_odd():
    same(lambda x: (x.digamma(), x.lgamma()), torch.tensor([0.0, -0.0, 1.0, -1.5, torch.inf]))
    same(lambda x: (x + -2, x * 300, x.fmod(-2), x % -3), torch.arange(9, dtype=torch.uint8))
    z, w = torch.complex(X(5), X(5)), torch.complex(X(5), X(5))
    same(lambda z, w: (z**w, z**2, z**0.5, 2**z, z**z.real), z, w, gradient=True, options={"fallback": False})
    z[1] = complex(torch.nan, 1)
    same(lambda z: (z.isnan(), torch.isclose(z, z)), z, options={"fallback": False})


def in_slices_with_steps(x):
    y = x.clone()
    y[::2], y[1:, :2], y[-1] = 7, x[:-1, 1:3], x[0] * 2
    x[:, 1::3] *= 2
    return y


def test_rolls_and_slices_of_symbolic_sizes_are_native():
    for shape in ((4, 5), (7, 9)):
        same(lambda x: x.roll((1, 2), (0, 1)), X(*shape), dynamic=True, options={"fallback": False})
        same(in_slices_with_steps, X(*shape), dynamic=True, options={"fallback": False})
        same(in_slices_with_steps, X(*shape))


CONVOLUTIONS = [
    # Image, weights, stride, padding, dilation, groups, transposed.
    ((2, 3, 13, 14), (8, 3, 3, 3), 1, 1, 1, 1, False),
    ((3, 4, 17, 16), (6, 4, 5, 4), (2, 3), (2, 1), 1, 1, False),
    ((2, 6, 19, 18), (4, 3, 3, 3), 1, (0, 2), (2, 1), 2, False),
    ((2, 5, 15, 15), (5, 1, 3, 3), 2, 1, 1, 5, False),
    ((2, 4, 40), (6, 4, 5), 1, 2, 1, 1, False),
    ((1, 2, 6, 7, 8), (3, 2, 3, 3, 3), 1, 1, 1, 1, False),
    ((2, 4, 7, 8), (4, 3, 2, 2), 2, 0, 1, 1, True),
    ((2, 4, 7, 8), (4, 2, 4, 3), (2, 3), 1, 1, 2, True),
    ((2, 3, 5, 5), (3, 4, 3, 3), 2, 0, 2, 1, True),
]


@pytest.mark.parametrize(("image", "kernel", "stride", "padding", "dilation", "groups", "is_transposed"), CONVOLUTIONS)
def test_gradients_of_convolutions_are_eagers(image, kernel, stride, padding, dilation, groups, is_transposed):
    def function(x, w, b):
        return F.relu(
            torch.ops.aten.convolution(x, w, b, one(stride), one(padding), one(dilation), is_transposed, one(0), groups)
        )

    def one(value):
        return [value] * (len(image) - 2) if isinstance(value, int) else list(value)

    outputs = kernel[1] * groups if is_transposed else kernel[0]
    same(function, *(X(*shape, dtype=torch.float64) for shape in (image, kernel, (outputs,))), gradient=True)
    same(function, *(X(*shape) for shape in (image, kernel, (outputs,))))


def test_the_greatest_of_windows_with_and_without_their_places():
    x = X(2, 3, 11, 12)
    x[0, 1, 4, 4:8], x[1, 2, 3, 3], x[1, 0] = float("nan"), float("inf"), float("-inf")
    same(lambda x: F.max_pool2d(x, 3, 2, 1), x)
    same(lambda x: F.max_pool2d(x, 3, 2, 1, dilation=2, return_indices=True), x)
    same(lambda x: F.max_pool2d(x, (2, 3), ceil_mode=True), X(2, 3, 11, 12), gradient=True)
    same(lambda x: F.max_pool2d(x.abs() + 1, 3, 2, 1) * F.relu(x)[..., :6, :6], X(2, 3, 11, 12))


def test_images_become_larger_by_nearest_elements():
    for sizes in (
        {"scale_factor": 2},
        {"scale_factor": (3, 1)},
        {"scale_factor": 1.5},
        {"size": (12, 16)},
        {"size": (7, 24)},
    ):
        for mode in ("nearest", "nearest-exact"):
            with torch.no_grad():
                same(lambda x, mode=mode, sizes=sizes: F.interpolate(x * 2, mode=mode, **sizes) + 1, X(2, 3, 6, 8))
