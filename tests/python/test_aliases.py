# ruff: noqa: F821  the names of extents are text, not annotations
"""Arguments that are written, declared or donated, and the names of inputs and outputs."""

import types
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weftwork as wf

WIDTH = wf.Dim("W", 2, 4, 8)
RUNS = [pytest.param(wf.jit, id="jit"), pytest.param(wf.simulate, id="simulate")]


def increment(x: wf.tensor[wf.mutable, np.float32, ("N",)]) -> None:
    x[:] = x + 1


def scale(x: wf.tensor[np.float32, ("N", 3)], y: wf.tensor[wf.mutable, np.float32, ("N",)]) -> Any:
    y += x.sum(axis=1)
    return x * y[:, None]


def label_of(error: pytest.ExceptionInfo) -> str:
    return str(error.value).split("  [")[1].split("]")[0]


# -- declared arguments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
def test_a_declared_argument_is_written_in_place(run: Any) -> None:
    x = np.arange(4, dtype=np.float32)
    assert run(increment)(x) is None
    assert x.tolist() == [1, 2, 3, 4]


def test_annotations_alone_make_a_program() -> None:
    graph = wf.trace(scale)
    assert [(io.name, str(io.dtype), str(io.shape)) for io in graph.inputs] == [
        ("x", "float32", "(N, 3)"),
        ("y", "float32", "(N,)"),
    ]
    assert graph.aliases == {"y": "y"}
    exe = wf.compile(scale)
    x, y = np.ones((5, 3), np.float32), np.zeros(5, np.float32)
    out, written = exe(x, y)
    assert written is y and y.tolist() == [3] * 5 and out.tolist() == [[3, 3, 3]] * 5
    assert exe.outputs[1].alias == 1 and exe.inputs[0].alias is None


def test_one_program_for_all_sizes() -> None:
    f = wf.jit(increment)
    for n in (1, 2, 77):
        x = np.zeros(n, np.float32)
        f(x)
        assert (x == 1).all()
    assert f.plan_count == 1


def test_text_annotations_are_read() -> None:
    def f(x: "wf.tensor[wf.mutable, np.float64, (WIDTH,)]", y: "wf.tensor[np.float64, ('W',)]", n: "int" = 2) -> Any:
        x += y * n

    x = np.ones(3)
    wf.jit(f)(x, x * 2)
    assert x.tolist() == [5] * 3
    with pytest.raises(wf.errors.ArgumentValueError, match=r"\(9,\)"):
        wf.jit(f)(np.ones(9), np.ones(9))
    assert wf.trace(f).inputs[1].shape[0].max == 8


def test_defaults_and_keywords_need_no_annotation_to_stand_in() -> None:
    def f(a: wf.tensor[np.float32, (2,)], scale: float = 3.0, *, b: wf.tensor[np.float32, (2,)]) -> Any:
        return a * scale + b

    assert [io.name for io in wf.trace(f).inputs] == ["a", "b"]
    assert wf.simulate(f)(np.ones(2, np.float32), b=np.ones(2, np.float32)).tolist() == [4, 4]


