"""Calls as people spell them: every parameter by position and by name, copies, orders, shapes and axes of any kind of integer,
scalars and arrays without dimensions. A traced function gives NumPy's result, of the same type, or raises a typed error."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf
from weftwork import _core
from weftwork.errors import Error
from weftwork.numpy.creation import CREATORS
from weftwork.numpy.dispatch import FUNCTIONS
from weftwork.numpy.lists import call_with_lists
from weftwork.numpy.methods import METHODS
from weftwork.numpy.tracer import Trace, as_tensor, tracing, wrap

RNG = np.random.default_rng(3)
F = RNG.normal(size=(4, 6)).astype(np.float32)
I = RNG.integers(-9, 10, (4, 6))
B = RNG.integers(0, 2, (4, 6)).astype(bool)
C = (RNG.normal(size=(4, 6)) + 1j * RNG.normal(size=(4, 6))).astype(np.complex64)
Z = np.array(2.5)
SCALARS = [
    np.float64(2.5),
    np.float32(1.5),
    np.float16(0.5),
    np.int64(3),
    np.int8(3),
    np.bool_(True),
    np.complex64(1 + 2j),
]
WITHOUT_DIMENSIONS = [Z, np.array(3), np.array(True), np.array(1 + 2j)]
CopyMode = np._CopyMode
Parameter = inspect.Parameter


def described(value: Any) -> Any:
    """What kind of object it is: arrays, scalars and Python's numbers differ."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(described, value)]
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape}"
    return f"scalar {value.dtype}" if isinstance(value, np.generic) else type(value).__name__


