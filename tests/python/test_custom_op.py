"""Operations that programs add, by Python functions, bodies and C functions."""

import ctypes
import threading
from typing import Any

import numpy as np
import pytest

import weftwork as wf

X = np.arange(6.0).reshape(2, 3)
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p))


def like(x: Any, **attributes: Any) -> Any:
    return wf.spec(x.shape, x.dtype)


def running(x: Any, scale: int = 1) -> Any:
    """Running totals of each row."""
    return np.cumsum(x, axis=-1) * scale


@SIGNATURE
def tenfold(numbers: Any, buffers: Any) -> None:
    # One operand and one result, both float64: dtype, rank and extents of each, then an integer.
    rank = numbers[3]
    count = int(np.prod([numbers[4 + i] for i in range(rank)]))
    factor = numbers[2 + 2 * (2 + rank)]
    source, target = ((ctypes.c_double * count).from_address(buffers[i] or 0) for i in range(2))
    for i in range(count):
        target[i] = source[i] * factor


def make_capsule(function: Any) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(function, ctypes.c_void_p), None, None)


def divided(x: Any) -> Any:
    return wf.spec((x.shape[0], 1), x.dtype), wf.spec(x.shape, np.dtype(np.int32))


OPS = {
    "reference": (wf.custom_op("test.running", like, reference=running), {"scale": 2}),
    "body": (
        wf.custom_op("test.body", like, body=lambda x, eps: np.tanh(x) * eps + x.sum(axis=-1, keepdims=True)),
        {"eps": 0.1},
    ),
    "both": (wf.custom_op("test.both", like, reference=lambda x: np.exp(x) + 1, body=lambda x: np.exp(x) + 1), {}),
    "address": (wf.custom_op("test.address", like, native=ctypes.cast(tenfold, ctypes.c_void_p).value), {"factor": 10}),
    "ctypes": (wf.custom_op("test.ctypes", like, native=tenfold), {"factor": 3}),
    "capsule": (
        wf.custom_op("test.capsule", like, native=make_capsule(tenfold), reference=lambda x, factor: x * factor),
        {"factor": -2},
    ),
    "two results": (
        wf.custom_op(
            "test.two",
            divided,
            reference=lambda x: (x.max(axis=1, keepdims=True), np.argsort(x, axis=1).astype(np.int32)),
        ),
        {},
    ),
}


def as_tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def with_neighbours(op: Any, attributes: Any) -> Any:
    def f(x: Any) -> Any:
        results = as_tuple(op(np.sin(x) * 4, **attributes))
        return tuple(r + r for r in results)

    return f


def require_equal(got: Any, wanted: Any) -> None:
    for g, w in zip(as_tuple(got), as_tuple(wanted), strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=1e-14)


@pytest.mark.parametrize("kind", OPS)
def test_every_way_to_run_gives_the_same(kind: str) -> None:
    op, attributes = OPS[kind]
    f = with_neighbours(op, attributes)
    wanted = f(X)
    graph = wf.trace(f, X)
    programs = [
        wf.jit(f),
        wf.simulate(f),
        wf.compile(f, X),
        graph.interpret,
        lambda x: tuple(graph.core.interpret_kernels([x])),
    ]
    for text in (graph.mlir(), graph.stablehlo(), graph.stablehlo(locations=False)):
        read = wf.stablehlo.parse(text)
        programs += [wf.compile(read), read.interpret]
    for program in programs:
        require_equal(program(X), wanted)
    assert len(graph.hlo_proto()) > 0


@pytest.mark.parametrize("kind", OPS)
def test_extents_may_be_symbolic(kind: str) -> None:
    op, attributes = OPS[kind]
    f = with_neighbours(op, attributes)
    graph = wf.trace(f, wf.spec(("rows", 3), np.float64))
    jitted = wf.jit(f, dynamic={"x": {0: "rows"}})
    for rows in (1, 2, 5):
        x = np.arange(rows * 3.0).reshape(rows, 3)
        require_equal(jitted(x), f(x))
        require_equal(wf.compile(graph)(x), f(x))
        require_equal(wf.compile(wf.stablehlo.parse(graph.stablehlo(rows=rows)))(x), f(x))
        require_equal(wf.simulate(jitted)(x), f(x))
    assert jitted.plan_count == 1


def test_texts_name_the_operation() -> None:
    def text(kind: str) -> str:
        op, attributes = OPS[kind]
        return wf.trace(lambda x: op(x, **attributes), X).mlir()

    assert 'stablehlo.custom_call"(%arg0) {call_target_name = "test.running"' in text("reference")
    assert "scale = 2 : i64" in text("reference")
    assert 'stablehlo.composite"(%arg0) {name = "test.body", decomposition = @test.body' in text("body")


