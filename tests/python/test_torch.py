"""torch.compile(backend="weftwork"): views, mutation, layouts, dtypes, sizes, calls of torch within a graph."""

import json
import subprocess
import sys

import needs_torch
import pytest

needs_torch.require()

import numpy as np
import torch
from torch.nn import functional as F

import weftwork as wf
import weftwork.torch

pytestmark = pytest.mark.usefixtures("fresh_torch")


def compiled(function, graphs=None, **options):
    graphs = [] if graphs is None else graphs
    return torch.compile(
        function, backend=lambda m, i: weftwork.torch.backend(m, i, sink=graphs.append), fullgraph=True, **options
    )


def same(function, *inputs, native=True, **options):
    """The function gives what eager gives, and leaves its arguments as eager leaves them, at two calls."""
    graphs = []
    call = compiled(function, graphs, **options)
    for _ in range(2):
        ours, theirs = (
            [t.clone() if isinstance(t, torch.Tensor) and t.is_contiguous() else t for t in inputs] for _ in range(2)
        )
        wanted, given = function(*theirs), call(*ours)
        pairs = zip(*(r if isinstance(r, (tuple, list)) else (r,) for r in (given, wanted)), strict=True)
        for g, w in [*pairs, *zip(ours, theirs, strict=True)]:
            if isinstance(w, torch.Tensor):
                torch.testing.assert_close(g, w, equal_nan=True)
                assert g.stride() == w.stride()
            else:
                assert g == w
    if native:
        assert not weftwork.torch.Report.of(graphs).fallback, weftwork.torch.Report.of(graphs)
    return graphs


X = lambda *shape: torch.arange(1, 1 + int(np.prod(shape)), dtype=torch.float32).reshape(shape)


ROWS = X(2, 3)


def test_it_is_a_backend_by_name():
    assert "weftwork" in torch._dynamo.list_backends(exclude_tags=())
    torch.testing.assert_close(torch.compile(lambda x: x * 2, backend="weftwork")(X(3)), X(3) * 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.t(),
        lambda x: x.t() * 2,
        lambda x: (x + 1).t(),
        lambda x: (x + 1)[1:, ::2],
        lambda x: (x + 1).view(-1)[3:].unsqueeze(0).expand(2, -1),
        lambda x: x.t().reshape(2, -1),
        lambda x: (x[0], x[:, 1], x + 1),
        lambda x: torch.stack([x, x + 1]).permute(2, 0, 1)[1].t(),
        lambda x: (x + 1).unbind(1)[2],
        lambda x: torch.chunk(x * 2, 2, 1)[1].t(),
        lambda x: x.as_strided((2, 2), (4, 2), 1) + 0,
        lambda x: x.diagonal() * 2,
        lambda x: x.flip(0).roll(1, 1),
        lambda x: x.unflatten(1, (2, 2)).movedim(0, 2),
    ],
)
def test_views_of_views_have_torchs_strides(function):
    same(function, X(4, 4), native=False)


def in_slices(x):
    x[1:3, ::2] = 0
    x[0].add_(5)
    return x.sum()


def by_index(x):
    x[torch.tensor([0, 2])] = 7.0
    x.index_put_((torch.tensor([1, 1]), torch.tensor([0, 0])), torch.tensor([1.0, 2.0]), accumulate=True)
    return x * 1


def by_view(x):
    y = x.view(-1)
    y[2:5].mul_(3)
    x.t()[0] += 1
    return y


def a_copy(x):
    old = x.clone()
    x.copy_(old.t())
    return old, x + 1


@pytest.mark.parametrize(
    "function", [in_slices, by_index, by_view, a_copy, lambda x: x.zero_(), lambda x: x.t().add_(1)]
)
def test_arguments_are_written_in_place(function):
    same(function, X(4, 4))


def test_a_buffer_is_written_in_its_own_memory():
    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(4, 3))

        def forward(self, x, place):
            self.keys.index_copy_(0, place, x)
            return self.keys.sum(0)

    module, graphs = Cache(), []
    call, address = compiled(module, graphs), module.keys.data_ptr()
    with torch.no_grad():
        call(X(1, 3), torch.tensor([2]))
        total = call(X(1, 3) * 2, torch.tensor([0]))
    assert module.keys.tolist() == [[2, 4, 6], [0, 0, 0], [1, 2, 3], [0, 0, 0]] and module.keys.data_ptr() == address
    assert total.tolist() == [3, 6, 9] and any(program.stored for program in graphs[0].programs.values())


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce(reduce, include_self):
    index = torch.tensor([[0, 2, 0], [1, 1, 1]])
    same(lambda x, s: x.scatter_reduce(0, index, s, reduce, include_self=include_self), X(4, 4), X(2, 3) - 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: x.sum(0),
        lambda x: x.sum(1),
        lambda x: torch.cat([x, ROWS]),
        lambda x: x.t() @ x,
        lambda x: x.softmax(1),
        lambda x: (x.reshape(3, 0), x.mean()),
        lambda x: F.linear(x, ROWS),
    ],
)
def test_arrays_without_elements(function):
    same(function, torch.zeros(0, 3))