def equal(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        return all(map(equal, actual, wanted))
    if not isinstance(wanted, (np.ndarray, np.generic, int, float, complex)):
        return bool(actual == wanted)
    a, w = np.asarray(actual), np.asarray(wanted)
    if w.dtype.kind not in "fc":
        return bool(np.array_equal(a, w))
    bound = 64 * np.finfo(w.dtype).eps
    return bool(np.allclose(a, w, rtol=bound, atol=bound, equal_nan=True))


def outcome(function: Callable[..., Any], args: tuple) -> tuple[Any, tuple, Exception | None]:
    args = copy.deepcopy(args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), args, None
        except Exception as error:
            return None, args, error


def difference(text: str, args: tuple, may_refuse: bool = True) -> str:
    """How compiled code differs from NumPy for an expression in x, y and z; empty where it does not."""
    function = eval(f"lambda {', '.join('xyz'[: len(args)])}: {text}", {"np": np, "CopyMode": CopyMode})
    wanted, wanted_args, refused = outcome(function, args)
    result, result_args, error = outcome(wf.jit(function), args)
    label = f"{text} of {described(args)}: "
    if error is not None:
        fine = isinstance(error, Error) and (may_refuse or refused is not None)
        return (
            ""
            if fine or (refused is not None and isinstance(error, type(refused)))
            else f"{label}{error!r} for {refused!r}"
        )
    if refused is not None:
        return f"{label}no error, {refused!r} was wanted"
    same = (
        described(result) == described(wanted) and equal(result, wanted) and all(map(equal, result_args, wanted_args))
    )
    return "" if same else f"{label}{described(result)} {result} for {described(wanted)} {wanted}"


def check(texts: Any, *args: Any, may_refuse: bool = False) -> None:
    differences = [found for text in texts if (found := difference(text, args, may_refuse))]
    assert not differences, "\n".join(differences)


# -- signatures ----------------------------------------------------------------------------------------------------


def positions(signature: inspect.Signature) -> list[Parameter]:
    return [
        p
        for p in signature.parameters.values()
        if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]


def missing(theirs: inspect.Signature, ours: inspect.Signature, first: int = 0) -> list[str]:
    """Parameters of NumPy's that the traced form does not take by position, by name, or without."""
    kinds = {p.kind for p in ours.parameters.values()}
    found, own = [], positions(ours)
    for place, parameter in enumerate(positions(theirs)):
        if place < first or Parameter.VAR_POSITIONAL in kinds:
            continue
        if place >= len(own):
            found.append(f"{parameter.name} by position")
        elif parameter.kind is Parameter.POSITIONAL_OR_KEYWORD and own[place].name != parameter.name:
            found.append(f"{parameter.name} by name: it is {own[place].name}")
        elif parameter.default is not Parameter.empty and own[place].default is Parameter.empty:
            found.append(f"{parameter.name} left out")
    for parameter in theirs.parameters.values():
        known = ours.parameters.get(parameter.name)
        by_name = known is not None and known.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind is Parameter.KEYWORD_ONLY and not by_name and Parameter.VAR_KEYWORD not in kinds:
            found.append(f"{parameter.name} by name")
        if parameter.kind is Parameter.VAR_POSITIONAL and Parameter.VAR_POSITIONAL not in kinds:
            found.append("more by position")
    return found


def signature_of(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None  # of an older NumPy's compiled functions


def test_every_function_takes_the_parameters_that_numpy_takes() -> None:
    # By the forms' own names; functions that are NumPy's for like= pass on what they get.
    forms = {f"{f.__module__}.{f.__name__}": (f, form) for f, form in FUNCTIONS.items()}
    forms |= {f"numpy.{name}": (getattr(np, name), form) for name, form in CREATORS.items()}
    found = {
        name: missing(theirs, inspect.signature(form))
        for name, (function, form) in forms.items()
        if (theirs := signature_of(function))
    }
    assert not {name: what for name, what in found.items() if what}


def test_every_method_takes_the_parameters_that_numpy_takes() -> None:
    forms = {
        name: (signature_of(getattr(np.ndarray, name, None)), inspect.signature(form)) for name, form in METHODS.items()
    }
    # NumPy's own signature of view says nothing: (*args, **kwargs).
    found = {
        name: missing(theirs, ours, first=1) for name, (theirs, ours) in forms.items() if theirs and name != "view"
    }
    assert not {name: what for name, what in found.items() if what}


def test_methods_are_those_of_numpys_arrays() -> None:
    assert not [name for name in METHODS if not hasattr(np.ndarray, name)]


# -- copies and orders ---------------------------------------------------------------------------------------------

COPIED = ["np.array(x, copy={c})", "np.array(x, np.float64, copy={c})", "np.array(x, None, copy={c})", "np.asarray(x, copy={c})", "np.asarray(x, np.float32, copy={c})",
          "np.asanyarray(x, copy={c})", "np.asarray(x, dtype=np.float64, copy={c})", "x.astype(np.float64, copy={c})", "x.astype(np.float32, copy={c})",
          "np.astype(x, np.float32, copy={c})", "np.reshape(x, (6, 4), copy={c})", "x.reshape(-1, copy={c})", "np.reshape(x.T, -1, copy={c})", "np.array([x, x], copy={c})",
          "np.asarray([x, x], copy={c})", "np.array(x[0, 0], copy={c})", "np.meshgrid(x[0], x[1], copy={c})", "np.nan_to_num(x, copy={c})", "x.T.reshape(24, copy={c})",
          "np.array(x, order='F', copy={c})", "np.asarray(x, order='F', copy={c})", "np.array(x, copy={c}).fill(7)", "np.asarray(x, copy={c}).fill(7)",
          "x.astype(x.dtype, copy={c}).fill(7)", "x.reshape(-1, copy={c}).fill(7)", "np.array(x, copy={c}, ndmin=3).fill(7)"]  # fmt: skip


@pytest.mark.parametrize(
    "mode", ["True", "False", "None", "0", "1", "CopyMode.IF_NEEDED", "CopyMode.ALWAYS", "CopyMode.NEVER"]
)
def test_every_spelling_of_copy(mode: str) -> None:
    check([text.format(c=mode) for text in COPIED], F)


ORDERED = ["np.array(x, order='{o}').ravel('K')", "np.asarray(x, order='{o}').ravel('K')", "np.copy(x, '{o}').ravel('K')", "x.copy('{o}').ravel('K')",
           "x.astype(float, '{o}').ravel('K')", "x.astype(x.dtype, '{o}').ravel('K')", "np.zeros_like(x, order='{o}').ravel('K')", "np.full_like(x, x, order='{o}').ravel('K')",
           "np.array([x, x], order='{o}').ravel('K')", "x.flatten('{o}')", "x.ravel('{o}')", "np.add(x, x, order='{o}').ravel('K')", "np.sin(x, order='{o}').ravel('K')"]  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F", "A", "K", "f"])
def test_orders(order: str) -> None:
    check([text.format(o=order) for text in ORDERED], F)
    for array in (np.asfortranarray(F), F.T, F[::2], F.reshape(2, 3, 4).transpose(2, 0, 1)):
        check([text.format(o=order) for text in ORDERED], array, may_refuse=True)


# -- creation ------------------------------------------------------------------------------------------------------

CREATED = ["np.zeros(3, float, 'C')", "np.zeros((2, 3), np.int8, 'F')", "np.ones(3, int, 'C')", "np.ones((2, 3), int, 'F').ravel('K')", "np.full((2, 3), 1.5, None, 'C')",
           "np.full((2, 3), 2, np.int8, 'F')", "np.empty((2, 3), float, 'F') * 0", "np.zeros(3, None)", "np.zeros((2, 2), order='K')", "np.zeros(3, order=None)", "np.zeros(shape=3)",
           "np.zeros(shape=(2,), dtype='f4', order='C')", "np.zeros(3, device='cpu')", "np.zeros(3, device='gpu')", "np.zeros(3, like=x)", "np.ones(3, like=x)",
           "np.arange(3, like=x)", "np.eye(3, like=x)", "np.empty(3, like=x) * 0", "np.zeros(3, bogus=1)", "np.zeros('a')", "np.zeros(-1)",
           "np.zeros((2, -1))", "np.zeros(2.0)", "np.zeros(3, 'nonsense')", "np.full((2, 3), [1, 2, 3])", "np.full((2, 3), x[0, :3])", "np.full((2, 4), x[0, :3])",
           "np.zeros([2, 3])", "np.zeros(np.array([2, 3]))", "np.zeros(np.int64(3))", "np.zeros((np.int8(2), np.uint8(3)))", "np.ones(np.array(3))", "np.full(np.array([2, 3]), 1.)",
           "np.zeros([])", "np.zeros(True)", "np.zeros(None)", "np.zeros_like(x, shape=np.array([2, 3]))", "np.full_like(x, 2, np.int8, 'F')", "np.zeros_like(x, None, 'C', True, (2, 2))",
           "np.ones_like(x, int, 'F', False)", "np.zeros_like(x, order='Q')", "np.eye(2, 3, 1, int)", "np.eye(2, 3, 1, int, 'F')", "np.eye(N=2, M=3)", "np.eye(np.int64(3))",
           "np.eye(3, dtype=None)", "np.eye(2.0)", "np.eye(-1)", "np.eye(3, k=1.0)", "np.eye(3, k=-10)", "np.identity(n=2)", "np.tri(3, 4, 1, int)", "np.tri(np.int64(3), dtype=None)",
           "np.array(x, order='Z')", "np.array(x, ndmin=np.int64(3))", "np.array(object=x)", "np.asarray(x, None, 'F')", "np.asarray(x, np.float64, 'C')", "np.asarray(a=x)",
           "np.asarray(x, device='tpu')", "np.asanyarray(x, np.float64, 'F')", "np.ascontiguousarray(a=x, dtype=None)", "np.asfortranarray(x, int)", "np.require(x, np.float64, ['C'])",
           "np.require(x, requirements=['C', 'F'])", "np.array(x, like=x)", "np.array((x[0, 0], 1.0))", "np.array([x[0], x[1]], np.float64)", "np.array([x[0], x[1]], order='F')",
           "np.array([[x[0, 0], 0], [0, 1]])", "np.array([x[0], x[0, :3]])", "np.array(x, bogus=1)"]  # fmt: skip


def test_creation() -> None:
    check(CREATED, F)


RANGES = ["(0, 5, step=2)", "(3, stop=7)", "(start=1, stop=4)", "(stop=4)", "(4, step=2)", "(0, stop=5, step=2)", "(start=5)", "(1, start=0)", "()", "(1, 5, 2, float)", "(1, 5, 2, 'i1')",
          "(1, None)", "(5, None, 2)", "(None)", "(0, 5, 0)", "(5, 0, -1)", "(-3)", "(2.5)", "(0, 1, 0.1)", "(0, 1, 0.1, np.float32)", "(1, 3, 0.3, dtype=np.int64)", "(1, 3, 0.3, dtype=np.float16)",
          "(np.float32(3))", "(np.float32(0), np.float32(1), np.float32(0.1))", "(np.int8(5))", "(np.int8(1), np.int8(5))", "(np.uint64(5))", "(True)", "(2, dtype=bool)", "(3, dtype=bool)",
          "(0, 4, dtype=complex)", "(3j)", "(300, dtype=np.uint8)", "(0, 300, 100, dtype=np.int8)", "(3, dtype=np.float16)", "(10, 0, -3, dtype=np.float32)", "('a')", "(3, device='x')",
          "(3, bogus=1)", "(len(x), 0, -1)", "(np.array(3))", "(2**63, 2**63 + 2)", "(2**53, 2**53 + 5, dtype=float)", "(2**24, 2**24 + 5, dtype=np.float32)", "(0, 2**63 - 1, 2**61)",
          "(np.nan)", "(0, np.inf)", "(-0.0, 2)", "(0, 5, np.float64(2))", "(0, 5, step=np.int64(2))", "(0.5, 5, dtype=int)", "(1.5, 4, 0.7)", "(np.int16(3), 7)",
          "(start=2, stop=10, step=3, dtype=float)", "(3, dtype='M8[D]')", "(1, 5, step=None)"]  # fmt: skip


def test_ranges() -> None:
    check(
        [f"np.arange{spelled}" for spelled in RANGES]
        + ["np.arange(0, 1, 0.25) * x[0, :4]", "np.arange(5.0).fill(x[0, 0])"],
        F,
    )


# -- integers of all kinds -----------------------------------------------------------------------------------------

SHAPES = ["np.reshape(x, np.array([2, -1]))", "x.reshape(np.int64(3), -1)", "x.reshape(np.array([2, 12]))", "x.reshape([2, 12])", "x.reshape((2, 12))", "x.reshape(24.0)", "x.reshape('a')",
          "x.reshape(None)", "np.reshape(x, shape=(2, 12))", "np.broadcast_to(x, np.array([2, 4, 6]))", "np.broadcast_to(x[0, 0], np.int64(3))", "np.broadcast_to(x, shape=[1, 4, 6])",
          "np.tile(x, np.array([2, 1]))", "np.tile(x, np.int64(2))", "np.repeat(x, np.int64(2))", "np.repeat(x, np.array([2]))", "np.repeat(x, np.array([1, 2, 0, 1]), axis=np.int64(0))",
          "np.resize(x, np.array([2, 3]))", "np.moveaxis(x, np.array([0, 1]), np.array([1, 0]))", "np.swapaxes(x, np.int64(0), 0.0)", "np.transpose(x, np.array([1, 0]))",
          "x.transpose(np.array([1, 0]))", "x.transpose(np.int64(1), np.int64(0))", "np.expand_dims(x, axis=(0, np.int64(2)))", "np.squeeze(x[None], (np.int64(0),))", "np.squeeze(x[None], [0])",
          "np.roll(x, np.array([1, 2]), (0, 1))", "np.roll(x, [1, 2], 0)", "np.roll(x, 1, np.array([0, 1]))", "np.rot90(x, np.int64(1), np.array([1, 0]))", "np.array_split(x, np.array(3))",
          "np.array_split(x, 3.0)", "np.pad(x, np.array([1, 2]))", "np.pad(x, 1, constant_values=x[0, 0])", "np.pad(x, -1)", "np.pad(x, 1, bogus=1)", "np.diff(x, np.int64(2))", "np.diff(x, -1)",
          "x.sum((np.int64(0), 1))", "x.mean(axis=np.array(1))", "x.sum([0])", "x.sum(axis=True)", "np.median(x, np.array([0]))", "np.flip(x, np.array([0]))", "np.size(x, (0, 1))", "np.gradient(x, axis=[0])",
          "np.round(x, np.int64(2))", "np.unravel_index(np.argmax(x), np.array([4, 6]))", "np.fft.fftn(x, np.array([4, 4]))", "np.linalg.norm(x, axis=[0, 1])", "np.tensordot(x, x.T, axes=np.int64(1))",
          "np.lib.stride_tricks.sliding_window_view(x, np.array([2, 3]))", "np.lib.stride_tricks.sliding_window_view(x, np.int64(3), np.int64(1))", "np.clip(x, 0)", "np.clip(x, 0, 1, min=0)",
          "np.clip(x, max=1)", "np.sort(x, kind='x')", "np.isin(x, [1], kind='x')", "np.concatenate([x, x], casting='bogus')", "x.put(indices=[0], values=7, mode='clip')"]  # fmt: skip


def test_shapes_and_axes_of_any_kind_of_integer() -> None:
    check(SHAPES, F)


INDICES_WITHOUT_ELEMENTS = [
    "np.take(x, {})",
    "np.take(x, {}, 1)",
    "x.take({}, 0)",
    "x[{},]",
    "x[:, {}]",
    "np.put(x, {}, 1)",
    "np.delete(x, {}, 0)",
    "np.insert(x, {}, 3, 1)",
]


@pytest.mark.parametrize(
    "index", ["[]", "()", "range(0)", "[[]]", "np.zeros(0)", "np.zeros((0, 2), int)", "np.zeros(1)"]
)
def test_indices_without_elements(index: str) -> None:
    check([text.format(index) for text in INDICES_WITHOUT_ELEMENTS], F)


# -- scalars, arrays without dimensions, arrays --------------------------------------------------------------------

TYPED = ["sum", "prod", "max", "min", "mean", "std", "var", "median", "any", "all", "argmax", "argmin", "ptp", "average", "nansum", "nanprod",
         "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", "nanmedian", "count_nonzero", "cumsum", "cumprod", "sort", "argsort", "round", "around",
         "fix", "nan_to_num", "copy", "squeeze", "ravel", "imag", "angle", "isreal", "iscomplex", "sinc", "i0", "diff", "ediff1d",
         "atleast_1d", "transpose", "zeros_like", "shape", "ndim", "size", "isscalar", "real_if_close", "cov", "tril", "diag", "array", "asarray",
         "ascontiguousarray", "block", "conj"]  # fmt: skip
TYPED_CALLS = [f"np.{name}(x)" for name in TYPED] + [
    "np.percentile(x, 50)", "np.quantile(x, np.array(0.5))", "np.quantile(x, [0.5])", "np.clip(x, 0, 1)", "np.where(x > 0, x, 0)", "np.isclose(x, 1)", "np.take(x, 0)", "np.tensordot(x, x, 0)",
    "np.reshape(x, (1, -1))", "np.reshape(x, ())", "np.sum(x, ())", "np.mean(x, ())", "np.expand_dims(x, 0)", "x.sum()", "x.mean()", "x.argmax()", "x.round()", "x.copy()",
    "x.squeeze()", "x.ravel()", "x.flatten()", "x.transpose()", "x.byteswap()", "x.astype(np.float32)", "x.reshape(())", "x.T", "x.imag", "x.repeat(2)", "x[()]", "x[...]", "x[None]",
    "round(x, 1)", "round(x, ndigits=2)", "round(x, -1)", "abs(x)", "x + 1", "np.modf(x)", "x == x", "np.sin(x)", "np.add(x, 1)", "np.float64(1) * x", "np.broadcast_to(x, x.shape)",
]  # fmt: skip


@pytest.mark.parametrize("value", [F, I, *SCALARS, *WITHOUT_DIMENSIONS], ids=described)
def test_results_are_scalars_where_numpys_are(value: Any) -> None:
    if value.ndim > 1 and value.dtype.kind == "i":
        check([text for text in TYPED_CALLS if "argsort" not in text], value, may_refuse=True)  # of equal elements
    else:
        check(TYPED_CALLS, value, may_refuse=True)


@pytest.mark.parametrize("value", [F, *SCALARS, *WITHOUT_DIMENSIONS], ids=described)
def test_what_comes_back_as_it_was_given_is_of_its_kind(value: Any) -> None:
    check(["x", "x.real", "np.real(x)", "x.conj()", "x.view()", "x.T"], value, may_refuse=True)


def test_reductions_of_selections_are_scalars() -> None:
    names = ("mean", "median", "std", "var", "sum", "prod", "nanmean", "nanmedian", "any", "count_nonzero", "average")
    texts = [f"np.{name}(x[x > 0])" for name in names] + [
        "np.percentile(x[x > 0], 50)",
        "np.quantile(x[x > 0], [0.1, 0.2])",
        "x[x > 0].clip(0, 1).sum()",
    ]
    for value in (F, np.array([1.0, 7.0, -8.0])):
        check(texts, value)


def test_one_truth_value_as_an_index() -> None:
    read = ["x[True]", "x[False]", "x[np.True_]", "x[None, True]", "x[..., True]"]
    sums = ["np.sum(x[x > 5])", "np.mean(x[~(x > 5)])", "x[x > 0].sum()", "np.median(x[x > 0])"]
    written = [
        "[x.__setitem__(x > 5, 1), x][1]",
        "[x.__setitem__(True, 3), x][1]",
        "[x.__setitem__(x > 5, x[x > 5] + 1), x][1]",
        "[x.__setitem__((), 3), x][1]",
    ]
    for value in (np.array(7.0), np.array(3.0), np.array(7, np.int32)):
        check(read + sums + written, value)
    check(read + sums, np.float64(7))
    check([*read, "[x.__setitem__(True, 3), x][1]", "[x.__setitem__((Ellipsis, True), 3), x][1]"], F)
    check(["x[x > 5]"], Z, may_refuse=True)


# -- what cannot be compiled raises a typed error ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["x.view([('', x.dtype)] * 2)", "x.view('f4,f4')", "x.view('S4')", "x.view('V4')", "x.view('>f4')", "x.view('M8[s]')", "x.view('(2,)f2')", "x.view(object)",
                                  "np.lib.stride_tricks.sliding_window_view(x, (2, 2), writeable=True)", "np.hypot(x, x, axis=3)"])  # fmt: skip
