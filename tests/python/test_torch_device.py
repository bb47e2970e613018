"""The device "weftwork" of PyTorch, against the CPU's tensors."""

import copy
import io
import os
import pickle
import subprocess
import sys

import needs_torch
import pytest

needs_torch.require()

import torch

from weftwork.torch.device import build

if build.compiler() is None:
    pytest.skip("needs a C++ compiler", allow_module_level=True)

HERE = "weftwork"
DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.int64,
    torch.int8,
    torch.uint8,
    torch.bool,
]


@pytest.fixture(scope="module", autouse=True)
def built_once(shared_folder):
    """The native part of the device is built once for this process and those that it begins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_CACHE", str(shared_folder))
        yield


def run(program, **environment):
    """A program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
    )


def same(given, wanted):
    assert given.device.type == HERE
    assert given.stride() == wanted.stride()
    torch.testing.assert_close(given.detach().cpu(), wanted.detach(), equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,), (3, 7)], ids=str)
def test_copies_views_and_writes(dtype, shape):
    x = (torch.arange(torch.Size(shape).numel()).reshape(shape) % 5).to(dtype)
    y = x.to(HERE, non_blocking=True)
    same(y, x)
    same(y.clone(), x)
    for view in (
        lambda t: t.t() if t.dim() == 2 else t,
        lambda t: t[..., 1:] if t.dim() else t[None],
        lambda t: t.unsqueeze(-1).expand(*t.shape, 2),
    ):
        same(view(y), view(x))
        assert view(y).untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    if x.dim():
        x[..., 1:] = 1
        y[..., 1:] = 1
        same(y, x)
    same(torch.zeros(shape, dtype=dtype, device=HERE), torch.zeros(shape, dtype=dtype))


def test_operations_write_in_place_and_to_results_of_any_size():
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(6.0, device=HERE).reshape(2, 3)
    same(y[:, 1:].mul_(2), x[:, 1:].mul_(2))
    same(y, x)
    out = torch.empty(0, device=HERE)
    assert torch.add(y, 1, out=out) is out
    same(out, x + 1)
    view = out[1]
    out.resize_(1)
    assert view.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()
    torch._foreach_add_([y, y[0]], 1)
    torch._foreach_add_([x, x[0]], 1)
    same(y, x)
    same(
        torch.empty(0, device=HERE).set_(y.untyped_storage(), 1, (2, 2), (3, 1)),
        torch.empty(0).set_(x.untyped_storage(), 1, (2, 2), (3, 1)),
    )
    host = torch.ones(3)
    host.add_(y[0])  # memory is the same, so a tensor of the CPU may take part
    torch.testing.assert_close(host, x[0] + 1)


