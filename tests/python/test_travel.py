"""Jitted functions, programs and what belongs to them are copied, pickled and sent to other processes."""

import copy
import functools
import importlib
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import travellers

import weftwork as wf

X = np.linspace(-1, 1, 300_000)
HERE = str(Path(__file__).parent)
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def sent(value: Any, protocol: int = 4) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_jitted_functions_pickle_as_functions_do(protocol: int) -> None:
    for function in travellers.by_name():
        again = sent(function, protocol)
        assert np.array_equal(again(X), function(X)), function
    assert sent(travellers.wave, protocol) is travellers.wave
    assert sent(travellers.Model.scaled, protocol) is travellers.Model.scaled


def test_a_function_that_is_wrapped_beside_its_name_keeps_its_options() -> None:
    travellers.quick.note = "kept"  # type: ignore[attr-defined]
    travellers.quick.most_plans = 9
    fast = wf.jit(travellers.plain, static_argnames="x", donate_argnames=(), device="cpu:1", target="x86-64", pure=True)
    again = sent(travellers.quick)
    assert again is not travellers.quick and again.note == "kept" and again.most_plans == 9
    with pytest.raises(wf.errors.DataDependentError):
        sent(wf.jit(travellers.decided, strict=True))(X)
    assert np.array_equal(sent(wf.jit(travellers.decided, strict=False))(X), travellers.decided(X))
    assert sent(fast)._options == fast._options
    ranged = sent(wf.jit(travellers.of_rows, strict=True))
    assert [ranged(np.ones((n, 3)))[0] for n in (2, 3, 70)] == [1.0, 1.0, 1.0] and ranged.plan_count == 1


def test_what_pickle_cannot_find_is_named() -> None:
    for function, name in ((wf.jit(lambda x: x), "lambda"), (travellers.by_value()[0], "nested")):
        with pytest.raises((pickle.PicklingError, AttributeError), match=name):
            pickle.dumps(function)


def test_copies_of_functions_are_themselves() -> None:
    for function in (travellers.wave, travellers.quick, wf.jit(lambda x: x), travellers.halved):
        assert copy.copy(function) is function and copy.deepcopy([function])[0] is function
    owner = travellers.Owner(2.0)
    assert owner.fast(X)[0] == -2
    other = copy.deepcopy(owner)
    other.weight = 5.0
    assert other.fast(X)[0] == -5 and owner.fast(X)[0] == -2 and other.fast._function.__self__ is other


def looped(x: Any, y: Any) -> Any:
    y[...] = y + wf.while_loop(lambda s: s < x.sum(), lambda s: s * 2 + 1, x[0])
    return {
        "a": wf.cond(x[0] > 0, lambda: np.sort(x), lambda: x * 2),
        "b": [wf.random.uniform(wf.random.key(3), x.shape), y[::2]],
    }


def graphs() -> list[wf.Graph]:
    n = wf.Dim("n", 2, 8, 100)
    rows = wf.spec((n * 2 + 1, 3), np.float32)
    parsed = wf.stablehlo.parse("""
        module @pair {
          func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
            %0 = func.call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
            return %0 : tensor<3xf32>
          }
          func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
            %0 = stablehlo.add %x, %x : tensor<3xf32>
            return %0 : tensor<3xf32>
          }
        }""")
    table = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    return [
        wf.trace(looped, np.ones(4), np.ones(4)),
        wf.trace(lambda x: np.linalg.solve(x @ x.T, x) + table[:3], np.ones((3, 3), np.float32)),
        wf.trace(lambda x: (x @ table.T).sum(axis=0) * x.shape[0], rows),
        wf.trace(travellers.of_rows),
        wf.trace(travellers.with_operation, np.ones(3)),
        wf.trace(lambda x: x.view(np.int16) if x.dtype == np.float16 else x, np.ones(3, np.float16)),
        parsed,
    ]


