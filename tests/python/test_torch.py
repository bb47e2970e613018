"""torch.compile(backend="weftwork"): views, mutation, layouts, dtypes, sizes, calls of torch within a graph."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import needs_torch
import pytest

needs_torch.require()

import numpy as np
import torch
from torch.nn import functional as F

import weftwork as wf
import weftwork.torch
from weftwork.torch.frozen import FrozenGraph

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


@pytest.mark.parametrize("view", [torch.conj, lambda z: z.conj().imag, lambda z: torch._neg_view(z.real)])
def test_arguments_that_are_lazily_conjugated_are_written(view):
    def function(z, b):
        b.add_(1)
        return (z.mul_(2) * b.float()).sum()

    found = []
    for f in (function, compiled(function)):
        z = view(torch.complex(X(3, 4), X(3, 4) - 5))
        b = torch.zeros(6, 8, dtype=torch.bfloat16)[::2, ::2]
        found.append((f(z, b), z.resolve_conj(), b))
    for wanted, given in zip(*found, strict=True):
        torch.testing.assert_close(given, wanted)


def test_arguments_whose_elements_share_memory_are_written():
    def row(x):
        x[0] = 5.0

    functions = (lambda x: (x[:, :1].zero_(), x.sum())[1], row, lambda x: x.masked_fill_(x > 4, 0.0), torch.relu_)
    for function in functions:
        found = []
        for f in (function, compiled(function)):
            x = torch.arange(10.0).as_strided((4, 3), (2, 1))
            found.append((f(x), x))
        assert found[0][0] is None or torch.equal(found[0][0], found[1][0])
        assert torch.equal(found[0][1], found[1][1])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x * n + torch.full((3,), n),
        lambda x, n: x[n:] * 2,
        lambda x, n: torch.where(x > n, x, n // 2).clamp(-n, n),
        lambda x, n: x.roll(n, 0) * (n * 0.5),
        lambda x, n: torch.arange(n, n + 3) + x.tril(n).sum(0),
    ],
)
def test_integers_that_are_symbolic_may_be_negative_or_zero(function):
    torch._dynamo.reset()
    call, x = compiled(function, dynamic=True), torch.arange(15.0).view(5, 3)
    for n in (3, 2, 0, 1, -1, -3, 4):
        torch.testing.assert_close(call(x, n), function(x, n))


def test_arguments_of_a_plain_subclass():
    class Tagged(torch.Tensor):
        pass

    for dtype in (torch.float32, torch.bfloat16):
        result = torch.compile(lambda x: x * 2, backend="weftwork")(X(3).to(dtype).as_subclass(Tagged))
        assert isinstance(result, Tagged) and result.tolist() == [2, 4, 6]


def test_a_conjugated_parameter():
    module = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor([1 + 2j]).conj())])
    assert compiled(lambda x: x * module[0])(torch.ones(1)).tolist() == [1 - 2j]


ONE = torch.tensor([1, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x.gather(0, i[:, None]),
        lambda x, i: x[0].gather(0, i[1]),
        lambda x, i: x.scatter(0, i[:, None], 1.0),
        lambda x, i: x.scatter_add(0, i[:, None], x),
        lambda x, i: x.scatter_reduce(0, i[:, None], x, "amax"),
        lambda x, i: x.index_select(0, i),
        lambda x, i: x.index_add(0, i, x),
        lambda x, i: x.index_copy(0, i, x),
        lambda x, i: F.embedding(i, x),
        lambda x, i: F.cross_entropy(x, i, ignore_index=7),
    ],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_these_indices_do_not_count_from_the_end(function, dynamic):
    same(function, X(2, 2), ONE, dynamic=dynamic)
    call = compiled(function, dynamic=dynamic)
    for wrong in (-1, 2):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            call(X(2, 2), torch.tensor([0, wrong]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x[i],
        lambda x, i: x.take(i),
        lambda x, i: x.put(i, x[0]),
        lambda x, i: x.index_fill(1, i, 7),
        lambda x, i: torch.take_along_dim(x, i[:, None], 0),
        lambda x, i: F.cross_entropy(x, i, ignore_index=-1),
    ],
)
def test_these_indices_may_be_negative(function):
    same(function, X(2, 2), torch.tensor([1, -1]))


def test_places_along_an_axis_of_arrays_without_one():
    x, i, none = X(3), torch.tensor(1), torch.zeros(0, dtype=torch.int64)
    same(
        lambda x, i, s, z: (x.index_fill(0, i, 9.0), s.index_copy(0, z, s + 1), s.index_add(0, z, s)), x, i, x[1], i - 1
    )
    same(lambda x, i: (x.index_add(0, i, x[:0]), x.index_copy(0, i, x[:0])), x, none)


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


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_floats_of_a_byte_overflow_as_in_torch(dtype):
    x = torch.tensor([1e3, -1e6, 448, 465, 61440, torch.inf, -torch.inf, torch.nan, 0.3])
    same(lambda *v: [x.to(dtype).float() for x in v], x, x.bfloat16(), x.double(), torch.tensor([-1000, 7]))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int64], ids=str)
def test_integers_of_any_size(dtype):
    def function(x, shift):
        compared = [f(x, n) for f in (torch.eq, torch.lt, torch.ge) for n in (-1, 255, 256, 300)]
        return (*compared, x[:, None] << shift, x[:, None] >> shift, x >> 2, 5 << shift)

    same(function, torch.tensor([0, 1, 44, 127, 200, 255]).to(dtype), torch.tensor([0, 3, 7, 8, 64, -1]).to(dtype))


def put_where(x, mask):
    rows, columns, elements = x.clone(), x.clone(), x.clone()
    rows[mask], columns[:, mask], elements[x > 3] = 0, -1, torch.ones(1, dtype=x.dtype)
    return rows, columns, elements


def test_one_value_where_a_mask_holds():
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        same(put_where, X(3, 3).to(dtype), torch.tensor([True, False, True]))


def test_assertions_raise_torchs_error():
    def function(x):
        torch._assert_async((x > 0).all(), "it is positive")
        return x + 1

    same(function, X(3))
    with pytest.raises(RuntimeError, match="it is positive"):
        compiled(function)(-X(3))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_running_statistics_of_short_floats(dtype):
    x = torch.linspace(-1, 3, 24).reshape(6, 4).to(dtype)
    modules = [torch.nn.BatchNorm1d(4).to(dtype) for _ in range(2)]
    for function in (compiled(modules[0]), modules[1]):
        for _ in range(2):
            function(x).float().pow(2).sum().backward()
    for given, wanted in zip(*(m.state_dict().values() for m in modules), strict=True):
        torch.testing.assert_close(given, wanted)


def test_an_operation_of_torch_that_gives_another_dtype_than_told():
    @torch.library.custom_op("tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x.double() * 2

    twice.register_fake(torch.empty_like)
    assert torch.equal(compiled(lambda x: twice(x) + 1)(X(3)), X(3) * 2 + 1)


LISTS = [
    lambda p, q: torch._foreach_addcmul(p, p, q, 0.5),
    lambda p, q: torch._foreach_addcdiv(p, p, q, [0.5, 2.0]),
    lambda p, q: torch._foreach_addcdiv_(p, p, q, -1),
    lambda p, q: torch._foreach_maximum(p, 2.0) + torch._foreach_minimum(p, [1.0, 3.0]) + torch._foreach_maximum(p, q),
    lambda p, q: (
        torch._foreach_norm(p, 2, dtype=torch.float64) + torch._foreach_norm(q, torch.inf) + torch._foreach_norm(p)
    ),
    lambda p, q: torch._foreach_zero_(p),
]


@pytest.mark.parametrize("function", LISTS)
def test_operations_on_lists(function):
    def in_lists(a, b, c, d):
        result = function([a, b], [c, d])
        return list(result or ()) + [a + 0]

    same(in_lists, X(3), X(2, 2), X(3) + 1, X(2, 2) * 2)


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
for function in (lambda x: torch.tanh(x) * 2, lambda x: torch.tanh(x.t()) * 2)[:len(sys.argv) - 1]:
    torch.compile(function, backend="weftwork")(x).sum().backward()
    print(wf.cache.info().hits, wf.cache.info().misses)
"""
    run = lambda *more: subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), *more], check=True, capture_output=True, text=True
    ).stdout.split()
    assert run() == ["0", "2"]
    assert run("and transposed") == ["2", "0", "2", "2"]


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


