"""Operations of torch.library as kernels: forward and backward, attributes, several results, what is refused."""

import needs_torch
import pytest

needs_torch.require()

import numpy as np
import torch

import weftwork as wf
import weftwork.torch

pytestmark = pytest.mark.usefixtures("fresh_torch")


def report_of(function, *inputs):
    """What became of its operations, and that results and gradients are eager's."""
    graphs = []
    call = torch.compile(
        function, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), fullgraph=True
    )
    found = []
    for f in (call, function):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        results = f(*leaves)
        results = results if isinstance(results, tuple) else (results,)
        found.append([*results, *torch.autograd.grad(sum(r.sum() for r in results if r.requires_grad), leaves)])
    for given, wanted in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted)
    return weftwork.torch.Report.of(graphs)


def squares(name, reference=None):
    """An operation x² · factor with its gradient, which is an operation, too."""

    @torch.library.custom_op(f"test::{name}", mutates_args=())
    def forward(x: torch.Tensor, factor: float = 3.0) -> torch.Tensor:
        return x * x * factor

    @torch.library.custom_op(f"test::{name}_backward", mutates_args=())
    def backward(gradient: torch.Tensor, x: torch.Tensor, factor: float) -> torch.Tensor:
        return gradient * x * (2 * factor)

    forward.register_fake(lambda x, factor=3.0: torch.empty_like(x))
    backward.register_fake(lambda gradient, x, factor: torch.empty_like(x))

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.factor = inputs[1]

    forward.register_autograd(
        lambda ctx, gradient: (backward(gradient, ctx.saved_tensors[0], ctx.factor), None), setup_context=setup
    )
    return forward, backward


def like_first(*operands, **attributes):
    return wf.spec(operands[0].shape, operands[0].dtype)


@pytest.mark.parametrize("how", ["reference", "body", "function"])
def test_forward_and_backward_are_kernels(how):
    forward, _ = squares(f"squares_{how}")
    kernels = (
        lambda x, factor: x * x * np.float32(factor),
        lambda gradient, x, factor: gradient * x * np.float32(2 * factor),
    )
    if how != "function":
        kernels = [
            wf.custom_op(f"test.squares_{how}{i}", like_first, **{how: kernel}) for i, kernel in enumerate(kernels)
        ]
    weftwork.torch.register_kernel(forward, kernels[0])
    weftwork.torch.register_kernel(f"test::squares_{how}_backward", kernels[1])
    report = report_of(lambda x: torch.tanh(forward(x)) + forward(x, 0.5), torch.randn(4, 5))
    assert not report.fallback
    assert report.programs == 2
    assert report.native[f"test.squares_{how}.default"] == 2
    assert report.native[f"test.squares_{how}_backward.default"] == 2


def test_without_a_kernel_torch_runs_it():
    forward, _ = squares("plain")
    report = report_of(lambda x: forward(x) + 1, torch.randn(3))
    assert sorted(row.op for row in report.fallback) == ["test.plain.default", "test.plain_backward.default"]


def test_several_results_and_flags():
    @torch.library.custom_op("test::halves", mutates_args=())
    def halves(x: torch.Tensor, at: int, doubled: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        return (x[:at] * 2 if doubled else x[:at].clone()), x[at:].clone()

    halves.register_fake(lambda x, at, doubled=True: (x[:at].clone(), x[at:].clone()))
    weftwork.torch.register_kernel(
        torch.ops.test.halves, lambda x, at, doubled: (x[:at] * 2 if doubled else x[:at], x[at:])
    )
    x = torch.randn(5, 2)
    call = torch.compile(lambda x: halves(x, 2, doubled=False)[0] + halves(x, 3)[1], backend="weftwork", fullgraph=True)
    torch.testing.assert_close(call(x), x[:2] + x[3:])
    assert not weftwork.torch.explain(lambda x: halves(x, 2), x).fallback


def test_what_a_kernel_gives_must_be_what_torch_expects():
    forward, _ = squares("narrow")
    weftwork.torch.register_kernel(forward, lambda x, factor: x[:1])
    report = weftwork.torch.explain(lambda x: forward(x), torch.randn(3))
    assert [(row.op, "was wanted" in row.reason) for row in report.fallback] == [("test.narrow.default", True)]


def test_an_error_of_a_kernel_leaves_the_operation_to_torch():
    forward, _ = squares("broken")

    def broken(x, factor):
        raise KeyError("nothing")

    weftwork.torch.register_kernel(forward, broken)
    assert "nothing" in next(iter(weftwork.torch.explain(lambda x: forward(x), torch.randn(3)).fallback)).reason


def test_what_has_no_kernel_is_told():
    @torch.library.custom_op("test::writes", mutates_args=("x",))
    def writes(x: torch.Tensor) -> None:
        x.zero_()

    for op, kernel, error in (
        ("test::nowhere", abs, ValueError),
        (writes, abs, ValueError),
        (3, abs, TypeError),
        (torch.ops.aten.relu, 3, TypeError),
    ):
        with pytest.raises(error) as raised:
            weftwork.torch.register_kernel(op, kernel)
        assert isinstance(raised.value, wf.Error)