def test_graphs_travel_whole() -> None:
    for graph in graphs():
        for protocol in PROTOCOLS:
            again = sent(graph, protocol)
            assert again.mlir() == graph.mlir() and repr(again) == repr(graph)
            assert again.inputs == graph.inputs and again.outputs == graph.outputs and again.aliases == graph.aliases
            assert [g.mlir() for g in map(wf.Graph, again.core.functions)] == [
                g.mlir() for g in map(wf.Graph, graph.core.functions)
            ]
        assert copy.copy(graph) is graph and copy.deepcopy(graph) is graph
        symbols = [
            [(repr(s), s.min, s.opt, s.max) for s in e.symbols]
            for io in again.inputs
            for e in io.shape
            if isinstance(e, wf.Dim)
        ]
        assert symbols == [
            [(repr(s), s.min, s.opt, s.max) for s in e.symbols]
            for io in graph.inputs
            for e in io.shape
            if isinstance(e, wf.Dim)
        ]


def test_executables_travel_with_their_code() -> None:
    exe = wf.compile(travellers.plain, X)
    again = sent(exe)
    assert np.array_equal(again(X), exe(X)) and again.memory == exe.memory and again.inputs == exe.inputs
    assert again.target == exe.target and np.array_equal(sent(again)(X), exe(X))
    assert copy.copy(exe) is exe and copy.deepcopy(exe) is exe
    assert str(sent(wf.compile(travellers.plain, X, device="cpu:1")).device) == "Device('cpu:1')"
    wanted = travellers.wave(X)  # compiles it, where no other test has
    [of_this_shape] = [e for e in sent(travellers.wave).executables if tuple(e.inputs[0].shape) == X.shape]
    assert np.array_equal(of_this_shape(X), wanted)


def test_an_executable_for_another_cpu_is_compiled_anew() -> None:
    exe = wf.compile(travellers.plain, X)
    if exe.target == "x86-64":
        pytest.skip("this CPU is the least that there is")
    content = pickle.dumps(exe)
    with wf.knobs(target="x86-64"):
        again = pickle.loads(content)
    assert again.target == "x86-64" and np.allclose(again(X), exe(X), rtol=1e-12)