BAD = [
    (np.zeros((2, 3), np.float64), np.zeros(2, np.float32), "annotation_dtype", ["float32", "float64", "'x'"]),
    (np.zeros((2, 4), np.float32), np.zeros(2, np.float32), "annotation_shape", ["(N, 3)", "(2, 4)"]),
    (np.zeros(3, np.float32), np.zeros(2, np.float32), "annotation_shape", ["(N, 3)", "(3,)"]),
    (np.zeros((0, 3), np.float32), np.zeros(0, np.float32), "annotation_shape", ["(N, 3)", "(0, 3)"]),
    ([1.0, 2.0, 3.0], np.zeros(2, np.float32), "annotation_type", ["float32", "list"]),
    (2.0, np.zeros(2, np.float32), "annotation_type", ["float32", "float"]),
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("x, y, label, parts", BAD)
def test_an_argument_that_does_not_fit_is_an_error_with_both(
    run: Any, x: Any, y: Any, label: str, parts: list[str]
) -> None:
    with pytest.raises(wf.Error) as error:
        run(scale)(x, y)
    assert label_of(error) == label
    assert all(part in str(error.value) for part in parts)
    assert (y == 0).all()


@pytest.mark.parametrize("run", [*RUNS, pytest.param(lambda f: lambda *args: wf.trace(f, *args), id="trace")])
def test_one_name_is_one_extent(run: Any) -> None:
    y = np.zeros(5, np.float32)
    with pytest.raises(wf.Error, match=r"'N'.*(4.*5|5.*4)"):
        run(scale)(np.zeros((4, 3), np.float32), y)
    assert (y == 0).all()


def test_a_write_to_what_is_not_mutable_names_the_line() -> None:
    def direct(x: wf.tensor[np.float32, ("N",)]) -> None:
        x[0] = 1

    def through_a_view(x: wf.tensor[np.float32, ("N", 4)]) -> None:
        x.T[1] += 2

    for f in (direct, through_a_view):
        with pytest.raises(ValueError) as error:
            wf.trace(f)
        assert label_of(error) == "not_mutable"
        assert "test_aliases.py" in str(error.value)
        assert "wf.mutable" in str(error.value) and "'x'" in str(error.value)


@pytest.mark.parametrize(
    "items",
    [
        (),
        np.float32,
        (np.float32,),
        (np.float32, 3),
        (wf.mutable, np.float32),
        (np.float32, (-1,)),
        (np.float32, (1.5,)),
    ],
)
def test_annotations_that_say_nothing(items: Any) -> None:
    with pytest.raises(wf.Error):
        wf.tensor[items]


# -- names ---------------------------------------------------------------------------------------------------------


def nested(tree: Any, x: Any) -> Any:
    x += tree["w"][1]
    return {"loss": x.sum(), "state": (x * 2, {"deep": tree["w"][0] + 1})}


def test_names_follow_paths_through_every_form() -> None:
    tree = {"w": (np.ones(2), np.ones(2))}
    graph = wf.trace(nested, tree, np.zeros(2))
    inputs, outputs = ["tree.w.0", "tree.w.1", "x"], ["output.loss", "output.state.0", "output.state.1.deep", "x"]
    read = [wf.stablehlo.parse(text) for text in (graph.mlir(), graph.stablehlo(), graph.stablehlo(locations=False))]
    for program in [graph, *read, wf.compile(graph), *map(wf.compile, read)]:
        assert [io.name for io in program.inputs] == inputs
        assert [io.name for io in program.outputs] == outputs
        assert [io.alias for io in program.outputs] == [None, None, None, 2]
    for level in ("trace", "flat"):
        text = graph.text(level)
        assert all(name in text for name in (*inputs, *outputs)), text
    proto = graph.hlo_proto()
    assert all(name.encode() in proto for name in (*inputs, *outputs))


def test_names_are_unique() -> None:
    def f(output: Any, *rest: Any) -> Any:
        output += 1
        return output * rest[0]

    graph = wf.trace(f, np.ones(2), np.ones(2))
    assert [io.name for io in graph.outputs] == ["output", "output_1"]
    assert graph.outputs[1].alias == 0

    def g(arg1: Any, *rest: Any) -> Any:
        return {"a.b": arg1 + 1, "a": {"b": rest[0] + 1}, "a.b_1": rest[0]}

    graph = wf.trace(g, np.ones(2), np.ones(2))
    assert len({io.name for io in graph.inputs}) == 2
    assert len({io.name for io in graph.outputs}) == len(graph.outputs) == 3


# -- memory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("step", [1, 2])
def test_read_only_arrays_are_refused_before_anything_runs(run: Any, step: int) -> None:
    def f(x: Any, y: Any) -> None:
        y += 1
        x += 1

    x, y = np.zeros(6)[::step], np.zeros(6)[::step]
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"'x' .*assignment destination is read-only") as error:
        run(f)(x, y)
    assert label_of(error) == "read_only"
    assert (y == 0).all() and (x == 0).all()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("asks", [False, True])
