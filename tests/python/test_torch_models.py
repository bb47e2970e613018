"""Models of torch and transformers through torch.compile: outputs, gradients and training steps are those of eager."""

import copy
import importlib.util

import needs_torch
import pytest

needs_torch.require()

import torch
import torch_models
from torch.utils._pytree import tree_leaves

import weftwork.torch

OWN = ("mlp", "resnet", "unet")
NAMES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name not in OWN and not importlib.util.find_spec("transformers"), reason="needs transformers"
        ),
    )
    for name in torch_models.MODELS
]

pytestmark = pytest.mark.usefixtures("fresh_torch")


def floats(result):
    parts = tuple(result.values()) if isinstance(result, dict) else result
    return [t for t in tree_leaves(parts) if isinstance(t, torch.Tensor) and t.is_floating_point()]


def trained(module, call, inputs):
    """Outputs, gradients and buffers of a step."""
    outputs = floats(call(**inputs))
    sum((o * o).mean() for o in outputs if o.requires_grad).backward()
    return outputs, [p.grad for p in module.parameters()], list(module.buffers())


def assert_close(given, wanted, scale=1e-5):
    assert len(given) == len(wanted)
    for g, w in zip(given, wanted, strict=True):
        assert (g is None) == (w is None)
        if g is not None:
            assert g.shape == w.shape and g.dtype == w.dtype and g.stride() == w.stride()
            torch.testing.assert_close(
                g, w, rtol=1e-4, atol=scale * max(1.0, w.abs().max().item() if w.numel() else 1.0)
            )


def compiled(module, graphs, **options):
    return torch.compile(module, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), **options)


def assert_native(graphs):
    report = weftwork.torch.Report.of(graphs)
    assert not report.fallback and not report.random, str(report)
    assert report.programs == report.graphs


@pytest.mark.parametrize("name", NAMES)
def test_a_model_gives_what_eager_gives_and_is_native(name):
    module, inputs = torch_models.made(name)
    other, graphs = copy.deepcopy(module), []
    wanted = trained(module, module, inputs)
    given = trained(other, compiled(other, graphs), inputs)
    for g, w in zip(given, wanted, strict=True):
        assert_close(g, w)
    with torch.no_grad():
        assert_close(floats(compiled(other.eval(), graphs)(**inputs)), floats(module.eval()(**inputs)))
    assert_native(graphs)


def of_sizes(name):
    """Inputs of several sizes."""
    if name == "mlp":
        return [{"input": torch.randn(b, 32)} for b in (4, 3, 9)]
    if name in OWN:
        return [{"x": torch.randn(b, 3, n, m)} for b, n, m in ((2, 24, 32), (3, 16, 40), (4, 32, 16))]
    return [torch_models.words(b, n) for b, n in ((2, 16), (3, 16), (5, 9), (2, 31))]


SOME = [p for p in NAMES if p.values[0] in ("mlp", "resnet", "bert", "llama")]


@pytest.mark.parametrize("name", SOME)
def test_sizes_change_without_another_compilation(name):
    module, _ = torch_models.made(name)
    graphs = []
    call = compiled(module.eval(), graphs, dynamic=True)
    with torch.no_grad():
        for inputs in of_sizes(name):
            assert_close(floats(call(**inputs)), floats(module(**inputs)))
    assert len(graphs) == 1
    assert_native(graphs)


@pytest.mark.parametrize("name", SOME)
def test_training_takes_other_sizes_without_another_compilation(name):
    module, _ = torch_models.made(name)
    other, graphs = copy.deepcopy(module), []
    call = compiled(other, graphs, dynamic=True)
    for inputs in of_sizes(name):
        module.zero_grad(), other.zero_grad()
        for g, w in zip(trained(other, call, inputs), trained(module, module, inputs), strict=True):
            assert_close(g, w)
    assert len(graphs) == 2
    assert_native(graphs)


@pytest.mark.parametrize("name", ["mlp", "resnet"])
def test_training_steps_of_adamw(name):
    module, inputs = torch_models.made(name)
    other, graphs = copy.deepcopy(module), []
    calls = (module, compiled(other, graphs))
    for part, call in zip((module, other), calls, strict=True):
        # With the default eps a gradient that is rounding alone makes a step as long as any.
        optimizer = torch.optim.AdamW(part.parameters(), lr=1e-2, eps=1e-3)
        step = optimizer.step if part is module else compiled(optimizer.step, graphs)
        for _ in range(3):
            optimizer.zero_grad()
            (call(**inputs) ** 2).mean().backward()
            step()
    assert_close(list(other.parameters()), list(module.parameters()), 1e-5)
    assert_native(graphs)


def test_dropout_draws_what_eager_draws():
    module = torch.nn.Sequential(
        torch.nn.Linear(16, 16), torch.nn.Dropout(0.3), torch.nn.Linear(16, 4), torch.nn.Dropout(0.5)
    )
    x, call = torch.randn(8, 16), torch.compile(module, backend="weftwork")
    call(x)
    for seed in range(3):
        torch.manual_seed(seed)
        wanted = module(x)
        torch.manual_seed(seed)
        torch.testing.assert_close(call(x), wanted)


def test_autocast_to_bfloat16():
    module, inputs = torch_models.made("mlp")
    graphs = []
    call = compiled(module, graphs)
    with torch.autocast("cpu", torch.bfloat16):
        wanted, given = module(**inputs), call(**inputs)
    assert given.dtype == wanted.dtype == torch.bfloat16
    torch.testing.assert_close(given, wanted, rtol=2e-2, atol=2e-2)
    assert_native(graphs)


OPTIMIZERS = {
    "Adadelta": {},
    "RMSprop": {"centered": True},
    "NAdam": {},
    "RAdam": {},
    "ASGD": {},
    "Rprop": {},
    "AdamW": {"amsgrad": True},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_of_an_optimizer(name):
    found = []
    for compiles in (False, True):
        torch.manual_seed(0)
        weights = [torch.nn.Parameter(torch.rand(2, 3)), torch.nn.Parameter(torch.rand(4))]
        optimizer = getattr(torch.optim, name)(weights, foreach=True, **OPTIMIZERS[name])
        step = torch.compile(optimizer.step, backend="weftwork") if compiles else optimizer.step
        for scale in (1, 2):
            for weight in weights:
                weight.grad = torch.sin(weight.detach() * scale)
            step()
        found.append(weights)
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted)