DTYPES = [
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
]


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_dtypes_promote_and_convert_as_in_torch(source):
    x = torch.tensor([0, 1, 2, 3]).to(source)
    others = [torch.tensor([1, 0, 1, 2]).to(d) for d in DTYPES]

    def function(x, *others):
        sums = [x + y for y in others]
        return (
            *sums,
            x * 2,
            x * 1.5,
            x + torch.tensor(2.5, dtype=torch.float64),
            *(x.to(y.dtype) for y in others if y.is_complex() or not x.is_complex()),
            x == others[3],
        )

    same(function, x, *others)


def test_short_floats_round_once_as_in_torch():
    x = torch.randn(64).bfloat16()
    same(lambda x: (F.gelu(x), F.silu(x), x.exp(), torch.sigmoid(x), x.softmax(0), F.layer_norm(x, (64,))), x)


def test_numbers_that_are_symbolic():
    graphs = []
    call = compiled(lambda x, n: (x * n + x.shape[0], x.new_ones(n, x.shape[1] + 1), x[: n - 1]), graphs, dynamic=True)
    for rows, n in ((4, 3), (7, 5), (9, 4)):
        given, wanted = call(X(rows, 3), n), (X(rows, 3) * n + rows, torch.ones(n, 4), X(rows, 3)[: n - 1])
        for g, w in zip(given, wanted, strict=True):
            torch.testing.assert_close(g, w)
    assert len(graphs) == 1 and not weftwork.torch.Report.of(graphs).fallback


def test_an_operation_that_the_table_lacks_runs_in_torch_within_the_graph():
    graphs = same(lambda x: torch.special.bessel_j0(x @ x.t() + 1) * 2 + x, X(3, 3), native=False)
    report = weftwork.torch.Report.of(graphs)
    assert report.graphs == 1 and report.programs == 2
    assert [f.op for f in report.fallback] == ["aten.special_bessel_j0.default"] and "test_torch.py" in next(
        iter(report.fallback)
    ).line


def test_calls_of_torch_are_divided_into_few_programs():
    def function(x):
        parts = [torch.special.bessel_j0(x + i) for i in range(8)]
        return sum(torch.special.bessel_j0(p * 2) for p in parts)

    graphs = same(function, torch.eye(3) * 3, native=False)
    assert len(graphs[0].programs) <= 3


def test_explain_counts_and_names_lines():
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(4))
    state = {k: v.clone() for k, v in module.state_dict().items()}
    report = weftwork.torch.explain(module, torch.randn(3, 4))
    assert (
        report.graphs == 2
        and not report.fallback
        and report.random["dropout"] == 1
        and report.native["aten.addmm.default"] == 1
    )
    assert all(torch.equal(v, state[k]) for k, v in module.state_dict().items()) and module[0].weight.grad is None
    assert "drawn by torch: 1" in str(report)


def test_a_graph_without_torch_may_be_asked_for():
    with pytest.raises(Exception, match=r"aten.special_bessel_j0.default: not in the table, at .*test_torch.py"):
        torch.compile(lambda x: torch.special.bessel_j0(x), backend="weftwork", options={"fallback": False})(X(2, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 2, "world_size": 2}, "rank is from 0 to world_size - 1, got 2 of 2"),
        ({"log_level": "loud"}, "log_level is a level of logging or its name, got 'loud'"),
        ({"options": {"thread": 2}}, "threads"),
        ({"options": {"fallback": 1}}, "'fallback' is True or False, got 1"),
    ],
)
def test_init_refuses(arguments, message):
    with pytest.raises(wf.Error, match=message):
        weftwork.torch.init(**arguments)
    assert not weftwork.torch.is_initialized()


def test_init_logs_a_folder_for_each_graph(tmp_path, caplog):
    weftwork.torch.init(cache=tmp_path, log_level="debug", rank=1, world_size=2)
    try:
        assert weftwork.torch.is_initialized()
        compiled(lambda x: x.exp().sum())(X(3))
    finally:
        weftwork.torch.reset()
    assert not weftwork.torch.is_initialized()
    (folder,) = (tmp_path / "weftwork_graphs" / "rank1").iterdir()
    assert "inference: 2 native, 0 in torch, 1 programs" in caplog.text and folder.name in caplog.text
    assert {"torch.txt", "program_0.txt", "program_0.mlir", "kernels_0.txt", "report.json"} == {
        f.name for f in folder.iterdir()
    }
    assert "stablehlo.exponential" in (folder / "program_0.mlir").read_text()
    assert json.loads((folder / "report.json").read_text())["milliseconds"]["0"]["passes"] > 0


def test_the_cache_is_shared_between_processes(tmp_path):
    script = """
import sys, torch, weftwork as wf, weftwork.torch
weftwork.torch.init(cache=sys.argv[1])
x = torch.ones(3, 4, requires_grad=True)
function = (lambda x: torch.tanh(x.t() if len(sys.argv) > 2 else x) * 2)
torch.compile(function, backend="weftwork")(x).sum().backward()
print(wf.cache.info().hits, wf.cache.info().misses)
"""
    run = lambda *more: subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *more], check=True, capture_output=True, text=True
    ).stdout.split()
    assert run() == ["0", "2"]
    assert run() == ["2", "0"]
    assert run("transposed") == ["0", "2"]