def test_a_damaged_pickle_is_an_error() -> None:
    exe = wf.compile(travellers.plain, np.ones(3))
    content = bytearray(exe._core.content())
    content[len(content) // 2] ^= 4
    with pytest.raises(wf.errors.FileError, match="damaged"):
        wf._core.load_content(bytes(content))


def test_small_values_travel() -> None:
    n = wf.Dim("n", 2, 8, 100)
    values = [
        n * 2 + 1,
        (n * wf.Dim("m") + 3) // 4 % 5,
        wf.spec((2, "n"), np.float32),
        wf.tensor[wf.mutable, np.float32, (n, 3)],
        wf.mutable,
        wf.Device("cpu:1"),
        wf.random.key(3),
        wf.random.split(wf.random.key(3)),
        wf.explain(travellers.plain, X),
        wf.trace(travellers.of_rows).inputs,
    ]
    for value in values:
        for again in (*(sent(value, protocol) for protocol in PROTOCOLS), copy.copy(value), copy.deepcopy(value)):
            assert type(again) is type(value) and repr(again) == repr(value)
    again = sent(n * 2 + 1)
    assert (again.min, again.opt, again.max) == (5, 17, 201) and again == n * 2 + 1


def test_errors_travel_with_their_labels() -> None:
    for name in wf.errors.__all__:
        error = getattr(wf.errors, name)("text  [label]")
        error.label = "label"
        again = sent(error)
        assert type(again) is type(error) and again.args == error.args and again.label == "label"
    with pytest.raises(wf.errors.ArgumentValueError) as raised:
        wf.jit(lambda x: x.reshape(7), strict=True)(np.ones(3))
    assert sent(raised.value).label == raised.value.label and str(sent(raised.value)) == str(raised.value)


def test_operations_are_found_or_made() -> None:
    assert sent(travellers.halved) is travellers.halved
    made = wf.custom_op("travel.test", travellers.call, reference=travellers.plain)
    assert sent(made) is made
    code = "import pickle; op = pickle.loads(sys.stdin.buffer.read()); print(op(4.0), op)"
    for operation in (travellers.halved, wf.custom_op("travel.new", travellers.like, reference=np.positive)):
        done = in_process(code, pickle.dumps(operation))
        assert done == f"{operation(4.0)} <weftwork.CustomOp {operation.name}>\n"
    native = wf.custom_op("travel.native", travellers.like, native=1)
    content = pickle.dumps(native).replace(b"travel.native", b"travel.absent")
    with pytest.raises(wf.errors.ArgumentValueError, match="no pickle holds"):
        pickle.loads(content)


def in_process(code: str, given: bytes) -> str:
    """What a process of its own prints, which has this folder on its path."""
    code = f"import sys; sys.path.insert(0, {HERE!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_take_functions_and_give_them_back(method: str) -> None:
    travellers.wave(X)  # the threads of runs are there when the process is forked
    functions = [*travellers.by_name(), wf.compile(travellers.plain, X), wf.compile(graphs()[3])]
    inputs = [*[X] * (len(functions) - 1), X.reshape(-1, 3)[:900]]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        results = list(pool.map(travellers.call, functions, inputs))
        again = pool.submit(copy.copy, travellers.quick).result(timeout=60)
    with context.Pool(2) as workers:
        others = workers.starmap(travellers.call, zip(functions, inputs, strict=True))
    for function, given, result, other in zip(functions, inputs, results, others, strict=True):
        assert np.array_equal(result, function(given)) and np.array_equal(other, function(given)), function
    assert np.array_equal(again(X), travellers.quick(X))


def test_cloudpickle_takes_them_by_value() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    for function in (*travellers.by_name(), *travellers.by_value(), wf.compile(travellers.plain, X)):
        assert np.array_equal(cloudpickle.loads(cloudpickle.dumps(function))(X), function(X))
    assert cloudpickle.loads(cloudpickle.dumps(travellers.wave)) is travellers.wave
    code = "import pickle, numpy as np; f = pickle.loads(sys.stdin.buffer.read()); print(f(np.arange(2.0)))"
    for function in travellers.by_value():
        assert in_process(code, cloudpickle.dumps(function)) == f"{function(np.arange(2.0))}\n"
    cloudpickle.register_pickle_by_value(travellers)
    try:
        content = cloudpickle.dumps(functools.partial(travellers.doubled, turns=3))
    finally:
        cloudpickle.unregister_pickle_by_value(travellers)
    assert in_process("sys.path.pop(0); " + code, content) == "[0. 8.]\n"


MAIN = """
import cloudpickle, numpy as np, weftwork as wf

@wf.jit(static_argnames="turns")
def doubled(x, turns):
    "Doubles."
    return x if turns == 0 else doubled(x, turns - 1) * 2

class Model:
    weight = 3.0
    @wf.jit
    def apply(self, x):
        return doubled(x, 1) + self.weight

operation = wf.custom_op("main.operation", lambda x: wf.spec(x.shape, x.dtype), reference=lambda x: x + 1)
"""


def test_cloudpickle_takes_the_main_program_by_value() -> None:
    pytest.importorskip("cloudpickle")
    code = MAIN + "sys.stdout.write(cloudpickle.dumps([doubled, Model().apply, operation]).hex())"
    content = bytes.fromhex(in_process(code, b""))
    doubled, apply, operation = pickle.loads(content)
    assert doubled(np.ones(1), 3) == 8 and apply(np.ones(1)) == 5 and operation(1.0) == 2
    assert (doubled.__doc__, doubled.__qualname__) == ("Doubles.", "doubled")
    assert doubled.__wrapped__.__globals__["doubled"] is doubled


def test_joblib_sends_them() -> None:
    joblib = pytest.importorskip("joblib")
    functions = [*travellers.by_name()[:3], *travellers.by_value()]
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(function)(X) for function in functions)
    for function, result in zip(functions, results, strict=True):
        assert np.array_equal(function(X), result)


def test_estimators_with_a_jitted_function_are_cloned() -> None:
    base = pytest.importorskip("sklearn.base")
    importlib.import_module("sklearn.svm")
    for function in (travellers.wave, wf.jit(lambda a, b: a @ b.T)):
        estimator = sys.modules["sklearn.svm"].SVR(kernel=function)
        assert base.clone(estimator).kernel is function