def test_writes_to_a_read_only_array_raise_where_numpy_raises(asks: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        if asks and y[0] > 100:
            return y
        y += 1
        try:
            x[0] = y[0]
        except ValueError as error:
            return str(error)
        x[1] = 9
        return y.sum()

    def g(x: Any, y: Any) -> None:
        y += 1
        np.add(x, y, out=x)

    for function in (f, g):
        jitted = wf.jit(function, strict=False)
        for writeable in (True, False, False, True):
            got, wanted = ([np.zeros(3), np.zeros(3)] for _ in range(2))
            results = []
            for call, arrays in ((jitted, got), (function, wanted)):
                arrays[0].flags.writeable = writeable
                try:
                    results.append(call(*arrays))
                except ValueError as error:
                    results.append((type(error), str(error)))
            assert results[0] == results[1]
            np.testing.assert_array_equal(got, wanted)
        assert jitted.ways["plain"] == 2


def simulated_or_not(run: Any, jitted: Any) -> Any:
    return jitted if run is wf.jit else run(jitted)


@pytest.mark.parametrize("run", RUNS)
def test_donated_outputs_land_in_the_argument(run: Any) -> None:
    f = wf.jit(lambda x, y: (x.astype(np.float32), x * 2, y - x), donate_argnames=("x", "y"))
    x, y = np.arange(3.0), np.ones(3)
    single, double, rest = simulated_or_not(run, f)(x, y)
    assert double is x and rest is y
    assert single.tolist() == [0, 1, 2] and x.tolist() == [0, 2, 4] and y.tolist() == [1, 0, -1]
    strided = np.arange(6.0)[::-2]
    assert simulated_or_not(run, f)(strided, y)[1] is strided
    assert strided.tolist() == [10, 6, 2]


@pytest.mark.parametrize("run", RUNS)
def test_what_is_returned_or_written_is_not_donated(run: Any) -> None:
    f = wf.jit(lambda x: (x, x + 1), donate_argnames="x")
    x = np.zeros(2)
    same, more = simulated_or_not(run, f)(x)
    assert same is x and x.tolist() == [0, 0] and more.tolist() == [1, 1]

    @wf.jit(donate_argnames="x")
    def g(x: Any) -> Any:
        x += 1
        return x * 2

    out = simulated_or_not(run, g)(x)
    assert x.tolist() == [1, 1] and out.tolist() == [2, 2]


@pytest.mark.parametrize("x", [np.arange(3.0)[::-1], np.zeros((0, 2), np.float16), np.array(True)], ids=str)
def test_an_executable_gives_arguments_that_are_returned(x: np.ndarray, tmp_path: Any) -> None:
    """It stands alone, so they are results of its own; a jitted function hands them through."""

    def function(x: Any, y: Any) -> Any:
        y[:] = y + 1
        return x, {"sum": y + 0, "parts": [x, y, 7]}

    given, result = wf.jit(function)(x, np.zeros(3))
    assert given is x and result["parts"][0] is x
    exe = wf.compile(function, x, np.zeros(3))
    exe.save(tmp_path / "f.weft")
    for run in (exe, wf.load(tmp_path / "f.weft"), wf.simulate(wf.trace(function, x, np.zeros(3)))):
        y = np.zeros(3)
        first, total, again, *_ = run(x, y)
        assert not np.shares_memory(first, x) and first.dtype == x.dtype
        np.testing.assert_array_equal(first, x)
        np.testing.assert_array_equal(again, x)
        np.testing.assert_array_equal(total, np.ones(3))
    np.testing.assert_array_equal(wf.compile(lambda x: x, x)(x), x)
    spec = wf.spec(("n", 2), np.float32)
    np.testing.assert_array_equal(wf.compile(lambda x: x, spec)(np.ones((5, 2), np.float32)), np.ones((5, 2)))


@pytest.mark.parametrize("run", RUNS)
def test_what_cannot_be_one_memory_is_refused_and_neighbours_are_not(run: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        x += y
        return x - y

    base = np.arange(8.0)
    with pytest.raises(ValueError, match="'x' and 'y' share memory"):
        run(f)(base[:4], base[:2].view(np.float32))
    read_only = base[1:]
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        run(f)(read_only, base[:-1])
    assert base.tolist() == list(range(8))
    out = run(f)(base[::2], base[1::2])
    assert base.tolist() == [1, 1, 5, 3, 9, 5, 13, 7] and out.tolist() == [0, 2, 4, 6]
    rolling = np.lib.stride_tricks.as_strided(base, (4, 3), (8, 8))
    with pytest.raises(ValueError, match="elements of the array given overlap"):
        run(f)(rolling, np.ones(3))
    exe = wf.compile(f, base, base.copy())
    with pytest.raises(ValueError, match="share memory"):
        exe(base, base)


def exchange(x: Any, y: Any, k: int = 2) -> Any:
    x += y.ravel()[0] * k
    y[:1] = 7
    return x.sum() - y, x, {"y": y}


CUTS = {
    "later": lambda b: (b[1:], b[:-1]),
    "earlier": lambda b: (b[:-1], b[1:]),
    "reversed": lambda b: (b[::-1], b),
    "shapes": lambda b: (b.reshape(3, 4), b.reshape(4, 3).T),
    "same": lambda b: (b[4:], b[4:]),
    "steps": lambda b: (b[::2], b[::3]),
    "one element": lambda b: (b, b[3:4]),
    "gaps": lambda b: (b[2:8], b[5:]),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_elements_that_two_arguments_share_are_written_for_both(cut: Any) -> None:
    f = wf.jit(exchange, static_argnames="k")
    for run in (f, f, wf.simulate(f)):
        base, wanted = np.arange(12.0), np.arange(12.0)
        given = cut(base)
        result, expected = run(*given), exchange(*cut(wanted))
        np.testing.assert_array_equal(base, wanted)
        np.testing.assert_array_equal(result[0], expected[0])
        assert result[1] is given[0] and result[2]["y"] is given[1]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_two_parts_of_one_memory(data: Any) -> None:
    def part() -> Any:
        step = data.draw(st.sampled_from([1, 2, 3, -1, -2]))
        start = data.draw(st.integers(0, 23))
        shape = data.draw(st.sampled_from([(2, 3), (3, 2), (6,)]))
        turned = data.draw(st.booleans())

        def cut(base: Any) -> Any:
            line = base[start:][::step] if step > 0 else base[: start + 1][::step]
            array = np.resize(line, 0) if line.size < 6 else line[:6].reshape(shape)
            return array.T if turned and array.size else array

        return cut

    first, second = part(), part()
    run = data.draw(st.sampled_from([wf.jit, wf.simulate]))

    def f(x: Any, y: Any) -> Any:
        x.T[:1] += 100
        y *= 2
        x[:1] = x[:1] + y.sum()
        return x * 2 - y.reshape(-1)[0]

    base, wanted = np.arange(30.0), np.arange(30.0)
    if not first(base).size or not second(base).size:
        return
    result, expected = run(f)(first(base), second(base)), f(first(wanted), second(wanted))
    np.testing.assert_array_equal(base, wanted)
    np.testing.assert_array_equal(result, expected)


@st.composite
def strided(draw: Any) -> Any:
    """How to take an array of some layout out of a base: its shape and a function of the base's number."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    dtype = np.dtype(draw(st.sampled_from(["f8", "f4", "i4", ">i4", "c8"])))

    def make() -> tuple[np.ndarray, np.ndarray]:
        base = np.empty([abs(steps[i]) * shape[i] + 1 for i in order], dtype)
        base.flat = np.arange(base.size) % 50
        array = base.transpose(np.argsort(order))
        cut = tuple(
            slice(None, None, s) if s > 0 else slice(abs(s) * n - 1, None, s) for s, n in zip(steps, shape, strict=True)
        )
        return base, array[cut][tuple(slice(0, n) for n in shape)]

    return make


@given(strided(), strided(), st.sampled_from([wf.jit, wf.simulate]))
@settings(max_examples=60, deadline=None)
def test_writes_land_whatever_the_layout(first: Any, second: Any, run: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        x[..., :1] *= 3
        y -= x.real.sum().astype(y.dtype)
        x.T[-1] += y.real.sum().astype(x.dtype)
        x[::-1][:1] = 7
        return x + 1, y * 2

    (base_x, x), (base_y, y) = first(), second()
    (want_x, wx), (want_y, wy) = first(), second()
    got, wanted = run(f)(x, y), f(wx, wy)
    np.testing.assert_array_equal(base_x, want_x)
    np.testing.assert_array_equal(base_y, want_y)
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(g, w)


# -- layouts that decide between a view and a copy -----------------------------------------------------------------


def write_through_a_reshape(x: Any) -> Any:
    y = x.reshape(-1)
    y[0] = 5
    return y


LAYOUTS = {
    "C": lambda: np.zeros((2, 3)),
    "F": lambda: np.zeros((2, 3), order="F"),
    "columns": lambda: np.zeros((2, 6))[:, ::2],
    "rows": lambda: np.zeros((4, 3))[::2],
    "reversed": lambda: np.zeros((2, 3))[::-1, ::-1],
}


@pytest.mark.parametrize("dynamic", [None, {"x": {0: wf.Dim("n", 1, 2, 64)}}])
def test_a_reshape_is_a_view_where_it_is_one_in_numpy(dynamic: Any) -> None:
    f = wf.jit(write_through_a_reshape, dynamic=dynamic)
    for name, make in LAYOUTS.items():
        x, wanted = make(), make()
        result = write_through_a_reshape(wanted)
        if dynamic and name not in ("C", "F"):
            # With a symbolic extent the strides of other layouts are not followed.
            with pytest.raises(wf.errors.UnsupportedError, match="layout"):
                f(x)
            continue
        np.testing.assert_array_equal(f(x), result)
        np.testing.assert_array_equal(x, wanted)
    assert f.plan_count == (2 if dynamic else 5)


def test_a_layout_that_decides_nothing_is_not_part_of_the_signature() -> None:
    f = wf.jit(lambda x: (x * 2).reshape(-1) + x.reshape(-1))
    for make in LAYOUTS.values():
        f(make())
    assert f.plan_count == 2  # one reads arrays by columns as they lie


def test_a_write_whose_reach_is_not_known_is_an_error_that_names_it() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        y.reshape(-1)[0] = 5
        return y

    for order in "CF":
        np.testing.assert_array_equal(wf.jit(f)(np.zeros((2, 3), order=order)), f(np.zeros((2, 3), order=order)))
    with pytest.raises(NotImplementedError, match=r"y.reshape\(-1\)\[0\] = 5") as error:
        wf.jit(f)(np.zeros((4, 3), order="F")[::2])
    assert error.value.label == "layout"


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("make", [*LAYOUTS.values(), lambda: np.zeros((2, 4, 3)).transpose(2, 0, 1)])
def test_orders_that_follow_the_memory(order: str, make: Any) -> None:
    x = make()
    x[...] = np.arange(x.size).reshape(x.shape)

    def f(x: Any) -> Any:
        same = x.reshape((3, -1), order=order) if order != "K" else x
        return x.ravel(order), x.flatten(order), x.copy(order), np.ravel(x.T, order), same

    for got, wanted in zip(wf.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)


STEPS = {
    "T": lambda a: a.T,
    "line": lambda a: a.reshape(-1),
    "turned": lambda a: a.reshape(a.shape[::-1]),
    "column_line": lambda a: a.reshape(-1, order="F"),
    "memory_line": lambda a: a.ravel("K"),
    "pairs": lambda a: a.reshape(-1, 2) if a.size % 2 == 0 else a,
    "back": lambda a: a[::-1],
    "part": lambda a: a[..., ::2],
    "double": lambda a: a * 2,
    "sum": lambda a: a + a[:1],
    "copy": lambda a: a.copy(),
    "column_copy": lambda a: a.copy("F"),
    "memory_copy": lambda a: np.copy(a),
    "rows": lambda a: np.ascontiguousarray(a),
    "columns": lambda a: np.asfortranarray(a),
    "real": lambda a: a.real,
    "array": lambda a: np.array(a),
    "array_or_not": lambda a: np.array(a, copy=None),
    "as_rows": lambda a: np.asarray(a, order="C"),
    "as_columns": lambda a: np.asarray(a, order="F"),
    "squeeze": lambda a: np.squeeze(a) if a.size > 1 else a,
    "half": lambda a: np.array_split(a, 2)[0],
    "like": lambda a: np.ones_like(a),
    "sorted": lambda a: np.sort(a, axis=-1),
    "repeated": lambda a: np.repeat(a, 2, axis=0),
    "cleaned": lambda a: np.nan_to_num(a, copy=False),
    "axis": lambda a: a[:, None],
}


@given(
    strided(),
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.booleans()), min_size=1, max_size=7),
    st.sampled_from([wf.jit, wf.simulate]),
)
@settings(max_examples=150, deadline=None)
def test_views_and_copies_are_numpys(make: Any, steps: list[tuple[str, int, bool]], run: Any) -> None:
    def f(x: Any) -> Any:
        arrays = [x]
        for number, (name, place, writes) in enumerate(steps):
            arrays.append(STEPS[name](arrays[place % len(arrays)]))
            if writes:
                target = arrays[(place * 3 + number) % len(arrays)]
                target[(0,) * target.ndim] = 60 + number
                target[..., -1:] += 1
        return arrays

    (base, x), (want_base, want_x) = make(), make()
    wanted = f(want_x)
    try:
        got = run(f)(x)
    except wf.errors.UnsupportedError as error:
        assert error.label in ("layout", "order")
        return
    np.testing.assert_array_equal(base, want_base)
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(g, w)


def test_shared_elements_in_nested_and_static_arguments() -> None:
    @wf.jit(static_argnames="mode")
    def f(state: Any, x: Any, mode: Any, scale: float = 2.0) -> Any:
        state["line"][1] += x[()] * scale
        return mode, state["line"][1] + x

    def plain(state: Any, x: Any, mode: Any, scale: float = 2.0) -> Any:
        return f.__wrapped__(state, x, mode, scale)

    for scale in (2.0, 0.5):
        base, wanted = np.arange(6.0), np.arange(6.0)
        result = f({"line": [3, base[2:]]}, base[3, ...], (1, "a"), scale)
        expected = plain({"line": [3, wanted[2:]]}, wanted[3, ...], (1, "a"), scale)
        np.testing.assert_array_equal(base, wanted)
        assert result[0] == (1, "a")
        np.testing.assert_array_equal(result[1], expected[1])


def test_containers_stay_the_callers_where_elements_are_shared() -> None:
    @wf.jit(strict=False)
    def f(x: Any, q: Any, keeper: Any, state: Any) -> Any:
        state["names"].sort()
        q[0] += 1
        keeper.last = state["parts"]
        return state, state["names"], [state["parts"]], x

    for _ in range(3):
        x, keeper = np.arange(5.0), types.SimpleNamespace()
        state = {"names": ["a", "b"], "parts": [x[:2], 3], "rest": x[2:]}
        result = f(x, x[1:], keeper, state)
        assert result[0] is state and result[1] is state["names"] and result[2][0] is state["parts"] and result[3] is x
        assert keeper.last is state["parts"]
        assert x[1] == 2


# -- scalars, which are never written ------------------------------------------------------------------------------


def swap(x: Any, k: Any) -> Any:
    first = x[0]
    x[0], x[1] = x[1], first
    return first + k


def kept_element(x: Any, k: Any) -> Any:
    last = x[-1]
    x[-1] = k
    x[:1] += last
    return last


def kept_sum(x: Any, k: Any) -> Any:
    total = x.sum()
    before = total
    total += k
    return before, total


def kept_argument(x: Any, k: Any) -> Any:
    before = k
    k += 1
    k *= x[0]
    return before + x, k


def element_is_no_view(x: Any, k: Any) -> Any:
    part = x[0]
    part += k
    return part


def ellipsis_is_a_view(x: Any, k: Any) -> Any:
    part = x[0, ...]
    part += k
    return part + 0


def array_without_dimensions(x: Any, k: Any) -> Any:
    total = np.zeros(())
    same = total
    for value in x:
        total += value * k
    return same + 0


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("k", [2.5, np.float64(0.5), np.float32(3), np.int8(2)], ids=repr)
@pytest.mark.parametrize(
    "f", [swap, kept_element, kept_sum, kept_argument, element_is_no_view, ellipsis_is_a_view, array_without_dimensions]
)
def test_scalars_keep_their_value(run: Any, f: Any, k: Any) -> None:
    x, wanted = np.arange(1.0, 5.0), np.arange(1.0, 5.0)
    result, expected = run(f)(x, k), f(wanted, k)
    np.testing.assert_array_equal(x, wanted)
    for got, want in zip(
        result if type(result) is tuple else (result,),
        expected if type(expected) is tuple else (expected,),
        strict=True,
    ):
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype


@pytest.mark.parametrize(
    "write",
    [lambda s: s.__setitem__(..., 1), lambda s: s.__setitem__((), 1), lambda s: s.fill(3), lambda s: np.copyto(s, 2)],
)
def test_scalars_cannot_be_written(write: Any) -> None:
    for call, value in ((lambda x: write(x[0]), np.ones(3)), (write, np.float32(3))):
        with pytest.raises((TypeError, AttributeError)):
            wf.jit(call)(value)


def test_an_array_without_dimensions_is_not_a_scalar() -> None:
    @wf.jit
    def f(x: Any) -> Any:
        x += 1
        return x * 2

    array = np.array(3.0)
    assert f(np.float64(3)) == 8 and f(array) == 8 and array == 4
    assert f(array) == 10 and f(np.float64(3)) == 8 and f(3.0) == 8 and f.plan_count == 3


@pytest.mark.parametrize(
    "options", [{"donate_argnames": "z"}, {"static_argnames": ("x", "z")}, {"dynamic": {"z": {0: "n"}}}]
)
def test_names_of_no_parameter_are_refused(options: dict) -> None:
    with pytest.raises(ValueError, match=r"'z' is no parameter of 'exchange', they are \['x', 'y', 'k'\]"):
        wf.jit(exchange, **options)
    wf.jit(lambda x, **others: x, **options)


def between(a: Any, b: Any) -> Any:
    a[1:-1] = a[:-2] + a[2:]
    b[1:-1] = a[:-2] * 2
    a[2:] = b[:-2]
    b[:5] = b[5:10] + a[:5]
    return a + b


def kept_before(a: Any, b: Any) -> Any:
    c = a.copy()
    a[1:] = a[:-1]
    a[3:7] = c[:4] * 2
    b[:4] = c[1:5] + b[1:5]
    return c


def in_turns(a: Any, b: Any) -> None:
    for _ in range(20):
        first = a[1:-1] * 0.5
        a[1:-1] = b[2:] - b[:-2]
        b[1:-1] = first + a[2:]
        a[:2] = first[:2]


def by_steps(a: Any, b: Any) -> Any:
    a[::2] = b[1::2]
    b[::2] = a[1::2]
    a[::3] = a[::3] * 2
    return a[1:] - a[:-1]


@pytest.mark.parametrize("function", [between, kept_before, in_turns, by_steps])
def test_parts_are_computed_where_they_are_written(function: Any) -> None:
    arrays = np.random.default_rng(0).standard_normal((2, 40))
    plain, jitted = arrays.copy(), arrays.copy()
    wanted, got = function(*plain), wf.jit(function)(*jitted)
    np.testing.assert_allclose(jitted, plain, rtol=1e-12)
    if wanted is not None:
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_stencil_over_another_array_needs_no_memory_of_its_own() -> None:
    def relax(a: Any, b: Any) -> None:
        b[1:-1] = (a[2:] + a[:-2]) * 0.5
        a[1:-1] = (b[2:] + b[:-2]) * 0.5

    assert wf.compile(relax, np.ones(5000), np.ones(5000)).memory["arena"] == 0


def test_whether_a_result_is_a_view_follows_the_layout_of_each_call() -> None:
    def parts(x: Any) -> Any:
        return np.ascontiguousarray(x), np.ravel(x), x.reshape(-1), np.asfortranarray(x)

    rows = np.arange(24.0).reshape(6, 4)
    jitted = wf.jit(parts, strict=False)
    for x in (rows.copy(), np.asfortranarray(rows), rows[::-1], rows.copy()):
        for got, wanted in zip(jitted(x), parts(x), strict=True):
            np.testing.assert_array_equal(got, wanted)
            assert np.shares_memory(got, x) == np.shares_memory(wanted, x)
            assert got.strides == wanted.strides or not np.shares_memory(got, x)
        assert jitted(x)[0].flags.c_contiguous
    assert jitted.plan_count == 3 and not jitted.refusals


class Holder:
    kept: Any


def row_in_a_list(a: Any, x: Any) -> Any:
    for i in range(11):
        x = a[i]
    rows, x = [x], None
    a[10] = 0
    return rows[0] * 1


def row_in_an_object(a: Any, x: Any) -> Any:
    for i in range(11):
        x = a[i]
    holder = Holder()
    holder.kept, x = x, None
    a[10] = 0
    return holder.kept * 1


def row_of_a_dictionary(a: Any, x: Any) -> Any:
    for i in range(11):
        x = a[i]
    rows, x = {"last": x}, None
    for i in range(11):
        a[i] = 0
    return rows["last"] * 1


def row_that_a_condition_copies(a: Any, x: Any) -> Any:
    for i in range(11):
        x = a[i]
    for i in range(11):
        if i > 5:
            x = x.copy()
        a[i, i] = 0
        a[10, 3] = 1
    return x * 1


def row_until_a_turn(a: Any, x: Any) -> Any:
    for i in range(11):
        x = a[i]
    for i in range(20):
        for j in range(10):
            if i * j == 90:
                x = x + 1
            a[10, 3] += 1
    return x * 1


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "function",
    [row_in_a_list, row_in_an_object, row_of_a_dictionary, row_that_a_condition_copies, row_until_a_turn],
    ids=lambda f: f.__name__,
)
def test_writes_are_seen_through_a_view_that_a_loop_gave(function: Any, strict: bool) -> None:
    a, x = np.random.default_rng(5).random((11, 11)), np.ones(11)
    wanted_a, got_a = a.copy(), a.copy()
    np.testing.assert_array_equal(wf.jit(function, strict=strict)(got_a, x), function(wanted_a, x))
    np.testing.assert_array_equal(got_a, wanted_a)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 40])
def test_a_write_to_an_array_that_conditions_choose_reaches_the_one_that_numpy_has(count: int) -> None:
    def written(a: Any, b: Any, x: Any) -> Any:
        c = a + 1
        for i in range(count):
            if x[i % 3] > 0:
                c, b = b, c
        c[0] = 7
        return c * 1

    for sign in (1, -1):
        x = sign * np.array([0.5, -0.4, 0.3])
        a, b = np.arange(9.0).reshape(3, 3), -np.arange(9.0).reshape(3, 3)
        wanted_b, got_b = b.copy(), b.copy()
        wanted = written(a, wanted_b, x)
        np.testing.assert_array_equal(wf.jit(written, strict=False)(a, got_b, x), wanted)
        np.testing.assert_array_equal(got_b, wanted_b)
        with pytest.raises(wf.Error, match="a condition chooses one of two arrays"):
            wf.jit(written, strict=True)(a, b.copy(), x)