def test_warm_up_compiles_and_leaves_no_trace():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    graphs, state = [], torch.get_rng_state()
    call = compiled(model, graphs)
    assert weftwork.torch.warm_up(call, X(5, 3)) > 0
    assert len(graphs) == 2
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters()) and torch.equal(state, torch.get_rng_state())
    call(X(5, 3)).sum().backward()
    assert len(graphs) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.linalg.inv(x),
        lambda x: torch.linalg.solve(x, torch.ones(3)),
        lambda x: torch.linalg.cholesky(x),
        lambda x: torch.linalg.eigvalsh(x * torch.nan),
    ],
)
def test_matrices_without_a_result_raise_torchs_error(function):
    x = torch.zeros(3, 3)
    call = compiled(function)
    for f in (function, call):
        with pytest.raises(torch.linalg.LinAlgError):
            f(x)
    torch._dynamo.reset()


def test_linear_algebra_is_native():
    def function(x, b):
        a = x @ x.mT + torch.eye(4, dtype=x.dtype)
        q, r = torch.linalg.qr(x)
        values, vectors = torch.linalg.eigh(a)
        return (
            torch.linalg.inv(a), torch.linalg.solve(a, b), torch.linalg.cholesky(a), q.abs(), r.abs(), values, vectors.abs(), torch.linalg.det(a),
            torch.linalg.slogdet(a)[1], torch.linalg.svdvals(x), torch.linalg.pinv(x), torch.linalg.matrix_exp(x), torch.linalg.matrix_norm(x, "nuc"),
            torch.linalg.solve_triangular(a.tril(), b, upper=False), torch.cholesky_solve(b, torch.linalg.cholesky(a)),
        )  # fmt: skip

    for dtype in (torch.float32, torch.float64):
        same(function, torch.randn(2, 4, 4, dtype=dtype), torch.randn(2, 4, 3, dtype=dtype))


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


def test_what_needs_torch_cannot_be_exported():
    class Module(torch.nn.Module):
        def forward(self, x):
            return torch.special.bessel_j0(x)

    with pytest.raises(wf.errors.UnsupportedError, match=r"aten\.special_bessel_j0\.default: not in the table"):
        weftwork.torch.compile(torch.export.export(Module(), (X(2, 2),)))
    with pytest.raises(wf.errors.ArgumentTypeError, match=r"a program of torch\.export was wanted, got Linear"):
        weftwork.torch.compile(torch.nn.Linear(2, 2))


def test_importing_weftwork_does_not_import_torch():
    import subprocess
    import sys

    subprocess.run([sys.executable, "-c", "import weftwork, sys; assert 'torch' not in sys.modules"], check=True)


def test_parameters_may_be_constants_of_inference():
    module, graphs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval(), []
    call = torch.compile(
        module, backend=lambda m, i: weftwork.torch.backend(m, i, options={"freeze": True}, sink=graphs.append)
    )
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(call(X(2, 3)), module(X(2, 3)))
        assert len(graphs[0].programs[0].inputs) == 1
        module[0].weight.mul_(2)
        torch.testing.assert_close(call(X(2, 3)), module(X(2, 3)))
        module[0].weight.data = torch.ones(4, 3)
        torch.testing.assert_close(call(X(2, 3)), module(X(2, 3)))
    assert len(graphs) == 3


def test_extents_that_only_sums_tell_are_known():
    graphs = []
    call = compiled(lambda x: F.pad(x, (1, 2)).sigmoid(), graphs, dynamic=True)
    for columns in (4, 7):
        x = X(2, columns).requires_grad_()
        call(x).sum().backward()
        y = X(2, columns).requires_grad_()
        F.pad(y, (1, 2)).sigmoid().sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
    assert len(graphs) == 2


def test_floats_that_sizes_decide():
    graphs = []
    call = compiled(lambda x: F.batch_norm(x, None, None, training=True), graphs, dynamic=True)
    for rows in (4, 6):
        x, y = (torch.linspace(0, 1, rows * 15).reshape(rows, 3, 5).requires_grad_() for _ in range(2))
        for value, function in ((x, call), (y, lambda v: F.batch_norm(v, None, None, training=True))):
            (function(value) ** 3).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
    assert len(graphs) == 2 and not weftwork.torch.Report.of(graphs).fallback


@pytest.mark.parametrize("capture", ["capture_dynamic_output_shape_ops", "capture_scalar_outputs"])
def test_values_that_decide_sizes_stay_in_one_graph(capture):
    functions = {
        "capture_scalar_outputs": lambda x: x * x.sum().item() + 1,
        "capture_dynamic_output_shape_ops": lambda x: (x[x > 2] * 2).sum() + 1,
    }
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        graphs = same(functions[capture], X(5), native=False)
    assert len(graphs) == 1