def test_parameters_whose_writes_torch_does_not_count_are_no_constants():
    with torch.inference_mode():
        module = torch.nn.Linear(3, 4)
        call = torch.compile(module, backend="weftwork", options={"freeze": True})
        for _ in range(2):
            torch.testing.assert_close(call(X(2, 3)), module(X(2, 3)))
            module.weight.mul_(2)


def test_modules_that_share_a_graph_of_constants_get_their_own_results():
    graph = torch.fx.Graph()
    graph.output((graph.placeholder("weight"),))
    ours, theirs = ([torch.nn.Parameter(torch.tensor(v))] for v in (1.0, 2.0))

    def make(constants):
        (known,) = constants.values()
        if known == 1:
            assert frozen(theirs) == 2  # another thread is faster
        return lambda args: known

    frozen = FrozenGraph(torch.fx.GraphModule({}, graph), make)
    assert [frozen(args) for args in (ours, theirs, ours)] == [1, 2, 1]


def test_modules_that_share_a_graph_run_in_threads():
    modules = [torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(6))) for _ in range(4)]
    calls = [torch.compile(m, backend="weftwork") for m in modules]
    with torch.no_grad():
        wanted = [m(X(2, 4)) for m in modules]
        for call in calls:
            call(X(2, 4))

    def work(i):
        with torch.no_grad():
            return max(float((calls[i](X(2, 4)) - wanted[i]).abs().max()) for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(work, range(4))) < 1e-3


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