def test_other_views_are_refused(text: str) -> None:
    assert not difference(text, (F,))
    with pytest.raises((Error, TypeError)):
        wf.trace(eval(f"lambda x: {text}", {"np": np}), F)


def test_views_of_numbers() -> None:
    check(
        [
            "x.view()",
            "x.view(None)",
            "x.view(np.int32)",
            "x.view(dtype='u1')",
            "x.view(np.float32)",
            "x.view('f4').fill(2)",
            "x.view(np.complex64)",
        ],
        F,
    )


def test_a_ufunc_of_another_package_is_called_by_its_name() -> None:
    other = np._core.umath.clip  # NumPy's own of this name is no ufunc
    with pytest.raises(Error, match=r"^the ufunc clip cannot be compiled"):
        wf.trace(lambda x: other(x, 0, 1), F)


# -- lists ---------------------------------------------------------------------------------------------------------


def recorded(function: Callable[..., Any], array: np.ndarray) -> Any:
    """The function's array result, recorded and interpreted."""
    with tracing(Trace("lists")):
        parameter = _core.parameter(array.shape, array.dtype, "x")
        result = as_tensor(function(wrap(parameter)))
    return _core.record_graph("main", [(parameter, "x", -1)], [(result, "y", -1)]).interpret([array])[0]