@pytest.mark.parametrize("kind", ["SGD", "AdamW", "fused AdamW", "Adagrad"])
def test_training_is_that_of_the_cpu(kind):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(64, 3)
    )
    there, x, target = copy.deepcopy(model).to(HERE), torch.randn(8, 1, 6, 6), torch.randint(3, (8,))
    for place, m in (("cpu", model), (HERE, there)):
        extra = {"fused": True} if kind.startswith("fused") else {}
        optimizer = getattr(torch.optim, kind.split()[-1])(m.parameters(), lr=0.01, **extra)
        for _ in range(4):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(m(x.to(place)), target.to(place)).backward()
            optimizer.step()
    for given, wanted in zip(there.state_dict().values(), model.state_dict().values(), strict=True):
        same(given, wanted)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_recurrent_networks(kind):
    torch.manual_seed(0)
    model = getattr(torch.nn, kind)(4, 5, 2, bidirectional=True)
    there, x = copy.deepcopy(model).to(HERE), torch.randn(7, 3, 4)
    wanted, given = model(x)[0], there(x.to(HERE))[0]
    torch.testing.assert_close(given.cpu(), wanted, rtol=1e-4, atol=1e-5)
    wanted.square().sum().backward()
    given.square().sum().backward()
    for g, w in zip(there.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(g.grad.cpu(), w.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": True}, {"dropout_p": 0.5}], ids=str)
def test_attention(options):
    leaves = [torch.randn(2, 4, 9, 8, requires_grad=True) for _ in range(3)]
    there = [t.detach().to(HERE).requires_grad_() for t in leaves]
    results = []
    for place, given in (("cpu", leaves), (HERE, there)):
        rest = {"attn_mask": (torch.arange(81).reshape(9, 9) % 3 > 0).to(place)} if "mask" in options else options
        torch.manual_seed(1)
        results.append(torch.nn.functional.scaled_dot_product_attention(*given, **rest))
        results[-1].square().sum().backward()
    torch.testing.assert_close(results[1].cpu(), results[0])
    for g, w in zip(there, leaves, strict=True):
        torch.testing.assert_close(g.grad.cpu(), w.grad)


def test_autocast_casts_what_it_casts_on_the_cpu():
    model = torch.nn.Linear(3, 3)
    there, x = copy.deepcopy(model).to(HERE), torch.randn(2, 3)
    results = []
    for place, m in (("cpu", model), (HERE, there)):
        with torch.autocast(place, dtype=torch.bfloat16):
            hidden = m(x.to(place))
            results.append(
                (hidden, torch.nn.functional.mse_loss(hidden, x.to(place)), torch.cat([hidden, x.to(place)]))
            )
    for w, g in zip(*results, strict=True):
        assert g.dtype == w.dtype
        same(g, w)


@pytest.mark.parametrize("place", [None, "cpu", HERE, "weftwork:0", {"weftwork:0": "cpu"}], ids=str)
def test_saved_tensors_come_back_where_they_are_wanted(place):
    x, file = torch.arange(6.0, device=HERE).reshape(2, 3), io.BytesIO()
    torch.save({"a": x, "b": x[1]}, file)
    file.seek(0)
    found = torch.load(file, map_location=place)
    assert found["a"].device.type == ("cpu" if place in ("cpu", {"weftwork:0": "cpu"}) else HERE)
    found["a"][1] = 9
    assert found["b"].tolist() == [9, 9, 9]
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        same(made, x.cpu())


def test_random_numbers_are_those_of_the_cpu():
    torch.manual_seed(5)
    wanted = torch.randn(4), torch.nn.functional.dropout(torch.ones(9))
    torch.manual_seed(5)
    same(torch.randn(4, device=HERE), wanted[0])
    same(torch.nn.functional.dropout(torch.ones(9, device=HERE)), wanted[1])
    own = torch.Generator(device=HERE).manual_seed(3)
    same(torch.randn(4, device=HERE, generator=own), torch.randn(4, generator=torch.Generator().manual_seed(3)))
    state = torch.weftwork.get_rng_state()
    first = torch.rand(2, device=HERE)
    torch.weftwork.set_rng_state(state)
    assert torch.equal(torch.rand(2, device=HERE), first)


@pytest.mark.parametrize(
    "draw",
    [
        torch.rand_like,
        lambda x: x.clone().exponential_(),
        lambda x: torch.randint_like(x, 9),
        lambda x: torch.ops.aten.native_dropout(x, 0.5, True)[1],
    ],
)
def test_what_a_compiled_function_draws_is_on_the_device(draw):
    found = []
    for f, device in ((draw, "cpu"), (torch.compile(draw, backend="weftwork"), HERE)):
        torch.manual_seed(5)
        found.append(f(torch.ones(3, 4, device=device)))
    assert found[1].device.type == HERE
    assert torch.equal(found[1].cpu(), found[0])


def test_what_torch_asks_of_a_device():
    assert torch.weftwork.is_available() and torch.weftwork.device_count() == 1 and torch.weftwork.current_device() == 0
    first, second = torch.weftwork.Event(enable_timing=True), torch.weftwork.Event(enable_timing=True)
    first.record()
    second.record()
    torch.weftwork.synchronize()
    assert first.elapsed_time(second) >= 0
    assert torch.ones(3).pin_memory().is_pinned() and not torch.ones(3).is_pinned()
    with torch.profiler.profile() as profile:
        torch.ones(3, 3, device=HERE) @ torch.ones(3, 3, device=HERE)
    assert "aten::mm" in {event.key for event in profile.key_averages()}


def test_compiled_models_take_and_give_tensors_of_the_device():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    there, x = copy.deepcopy(model).to(HERE), torch.randn(5, 8)
    fast = torch.compile(there, backend="weftwork", options={"fallback": False})
    torch.testing.assert_close(fast(x.to(HERE)).cpu(), model(x))
    fast(x.to(HERE)).sum().backward()
    model(x).sum().backward()
    for g, w in zip(there.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(g.grad.cpu(), w.grad)


def test_frozen_models_of_the_device():
    """Weights that are read when a graph is compiled are read from the device as from the CPU."""
    torch.manual_seed(0)
    model, x = (
        torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).eval(),
        torch.randn(5, 8),
    )
    with torch.no_grad():
        wanted = model(x)
        frozen = torch.compile(model.to(HERE), backend="weftwork", options={"freeze": True})
        given = frozen(x.to(HERE))
    assert given.device.type == HERE
    torch.testing.assert_close(given.cpu(), wanted)


def test_errors_say_what_the_device_lacks():
    with pytest.raises(RuntimeError, match="there is one device weftwork, got index 1"):
        torch.ones(2, device="weftwork:1")
    with pytest.raises(NotImplementedError, match="dense tensors only"):
        torch.ones(2, device=HERE).to_sparse()


def test_without_a_cache_it_is_built_in_a_folder_that_goes(monkeypatch):
    monkeypatch.setenv("WEFT_CACHE", "off")
    with build.folder() as place:
        assert place.is_dir() and not list(place.iterdir())
    assert not place.exists()


def test_without_a_compiler_the_first_use_says_so(tmp_path):
    done = run(
        "import torch, weftwork.torch; torch.ones(2, device='weftwork')",
        CXX="no-such-compiler",
        WEFT_CACHE=str(tmp_path),
    )
    assert "UnsupportedError" in done.stderr and "[torch_device_compiler]" in done.stderr, done.stderr


QUIET = """
import torch, warnings
import weftwork.torch
torch.ones(3, requires_grad=True).sum().backward()
assert not torch.accelerator.is_available() and not torch.ones(3).is_pinned() and torch.manual_seed(0)
assert [b.tolist() for b in torch.utils.data.DataLoader(torch.arange(2), pin_memory=True)] == [[0], [1]]
assert not weftwork.torch.device.is_ready()
x = torch.ones(3, device="weftwork", requires_grad=True)   # after a backward pass without the device
(x * 2).sum().backward()
assert x.grad.tolist() == [2, 2, 2]
"""


def test_programs_without_the_device_are_as_they_were_and_late_use_works():
    done = run(QUIET)
    assert done.returncode == 0, done.stderr


def test_workers_fork_and_processes_end():
    program = """
import torch, weftwork.torch
data = torch.utils.data.TensorDataset(torch.arange(8.0, device="weftwork"))
print(sorted(float(b[0]) for b in torch.utils.data.DataLoader(data, num_workers=2, collate_fn=lambda rows: [rows[0][0].item()])))
"""
    done = run(program)
    assert done.returncode == 0 and "7.0" in done.stdout, done.stderr
