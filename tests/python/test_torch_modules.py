"""What modules of models do with tensors, in programs: results and gradients are those of eager, and torch runs none of it."""

import needs_torch
import pytest

needs_torch.require()

import torch

import weftwork.torch

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
            torch.testing.assert_close(given.grad, wanted.grad)
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
