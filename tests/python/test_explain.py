"""Explanations: every operation is in a kernel with the user's line, and every value between kernels has a reason."""

import inspect

import numpy as np
import pytest

import weftwork as wf


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return f"test_explain.py:{first + next(i for i, line in enumerate(lines) if text in line)}"


def test_a_chain_is_one_kernel_without_cuts():
    def chain(x):
        y = np.tanh(x)
        return y * 2 + 1

    why = wf.explain(chain, np.ones((3, 5), np.float32))
    (kernel,) = why.kernels
    assert kernel.ops == (
        ("tanh", line_of(chain, "tanh")),
        ("multiply", line_of(chain, "* 2")),
        ("add", line_of(chain, "* 2")),
    )
    assert (kernel.launches, kernel.read_bytes, kernel.written_bytes, kernel.flops, kernel.setup) == (
        1,
        60,
        60,
        0,
        False,
    )
    assert why.cuts == ()


def test_products_and_routines_end_kernels_and_say_why():
    def model(x, w):
        y = x @ w
        z = np.exp(y)
        s = np.sort(z, axis=-1)
        return z @ w + s

    why = wf.explain(model, np.ones((40, 40), np.float32), np.ones((40, 40), np.float32))
    products = [k for k in why.kernels if any(op == "dot_general" for op, _ in k.ops)]
    assert sum(k.launches for k in products) == 2
    assert all(k.flops == 2 * 40 * 40 * 40 for k in products)
    (sort,) = (k for k in why.kernels if k.name == "sort")
    assert (sort.ops, sort.read_bytes, sort.written_bytes) == ((("sort", line_of(model, "np.sort")),), 6400, 6400)
    (stored,) = (cut for cut in why.cuts if cut.op == "exponential")
    assert stored.source == line_of(model, "np.exp")
    assert f"sort ({line_of(model, 'np.sort')})" in stored.readers
    assert "is an operand" in stored.reason
    for text in (
        "model: ",
        "2 launches" if len(products) == 1 else "1 launch",
        stored.reason,
        line_of(model, "np.sort"),
    ):
        assert text in str(why)


def test_equal_kernels_are_told_once_with_all_their_lines():
    def twice(x):
        a = np.sort(np.tanh(x))
        b = np.sort(np.tanh(a))
        return b

    why = wf.explain(twice, np.ones(7))
    (tanh,) = (k for k in why.kernels if k.ops and k.ops[0][0] == "tanh")
    assert tanh.launches == 2
    assert {line_of(twice, "a = "), line_of(twice, "b = ")} <= set(tanh.lines)


def test_sizes_are_extents_where_the_program_has_them_and_unknown_where_a_loop_counts():
    why = wf.explain(lambda x: np.cos(x), wf.spec(("n", 2), np.float64))
    n = wf.Dim("n")
    assert repr(why.kernels[0].read_bytes) == repr(n * 16)

    def prefix_sums(x):
        out = np.zeros_like(x)
        for i in wf.range(len(x)):
            out[i] = np.sum(np.sort(x[:i]))
        return out

    assert None in [k.read_bytes for k in wf.explain(prefix_sums, np.ones(40)).kernels]


def test_what_is_done_once_is_told_apart():
    weights = np.ones((64, 64), np.float32)
    weights.flags.writeable = False
    why = wf.explain(lambda x: x @ weights, np.ones((64, 64), np.float32))
    assert [k.setup for k in why.kernels if "pack" in k.name or k.setup] == [True]
    assert "once, as the program is loaded" in str(why)


@pytest.mark.parametrize("of", ["graph", "executable", "jit", "file"])
def test_graphs_executables_and_files_can_be_explained(of, tmp_path):
    f = lambda x: np.tanh(x) + 1
    x = np.ones(3)
    wanted = wf.explain(f, x)
    if of == "graph":
        found = wf.explain(wf.trace(f, x))
    elif of == "jit":
        found = wf.explain(wf.jit(f), x)
    else:
        executable = wf.compile(f, x)
        if of == "file":
            executable.save(tmp_path / "f.weft")
            executable = wf.load(tmp_path / "f.weft")
        found = wf.explain(executable)
    assert found == wanted


def test_names_that_are_no_text_are_escaped(tmp_path):
    functions = {}
    source = "def double(x):\n  return {k: v * 2 for k, v in x.items()}\ndef wrong(x):\n  return x + x[1:]"
    exec(compile(source, "/none\udcff/model\udcfe.py", "exec"), functions)
    [kernel] = wf.explain(functions["double"], {"a\udcff": np.ones(3)}).kernels
    assert kernel.ops == (("multiply", "model\\udcfe.py:2"),)
    exe = wf.compile(functions["double"], {"a\udcff": np.ones(3)})
    exe.save(tmp_path / "f.weft")
    loaded = wf.load(tmp_path / "f.weft")
    assert (
        loaded.inputs[0].name == "x.a\\udcff"
        and loaded.kernels[0].source == "model\\udcfe.py:2"
        and loaded.kernels == exe.kernels
    )
    with pytest.raises(ValueError, match=r"model\\udcfe.py:4"):
        wf.jit(functions["wrong"])(np.ones(3))


