"""Marked regions: in torch, on a device, compiled once; forward and backward, static and dynamic."""

import needs_torch
import pytest

needs_torch.require()

import torch

import weftwork as wf
import weftwork.torch
from weftwork.torch import annotate, mark

pytestmark = pytest.mark.usefixtures("fresh_torch")


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.dense = torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)

    def forward(self, x):
        return x + torch.tanh(self.dense(self.norm(x)))


def results(function, x, parameters=()):
    x = x.detach().requires_grad_()
    given = function(x)
    return [given.detach(), *torch.autograd.grad(given.sum(), [x, *parameters])]


def compiled(function, **options):
    graphs = []
    call = torch.compile(
        function, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), fullgraph=True, **options
    )
    return call, graphs


def same(function, *sizes, parameters=(), **options):
    call, graphs = compiled(function, **options)
    for rows in sizes:
        x = torch.randn(rows, 8)
        for given, wanted in zip(results(call, x, parameters), results(function, x, parameters), strict=True):
            torch.testing.assert_close(given, wanted)
    return graphs


def compiled_programs(count, dynamic):
    """Programs and compilations of a model of so many layers, forward and backward."""
    torch._dynamo.reset()
    layers = torch.nn.Sequential(*(Layer() for _ in range(count)))
    parameters = list(layers.parameters())
    assert annotate(layers, once=True) is layers
    graphs = same(layers, 3, 3, parameters=parameters, dynamic=dynamic)
    reports = [weftwork.torch.Report.of([graph]) for graph in graphs]
    assert len(graphs) == 2
    assert not any(report.fallback for report in reports)
    return [report.programs for report in reports], [report.compiled for report in reports]


@pytest.mark.parametrize("dynamic", [None, True])
def test_equal_layers_are_compiled_once(dynamic):
    (few, once), (many, again) = compiled_programs(4, dynamic), compiled_programs(9, dynamic)
    assert all(m >= f + 5 for f, m in zip(few, many, strict=True))
    assert once == again  # what the first and the last have to do differs from the others
    assert once[0] <= 3


def test_entries_in_a_loop_are_regions_of_their_own():
    def function(x):
        for _ in range(5):
            with mark(once=True):
                x = torch.sin(x) * 2
        return x + 1

    graphs = same(function, 4)
    forward = weftwork.torch.Report.of(graphs[:1])
    assert (forward.programs, forward.compiled) == (6, 2)


def test_what_is_between_regions_runs_between_them():
    def function(x):
        y = x * 3
        with mark(once=True):
            x = torch.exp(y)
        z = x - y
        with mark(once=True):
            x = torch.exp(z.t()).t() + y
        with mark():
            x = x * z
        return x, z

    call, graphs = compiled(function)
    x = torch.randn(4, 8)
    for given, wanted in zip(call(x), function(x), strict=True):
        torch.testing.assert_close(given, wanted)
    assert len(graphs[0].programs) >= 4


def test_a_region_runs_in_torch_with_its_gradient():
    @mark("torch")
    def inner(x):
        return torch.exp(x) * 2

    def function(x):
        x = inner(torch.relu(x))
        with mark("torch"):
            x = torch.cos(x)
        return torch.tanh(x)

    graphs = same(function, 4)
    reports = [weftwork.torch.Report.of([graph]) for graph in graphs]
    assert [sorted(row.op for row in reports[0].fallback)] == [
        ["aten.cos.default", "aten.exp.default", "aten.mul.Tensor"]
    ]
    assert {row.reason for report in reports for row in report.fallback} == {"marked to run in torch"}
    assert {"aten.relu.default", "aten.tanh.default"} <= set(reports[0].native)
    assert any("aten.sin.default" in row.op for row in reports[1].fallback)


def test_a_region_runs_on_a_device():
    def function(x):
        with mark("cpu:0"):
            x = torch.exp(x)
        return x * 2

    assert len(same(function, 4)[0].programs) == 2


def test_the_innermost_mark_holds():
    def function(x):
        with mark(once=True):
            x = x * 2
            with mark("torch"):
                x = torch.exp(x)
            return x + 1

    report = weftwork.torch.Report.of(same(function, 4)[:1])
    assert [row.op for row in report.fallback] == ["aten.exp.default"]


def test_frozen_parameters_of_regions_are_inputs():
    layers = annotate(torch.nn.Sequential(*(Layer() for _ in range(3))).eval(), once=True)
    with torch.no_grad():
        x = torch.randn(4, 8)
        frozen = torch.compile(layers, backend="weftwork", options={"freeze": True})
        torch.testing.assert_close(frozen(x), layers(x))


def test_an_exported_program_is_one_program_all_the_same():
    layers = annotate(torch.nn.Sequential(*(Layer() for _ in range(3))).eval(), once=True)
    x = torch.randn(4, 8)
    given = weftwork.torch.compile(torch.export.export(layers, (x,)))(x)
    torch.testing.assert_close(torch.from_numpy(given), layers(x))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: mark("nowhere"), ValueError),
        (lambda: mark(3), TypeError),
        (lambda: mark(once=1), TypeError),
        (lambda: annotate([len]), TypeError),
    ],
)
def test_what_is_no_mark_is_told(call, error):
    with pytest.raises(error) as raised:
        call()
    assert isinstance(raised.value, wf.Error)