def test_flat_text_keeps_names_with_one_function_for_each() -> None:
    op, attributes = OPS["body"]

    def f(x: np.ndarray) -> np.ndarray:
        for _ in range(100):
            x = op(x, **attributes) * 0.5
        return op(x, **attributes)

    graph = wf.trace(f, X)
    text = graph.stablehlo()
    assert text.count("stablehlo.composite") == 2 and text.count("func.func private") == 1
    again = wf.stablehlo.parse(text)
    assert again.stablehlo(locations=False) == graph.stablehlo(locations=False)
    require_equal(wf.compile(again)(X), f(X))
    require_equal(again.interpret(X), f(X))


@pytest.mark.parametrize(
    "attributes", [{"a": True, "b": -3, "c": 0.1, "d": 'quoted "text", \\ and } = 5 : i64', "e": np.int8(4)}]
)
def test_attributes_arrive_as_they_were_given(attributes: dict) -> None:
    seen = []
    op = wf.custom_op("test.attributes", like, reference=lambda x, **given: (seen.append(given), x * 2)[1])
    f = lambda x: op(x, **attributes)
    wf.jit(f)(X), wf.simulate(f)(X), wf.compile(wf.stablehlo.parse(wf.trace(f, X).stablehlo()))(X)
    assert seen == [attributes] * 3
    for bad in (None, [1], float("nan"), "\n"):
        with pytest.raises(TypeError, match="custom_op_attribute"):
            op(X, a=bad)


# -- errors --------------------------------------------------------------------------------------------------------


def test_an_exception_of_the_reference_is_an_error_that_names_the_line() -> None:
    def refuse(x: Any) -> Any:
        raise ZeroDivisionError("not today")

    op = wf.custom_op("test.refuse", like, reference=refuse)

    def f(x: Any) -> Any:
        return op(x + 1) * 2

    with pytest.raises(ZeroDivisionError):
        f(X)
    jitted = wf.jit(f)
    for run in (jitted, jitted, wf.simulate(f)):
        with pytest.raises(RuntimeError, match=r"'test.refuse' raised ZeroDivisionError: not today") as error:
            run(X)
        assert error.value.label == "custom_op_raised"
        assert isinstance(error.value.__cause__, ZeroDivisionError)
        assert "test_custom_op.py" in str(error.value) and "return op(x + 1) * 2" in str(error.value)
    # The thread runs programs as before.
    require_equal(wf.jit(lambda x: OPS["reference"][0](x))(X), running(X))


def test_errors_of_programs_within_programs_end_the_right_one() -> None:
    def inner_reference(x: Any) -> Any:
        if x.sum() > 3:
            raise ValueError("too much")
        return x

    inner_op = wf.custom_op("test.inner", like, reference=inner_reference)
    inner = wf.jit(lambda x: inner_op(x) + 1)

    def outer_reference(x: Any) -> Any:
        try:
            return inner(x)
        except RuntimeError:
            return inner(x * 0)

    outer_op = wf.custom_op("test.outer", like, reference=outer_reference)
    outer = wf.jit(lambda x: outer_op(x) * 10)
    assert (outer(np.ones(3)) == 20).all()
    assert (outer(np.ones(4)) == 10).all()


@pytest.mark.parametrize("wrong", [lambda x: x[:1], lambda x: x.astype(np.float32), lambda x: (x, x), lambda x: None])
def test_results_must_be_what_was_inferred(wrong: Any, request: Any) -> None:
    op = wf.custom_op(f"test.wrong{id(wrong)}", like, reference=wrong)
    with pytest.raises(TypeError, match="as its inference function says"):
        op(X)
    for run in (wf.jit, wf.simulate):
        with pytest.raises(RuntimeError, match="as its inference function says"):
            run(lambda x: op(x))(X)
    body = wf.custom_op(f"test.wrong_body{id(wrong)}", like, body=wrong)
    with pytest.raises(wf.Error):
        wf.trace(lambda x: body(x), X)


def test_inference_refuses_while_tracing() -> None:
    def square_only(x: Any) -> Any:
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"not square: {x.shape}")
        return like(x)

    op = wf.custom_op("test.square", square_only, reference=lambda x: x * 2)
    for call in (op, wf.jit(lambda x: op(x)), lambda x: wf.trace(lambda x: op(x), x)):
        with pytest.raises(ValueError, match=r"ValueError for float64 of shape \(2, 3\): not square") as error:
            call(X)
        assert error.value.label == "custom_op_infer" and "test_custom_op.py" in str(error.value)
    text = wf.trace(lambda x: op(x), np.ones((2, 2))).stablehlo(locations=False)
    with pytest.raises(wf.Error, match=r"test\.square"):
        wf.stablehlo.parse(text.replace("2x2", "2x3"))
    with pytest.raises(wf.Error, match=r"tensor<2x2xf64>.*tensor<2x2xf32>"):
        wf.stablehlo.parse(
            text.replace("-> tensor<2x2xf64>\n", "-> tensor<2x2xf32>\n").replace(
                'return"(%0) : (tensor<2x2xf64>)', 'return"(%0) : (tensor<2x2xf32>)'
            )
        )