# ---- which way calls run ---------------------------------------------------------------------------------------------

rate = 0.5
weights = np.ones(3)
settings = {"scale": 2.0, "name": "plain"}


class Model:
    width = 3

    def __init__(self):
        self.mean, self.count, self.training, self.history = np.zeros(3), 0, True, []

    def step(self, x):
        self.count += 1
        if self.training:
            self.mean = self.mean + rate * (x - self.mean)
            self.history.append(x.sum())
        weights[0] = x[1]
        return (x - self.mean) * settings["scale"] / self.width


def test_what_a_program_reads_stores_and_relies_on_is_told_and_nothing_is_run():
    model = Model()
    why = wf.explain(model.step, np.arange(3.0))
    assert (why.way, why.reason, why.place, why.advice, model.count, model.history) == ("compiled", "", "", "", 0, [])
    assert set(why.reads) == {
        "the global 'rate': a float",
        "the global 'weights': an array of float64, shape (3,)",
        "the attribute 'mean' of a Model: an array of float64, shape (3,)",
        "item 'scale' of the global 'settings': a float",
    }
    assert {
        "the attribute 'training' of a Model is True",
        "the attribute 'width' of the class Model is 3",
        "the attribute 'history' of a Model has 0 items",
        "the global 'settings' has the keys ['scale', 'name']",
        "item 'name' of the global 'settings' is 'plain'",
    } <= set(why.guards)
    assert set(why.stores) == {
        "the attribute 'count' of a Model",
        "the attribute 'mean' of a Model",
        "the items of the attribute 'history' of a Model",
        "the elements of the global 'weights'",
    }
    for text in (*why.reads, *why.guards, *why.stores, "reads from its surroundings", "once the program has run"):
        assert text in str(why)


def test_variables_of_outer_functions_have_their_names():
    def outer():
        calls = 0

        def inner(x):
            nonlocal calls
            calls += 1
            return x * 2

        return inner

    why = wf.explain(outer(), np.ones(3))
    assert "the outer variable 'calls' is 0" in why.guards
    assert why.stores == ("the outer variable 'calls'",)


def printed(x):
    y = x + 1
    print(y)
    return y


def branching(x):
    if x.sum() > 0:
        branching.last = x
    return -x


def selected(x):
    y = x * 2
    return y[y > 1]


def divided(x):
    return 1.0 / float(x[0])


@pytest.mark.parametrize(
    ("function", "line", "reason", "advice"),
    [
        (printed, "print(y)", "'print' is called", "where the function is called"),
        (branching, "if x.sum()", "a condition needs the value of", "np.where"),
        (selected, "def selected", "as many elements as the mask has true values", "np.where"),
        (divided, "1.0 /", "which may raise", "np.divide"),
    ],
)
@pytest.mark.parametrize(
    "form", [lambda f: f, wf.jit, lambda f: wf.jit(f, strict=False)], ids=["plain", "jit", "unstrict"]
)
def test_what_is_no_program_says_why_and_where_and_what_helps(function, line, reason, advice, form, capsys):
    why = wf.explain(form(function), np.ones(3))
    way = "plain" if function is printed or form is wf.jit else "pieces"  # the tests' knob says strict
    assert (why.way, why.kernels, why.cuts, why.name) == (way, (), (), function.__name__)
    assert reason in why.reason
    assert "  [" not in why.reason
    assert advice in why.advice
    assert why.place.endswith(line_of(function, line))
    assert capsys.readouterr().out == ""
    told = ("runs plainly with NumPy", why.reason, why.place, line, f"instead: {why.advice}")
    if way == "pieces":
        assert len(why.pieces) == 1
        told = (
            "2 programs",
            why.pieces[0],
            {selected: "return y", branching: "branching.last = x"}.get(function, line),
            f"for one program: {why.advice}",
        )
    for text in told:
        assert text in str(why)


@pytest.mark.parametrize(
    "array", [np.ma.array([1.0]), np.array(["a"]), np.array([None])], ids=["masked", "text", "object"]
)
def test_arguments_that_no_program_takes_are_told(array):
    why = wf.explain(lambda x: x + x, array)
    assert (why.way, bool(why.reason), bool(why.advice)) == ("plain", True, True)


def test_explanation_and_call_agree_and_a_function_given_up_says_why():
    count = 0

    def mixed(x, loud):
        nonlocal count
        count += 1
        return printed(x) if loud else x + 1

    fast = wf.jit(mixed, strict=False)
    for loud in (False, True):
        way = wf.explain(fast, np.ones(3), loud).way
        before = fast.ways
        fast(np.ones(3), loud)
        assert fast.ways[way] == before[way] + 1

    always = wf.jit(printed, strict=False)
    for n in range(1, 9):
        always(np.ones(n))
    assert always.is_plain
    assert wf.explain(always, np.ones(3)).reason == "'print' is called"


def test_what_is_declared_otherwise_still_raises():
    def scaled(x: wf.tensor[np.float32, (3,)]):
        return x * 2

    assert wf.explain(scaled).way == "compiled"
    with pytest.raises(TypeError, match="x"):
        wf.explain(scaled, np.ones(3))