CALLS: list[tuple[Any, Callable[[Any], tuple]]] = [
    (np.cos, lambda x: ([x[0], x[1]],)), (np.add, lambda x: ([x[0, 0], 1], (2, x[0, 1]))), (np.add.reduce, lambda x: ([x[0], x[1]],)), (np.multiply.outer, lambda x: ([x[0, 0], 1], (x[0, 1], 2))),
    (np.stack, lambda x: ([x[0], x[1]],)), (np.sum, lambda x: ([x[0, 0], 1.0],)), (np.sum, lambda x: ([x[0], [1, 2, 3, 4, 5, 6]],)), (np.max, lambda x: ((x[0, 0], x[0, 1], 0),)),
    (np.dot, lambda x: ([x[0, 0], 1, 2, 3], x)), (np.dot, lambda x: (x, [x[0, 0], 1, 2, 3, 4, 5])), (np.mean, lambda x: ([[x[0, 0], 0], [0, 1]],)), (np.concatenate, lambda x: ([[x[0, 0], 1], [2, x[0, 1]]],)),
    (np.block, lambda x: ([[x, x], [x, x]],)), (np.where, lambda x: ([x[0, 0] > 0, True], [1, 2], [x[0, 0], 5])), (np.linalg.solve, lambda x: ([[x[0, 0], 1], [2, x[0, 1]]], [x[0, 0], 1])),
    (np.select, lambda x: ([[x[0, 0] > 0, True]], [[x[0, 0], 1]], [7, x[0, 1]])), (np.choose, lambda x: ([0, 1], [[x[0, 0], 1], [2, 3]])), (np.einsum, lambda x: ("i,i->", [x[0, 0], 1], [1, x[0, 1]])),
    (np.interp, lambda x: ([x[0, 0], 0.5], [0, 1], [x[0, 0], 1])), (np.searchsorted, lambda x: ([0, 1, 2], [x[0, 0], 1])), (np.append, lambda x: ([x[0, 0], 1], [2])), (np.cov, lambda x: ([x[0], x[1]],)),
    (np.linalg.multi_dot, lambda x: ([[x[0, :2], x[1, :2]], [x[2, :2], x[3, :2]]],)), (np.tile, lambda x: ([x[0, 0], 1], (2, 1))), (np.lexsort, lambda x: ([x[0], x[1]],)), (np.sum, lambda x: ([1, 2],)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=[f.__name__ for f, _ in CALLS])
@pytest.mark.parametrize("array", [F, (F * 5).astype(np.int8), F.astype(np.float16)], ids=described)
def test_functions_of_lists(function: Any, arguments: Callable[[Any], tuple], array: np.ndarray) -> None:
    if array.dtype.itemsize < 4 and function in (np.linalg.solve, np.interp):
        return
    wanted = np.asarray(function(*arguments(array)))
    found = recorded(lambda x: call_with_lists(function, arguments(x), {}), array)
    assert described(found) == described(wanted)
    for result in (found, wf.jit(lambda x: function(*arguments(x)))(array)):
        np.testing.assert_allclose(result, wanted, rtol=1e-2 if array.dtype == np.float16 else 1e-5, atol=1e-6)


def test_lists_by_name_and_ragged_ones() -> None:
    found = recorded(lambda x: call_with_lists(np.mean, (), {"a": [x[0, 0], 0], "axis": 0}), F)
    np.testing.assert_allclose(found, np.mean([F[0, 0], 0]))
    with pytest.raises(Error, match="same shape"):
        recorded(lambda x: call_with_lists(np.sum, ([x[0], x[0, :3]],), {}), F)