def test_names_are_taken_once() -> None:
    wf.custom_op("test.once", like, reference=running)
    with pytest.raises(ValueError, match=r"'test.once' exists already"):
        wf.custom_op("test.once", like, reference=running)
    for name in ("", "a b", 'a"', "1x", 3):
        with pytest.raises(ValueError, match="custom_op_name"):
            wf.custom_op(name, like, reference=running)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", [{}, {"reference": 3}, {"body": "x"}, {"native": "x"}, {"native": 0}, {"body": running, "native": tenfold}]
)
def test_an_implementation_is_needed(given: dict) -> None:
    with pytest.raises(wf.Error):
        wf.custom_op("test.none", like, **given)


def test_operands_are_not_written() -> None:
    def write(x: Any) -> Any:
        x += 1
        return x

    op = wf.custom_op("test.write", like, reference=write)
    body = wf.custom_op("test.write_body", like, body=write)
    x = X.copy()
    for call in (op, wf.jit(lambda x: op(x)), wf.simulate(lambda x: op(x)), body, wf.jit(lambda x: body(x))):
        with pytest.raises((ValueError, RuntimeError)):
            call(x)
    np.testing.assert_array_equal(x, X)


def test_results_are_arrays_of_their_own() -> None:
    op = wf.custom_op("test.same", lambda x: wf.spec(x.shape[::-1], x.dtype), reference=lambda x: x.T)

    def f(x: Any) -> Any:
        y = op(x)
        y.reshape(-1)[0] = 9
        return y

    for run in (f, wf.jit(f), wf.simulate(f)):
        x = X.copy()
        y = run(x)
        assert x[0, 0] == 0 and y[0, 0] == 9


# -- surroundings --------------------------------------------------------------------------------------------------


def test_written_arguments_and_layouts() -> None:
    op, attributes = OPS["ctypes"]

    def f(x: Any) -> None:
        x[:] = op(x, **attributes) + op(x.T, **attributes).T

    for make in (
        lambda: X.copy(),
        lambda: np.asfortranarray(X),
        lambda: np.repeat(X, 2, 1)[:, ::2],
        lambda: X[::-1].astype(">f8"),
    ):
        x, wanted = make(), make()
        f(wanted)
        wf.jit(f)(x)
        np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (2, 1, 3)])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.complex64])
def test_shapes_and_dtypes(shape: tuple, dtype: Any) -> None:
    op = wf.custom_op(
        f"test.shape{len(shape)}_{np.prod(shape)}_{np.dtype(dtype)}",
        like,
        reference=lambda x: x[..., ::-1] if x.ndim else ~x if x.dtype == bool else -x,
    )
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    wanted = op(x)
    require_equal(wf.jit(lambda x: op(x))(x), wanted)
    require_equal(wf.simulate(lambda x: op(x))(x), wanted)


def test_arrays_that_a_reference_keeps_stay_valid() -> None:
    kept = []
    op = wf.custom_op("test.keep", like, reference=lambda x: (kept.append(x), x * 2)[1])
    f = wf.jit(lambda x: op(x + 1) * 3)
    for i in range(50):
        f(np.full(5000, float(i)))
    assert [k[-1] for k in kept] == [i + 1 for i in range(50)]


def test_many_threads_call_back() -> None:
    op = wf.custom_op("test.threads", like, reference=running)
    f = wf.jit(lambda x: op(x * 2) + op(x) * 3)
    failures: list[Any] = []

    def work(number: int) -> None:
        x = np.full((20, 30), float(number))
        for _ in range(30):
            if not np.array_equal(f(x), running(x * 2) + running(x) * 3):
                failures.append(number)
        try:
            wf.custom_op("test.race", like, reference=running)
        except ValueError:
            failures.append("taken")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == ["taken"] * 5


def test_threads_trace_while_inference_waits() -> None:
    # Inference is the user's Python: other threads trace meanwhile, and so may it.
    both = threading.Barrier(2, timeout=60)

    def met(x: Any) -> Any:
        both.wait()
        wf.trace(lambda y: y + 1, wf.spec(x.shape, x.dtype))
        return like(x)

    first, second = (wf.custom_op(f"test.met.{i}", met, reference=running) for i in range(2))
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda op=op: results.append(wf.jit(lambda x: op(x))(X))) for op in (first, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    for result in results:
        np.testing.assert_array_equal(result, running(X))


def test_programs_outlive_the_name_of_the_operation() -> None:
    import gc

    def build() -> Any:
        offset = np.full(3, 7.0)
        op = wf.custom_op("test.outlive", like, reference=lambda x: x + offset)
        return wf.compile(lambda x: op(x), X)

    exe = build()
    gc.collect()
    np.testing.assert_array_equal(exe(X), X + 7)
