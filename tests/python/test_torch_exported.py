"""Programs of torch.export as executables: what they write, give and refuse."""

import needs_torch
import pytest

needs_torch.require()

import numpy as np
import torch

import weftwork as wf
import weftwork.torch

pytestmark = pytest.mark.usefixtures("fresh_torch")

X = lambda *shape: torch.arange(1, 1 + int(np.prod(shape)), dtype=torch.float32).reshape(shape)


def test_exported_programs_run_without_torch(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval()
    exported = torch.export.export(module, (X(2, 3),), dynamic_shapes=({0: torch.export.Dim("n", min=2)},))
    weftwork.torch.compile(exported).save(tmp_path / "m.weft")
    program = wf.load(tmp_path / "m.weft")
    for rows in (2, 5):
        np.testing.assert_allclose(program(X(rows, 3).numpy()), module(X(rows, 3)).detach().numpy(), rtol=1e-5)


def test_exported_programs_write_buffers(tmp_path):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x):
            self.count += 1
            return x.t() * self.count[0]

    program = weftwork.torch.compile(torch.export.export(Counter(), (X(2, 3),)))
    count = np.zeros(2, np.float32)
    assert [io.name for io in program.inputs] == ["x", "b_count"]
    results = [program(X(2, 3).numpy(), count)[0] for _ in range(2)]
    assert count.tolist() == [2, 2] and results[1].tolist() == (X(2, 3).t() * 2).tolist()


class Held(torch.nn.Module):
    """A function of itself and its arguments, with a parameter and two buffers."""

    def __init__(self, function):
        super().__init__()
        self.function, self.weight = function, torch.nn.Parameter(X(2))
        self.register_buffer("sum", torch.zeros(2))
        self.register_buffer("last", torch.zeros(2))

    def forward(self, *args):
        return self.function(self, *args)


def writes_an_input(self, a, x):
    a.add_(1)
    return a * x


def writes_all(self, a, x):
    a.mul_(x)
    self.last.copy_(x)  # as it comes, by no operation
    self.sum.add_(a)
    return self.sum + x


def gives_what_it_has(self, a, x):
    return self.weight, a, a.shape[0] * 2 + 1, x * 2


@pytest.mark.parametrize(
    ("function", "buffers"), [(writes_an_input, []), (writes_all, ["sum", "last"]), (gives_what_it_has, [])]
)
def test_exported_programs_write_inputs_and_give_what_they_have(function, buffers):
    module, sizes = Held(function), {0: torch.export.Dim.AUTO}
    program = weftwork.torch.compile(torch.export.export(module, (X(2), X(2) + 1), dynamic_shapes=((sizes, sizes),)))
    arguments = [X(2), X(2) + 1, *(getattr(module, name).clone() for name in buffers)]
    arrays = [a.clone().numpy() for a in arguments]
    assert len(program.inputs) == len(arguments)
    given, wanted = program(*arrays), module(*arguments[:2])
    for g, w in zip(given if isinstance(given, tuple) else [given], wanted if isinstance(wanted, tuple) else [wanted]):
        np.testing.assert_array_equal(np.asarray(g), w.detach().numpy() if isinstance(w, torch.Tensor) else w)
    for array, after in zip(arrays, [*arguments[:2], *(getattr(module, name) for name in buffers)], strict=True):
        assert array.tolist() == after.tolist()


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_networks_are_exported(kind):
    module = kind(3, 4, batch_first=True, bidirectional=True).eval()
    result = weftwork.torch.compile(torch.export.export(module, (X(2, 3, 3),)))(X(2, 3, 3))[0]
    np.testing.assert_allclose(np.asarray(result), module(X(2, 3, 3))[0].detach().numpy(), rtol=1e-4, atol=1e-6)


def test_what_needs_torch_cannot_be_exported():
    class Module(torch.nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x)

    with pytest.raises(wf.errors.UnsupportedError, match=r"aten\.special_bessel_j0\.default: not in the table"):
        weftwork.torch.compile(torch.export.export(Module(), (X(2, 2),)))
    with pytest.raises(wf.errors.ArgumentTypeError, match=r"a program of torch\.export was wanted, got Linear"):
        weftwork.torch.compile(torch.nn.Linear(2, 2))
