"""Values and errors at the edges of NumPy's functions, as NumPy has them on the machine at hand."""

from __future__ import annotations

import operator
import warnings

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64]
VALUES = [
    0.0,
    -0.0,
    1.5,
    -1.5,
    127.9,
    128,
    -129,
    255.5,
    256,
    300,
    -300,
    32767.5,
    65536,
    2**31 - 1,
    2**31,
    -(2**31),
    -(2**31) - 2,
]
VALUES += [
    2**32 - 1,
    2**32 + 5,
    2**53,
    2**63 - 1025,
    2**63,
    -(2**63),
    -(2**63) - 2049,
    2**64 - 2049,
    2**64,
    1e30,
    -1e30,
    np.inf,
    -np.inf,
    np.nan,
    -5,
]


@pytest.mark.parametrize("to", INTEGERS, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("of", FLOATS, ids=lambda t: np.dtype(t).name)
def test_floats_that_no_integer_of_the_type_is(of, to):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = np.array(VALUES, np.float64).astype(of)
        for given in (x, np.tile(x, 9), x[-4:].copy(), x[13:14].copy()):
            wanted = given.astype(to)
            for run in (wf.jit(lambda x: x.astype(to), strict=True), wf.simulate(lambda x: x.astype(to))):
                np.testing.assert_array_equal(run(given), wanted)


def test_uint32_of_single_floats():
    with warnings.catch_warnings():  # of many NumPy's vectors and its rest give different numbers
        warnings.simplefilter("ignore")
        for value in VALUES:
            x = np.array([value], np.float64)
            np.testing.assert_array_equal(wf.jit(lambda x: x.astype(np.uint32), strict=True)(x), x.astype(np.uint32))


@pytest.mark.parametrize("strict", [False, True])
def test_einsum_of_one_operand_is_a_view(strict):
    def f(x):
        x = x.copy()
        turned = np.einsum("ij->ji", x)
        turned[0] = 7.0
        diagonal = np.einsum("ii->i", x)
        x[1, 1] = 9.0
        np.einsum("...", x)[2, 2] = 5.0
        return x, diagonal, np.einsum("iij->ij", x[:, :, None] * np.arange(3.0)[:2])

    x = np.arange(9.0).reshape(3, 3)
    for got, wanted in zip(wf.jit(f, strict=strict)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_the_diagonal_of_einsum_may_be_written():
    def f(x):
        x = x.copy()
        np.einsum("ii->i", x)[:] = 0.0
        return x

    np.testing.assert_array_equal(wf.jit(f, strict=False)(np.ones((3, 3))), f(np.ones((3, 3))))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize(
    "f", [np.degrees, np.radians, np.rad2deg, np.deg2rad, lambda x: np.round(x, 1), lambda x: np.round(x, -400)]
)
def test_narrow_floats_are_rounded_once(f, dtype):
    x = np.linspace(-3, 3, 41).astype(dtype)
    with np.errstate(all="ignore"):
        got, wanted = wf.jit(lambda x: f(x), strict=True)(x), f(x)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


INVALID = {
    "transpose": lambda x: x.transpose(0, 5),
    "transpose twice": lambda x: x.transpose(1, -1),
    "vander": lambda x: np.vander(x[0], -3),
    "unpackbits": lambda x: np.unpackbits(x.astype(np.uint8), count=-100),
    "einsum": lambda x: np.einsum("i...->i", x),
}


@pytest.mark.parametrize("f", INVALID.values(), ids=INVALID)
def test_what_numpy_refuses_is_refused(f):
    x = np.ones((2, 3))
    with pytest.raises(ValueError) as wanted:
        f(x)
    with pytest.raises(type(wanted.value)):
        wf.jit(f, strict=False)(x)
    with pytest.raises(ValueError):
        wf.jit(f, strict=True)(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_products_of_vectors_are_as_exact_as_numpys(dtype):
    x = (np.random.default_rng(0).standard_normal(10**6) * 1e3 + 1e3).astype(dtype)
    wide = x.astype(np.longdouble)
    for f in (lambda x: x @ x, lambda x: np.linalg.norm(x), lambda x: np.einsum("i,i", x, x), lambda x: np.vdot(x, x)):
        exact = f(wide)
        assert abs(wf.jit(f, strict=True)(x) - exact) <= 4 * np.finfo(dtype).eps * abs(exact)


EDGES = [0.0, 2.0, 3.0]
OF_VALUES = {
    "histogram": lambda x, y: np.histogram(x),
    "its edges": lambda x, y: np.histogram_bin_edges(x, 3),
    "bins": lambda x, y: np.histogram(y, x),
    "in two dimensions": lambda x, y: np.histogram2d(y, x, 4),
    "a range of one": lambda x, y: np.histogram2d(x, y, 4, [None, (0, 1)]),
    "bins of one": lambda x, y: np.histogram2d(x, y, [x, 3]),
    "a range of values": lambda x, y: np.histogram(y, 3, (x[0], x[-1])),
    "many bins": lambda x, y: np.histogram(x, 2**12, (1.0, x[1])),
    "in one dimension": lambda x, y: np.histogramdd(x[:, None]),
}
SPANS = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, np.inf, 2.0], [np.nan, 1.0, 2.0], [1.0, 1.0 + 2e-15, 1.0 + 3e-15]]


def same_outcome(function, *args):
    """Whether two jitted calls give what the function gives, or raise what it raises."""
    jitted = wf.jit(function, strict=False)
    for _ in range(2):
        try:
            wanted = function(*args)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                jitted(*args)
            continue
        got = jitted(*args)
        pairs = zip(got, wanted, strict=True) if isinstance(wanted, (tuple, list)) else [(got, wanted)]
        for g, w in pairs:
            assert type(g) is type(w) and getattr(g, "dtype", None) == getattr(w, "dtype", None)
            np.testing.assert_allclose(g, w, rtol=1e-14)


@pytest.mark.parametrize("span", SPANS, ids=str)
@pytest.mark.parametrize("name", OF_VALUES)
def test_histograms_raise_for_the_values_that_numpy_refuses(name, span):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_outcome(OF_VALUES[name], np.array(span), np.array(EDGES))


def added_in_place(x):
    x += 1
    x *= np.float32(2)
    x -= np.array(1.0)
    x **= 2
    x /= np.array([1.0, 2.0])
    return x


WRITTEN = {
    "an operand": lambda x: np.multiply(x, 2, x),
    "by name": lambda x: np.multiply(x, 2, out=x),
    "two results": lambda x: np.modf(x, x, x),
    "without a copy": lambda x: np.nan_to_num(x, copy=False),
    "operators": added_in_place,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_scalars_are_written_by_operators_alone(name):
    same_outcome(WRITTEN[name], np.float64(2.5))
    same_outcome(lambda x: WRITTEN[name](x[1]), np.arange(3.0))


SWAPPED = {
    "a copy": lambda x: x.copy(),
    "a column": lambda x: x[:, 1],
    "chosen": lambda x: x[[1, 0]],
    "like it": np.zeros_like,
    "of its type": lambda x: np.ones(3, x.dtype),
    "sorted": np.sort,
    "sums": lambda x: x + 1,
    "its type": lambda x: [x.dtype.isnative],
    "its bytes": lambda x: [x.tobytes()[0]],
}


@pytest.mark.parametrize("name", SWAPPED)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_arrays_of_the_other_byte_order_give_such_arrays(name, dtype):
    jitted, function = wf.jit(SWAPPED[name], strict=False), SWAPPED[name]
    for order in "=><>=":
        x = np.arange(1, 5).reshape(2, 2).astype(f"{order}{dtype}")
        got, wanted = jitted(x), function(x)
        assert getattr(got, "dtype", None) == getattr(wanted, "dtype", None)
        np.testing.assert_array_equal(got, wanted)


OF_COMPLEX = {
    "product": lambda x: 1j * x,
    "quotient": lambda x: 1j / x,
    "sum": lambda x: 1j + x,
    "difference": lambda x: 2j - x,
    "power": lambda x: 1j**x,
    "by several": lambda x: -(1j / np.sqrt(x)) * x**2,
    "on the right": lambda x: x * 1j,
    "in place": lambda x: operator.imul(1j, x),
    "an array": lambda x: 1j * np.array([x, x]),
    "of less bits": lambda x: 1j * np.float32(x),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_pythons_complex_numbers_take_a_float64_for_a_float(name):
    function = OF_COMPLEX[name]
    same_outcome(function, np.float64(0.7))
    same_outcome(lambda x: function(x[0]), np.array([0.7]))
    same_outcome(lambda x, z: function(z * x), np.float64(0.7), 1j)


def with_real(x, value):
    x.real = value
    return x


#: Numbers that the array cannot hold: converted as elements of an array are where NumPy makes one of them, else refused.
UNFIT = {
    "pads": (lambda x: np.pad(x, 1, constant_values=-1.5), np.uint16),
    "pads of two kinds": (lambda x: np.pad(x, 1, constant_values=((0, -1.5),)), np.float32),
    "pads that a signed integer refuses": (lambda x: np.pad(x, 1, constant_values=300), np.int8),
    "the default of select": (lambda x: np.select([x > 2, x > 1], [x, x], default=-1), np.uint8),
    "a choice of select": (lambda x: np.select([x > 2], [3], default=x), np.uint8),
    "real parts": (lambda x: with_real(x, 300.5), np.uint8),
    "a list of real parts": (lambda x: with_real(x, [-1, 2, 300]), np.uint8),
    "no real parts": (lambda x: with_real(x[:0], -1), np.uint8),
    "inserted": (lambda x: np.insert(x, 1, -1), np.uint8),
    "inserted at several places": (lambda x: np.insert(x, [0, 1], 300), np.int8),
    "inserted NumPy scalars": (lambda x: np.insert(x, 1, np.int64(-1)), np.uint8),
    "inserted complex": (lambda x: np.insert(x, 1, 1j), np.float64),
}


@pytest.mark.parametrize("name", UNFIT)
@pytest.mark.parametrize("strict", [False, True])
def test_numbers_that_do_not_fit_are_converted_or_refused_as_numpy_does(name, strict):
    function, dtype = UNFIT[name]
    given = np.array([1, 2, 3], dtype)
    try:
        wanted = function(given.copy())
    except (OverflowError, TypeError) as error:
        with pytest.raises(Exception) as caught:
            wf.jit(function, strict=strict)(given.copy())
        kinds = (OverflowError, wf.errors.UnsupportedError) if strict else OverflowError
        assert isinstance(caught.value, kinds if isinstance(error, OverflowError) else TypeError)
    else:
        got = wf.jit(function, strict=strict)(given.copy())
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("last", [np.trim_zeros, lambda x: np.unique(x)[:0], lambda x: np.array_split(x, 3)[-1]])
def test_views_of_no_elements_that_python_makes_between_pieces_may_be_written(last):
    def function(x):
        return last(np.multiply.reduceat(x, [0, 2], axis=-1))

    jitted, given = wf.jit(function, strict=False), np.array([False, True, True, False])
    for _ in range(3):
        assert jitted(given).flags.writeable == function(given).flags.writeable


@pytest.mark.parametrize("name", ["sum", "max", "any", "count_nonzero", "nansum", "ptp", "squeeze"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_scalar_has_no_axes_in_a_tuple(name, strict):
    function = getattr(np, name)
    with pytest.raises(ValueError):
        wf.jit(lambda x: function(x, axis=(0,)), strict=strict)(np.array(2.5))
    assert wf.jit(lambda x: function(x, axis=0), strict=strict)(np.array(2.5)) == function(np.array(2.5), axis=0)


@pytest.mark.parametrize("x", [np.arange(6.0).reshape(2, 3), np.array(2.5)])
def test_derivatives_of_what_is_no_polynomial_raise_as_numpy_does(x):
    for m in (0, 1):
        jitted = wf.jit(lambda x, m=m: np.polyder(x, m), strict=False)
        try:
            wanted = np.polyder(x, m)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                jitted(x)
        else:
            np.testing.assert_array_equal(jitted(x), wanted)


NUMBERS = [1 + 2j, 3]


@pytest.mark.parametrize("strict", [False, True])
def test_lists_with_complex_numbers_of_pythons_make_no_floats(strict):
    x = np.array([1.0, 2.0])
    for function in (
        lambda x: np.array(NUMBERS, dtype=x.dtype) + x,
        lambda x: np.array([x[0], 1 + 2j], dtype=float),
        lambda x: np.asarray([[x[0], NUMBERS[0]]], dtype=int),
    ):
        with pytest.raises(TypeError):
            function(x)
        with pytest.raises(TypeError):
            wf.jit(function, strict=strict)(x)
    np.testing.assert_array_equal(wf.jit(lambda x: np.array(NUMBERS) + x, strict=strict)(x), np.array(NUMBERS) + x)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("b", [1 + 1e-12, 1, True, np.float64(1 + 1e-12), np.ones(3, np.float32)])
def test_isclose_compares_with_pythons_numbers_in_the_precision_of_arrays(strict, b):
    near = lambda a, b: (
        np.isclose(a, b, rtol=0, atol=0),
        np.isclose(b, a, rtol=1e-20, atol=0),
        np.allclose(a, b, 0, 0),
    )
    jitted, a = wf.jit(near, strict=strict), np.array([1, 2, np.nan], np.float32)
    for value, wanted in zip(jitted(a, b), near(a, b), strict=True):
        assert type(value) is type(wanted)
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.percentile(x, 40.0, weights=np.abs(x), method="inverted_cdf"),
        lambda x: np.nanquantile(x[None], 0.4, axis=(0, 1), weights=np.abs(x[None]), method="inverted_cdf"),
        lambda x: np.astype(x[0], np.float32),
        lambda x: np.astype(x.reshape(3)[:1].reshape(()), np.float32),
    ],
)
def test_arrays_of_no_dimensions_and_scalars_are_told_apart_as_by_numpy(function):
    x = np.array([3.0, 1.0, 2.0])
    value, wanted = wf.jit(function, strict=True)(x), function(x)
    assert type(value) is type(wanted) and value.dtype == wanted.dtype and value == wanted


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.cov(x, fweights=x[0] + 0.5),
        lambda x: np.cov(x, aweights=-x[0]),
        lambda x: np.ravel_multi_index((x[0], x[1]), (9, 9)),
        lambda x: np.ravel_multi_index(x.astype(int), (9, 0), mode="clip"),
        lambda x: np.einsum("ij->j", x, casting="same"),
        lambda x: np.einsum("ij,ij->j", x, x, dtype=np.float32),
        lambda x: np.einsum("ij,ij->j", x, x.astype(int), casting="no"),
    ],
)
def test_arguments_that_numpy_refuses_are_refused(function):
    x = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]])
    with pytest.raises((TypeError, ValueError)) as wanted:
        function(x)
    with pytest.raises(wanted.type):
        wf.jit(function, strict=False)(x)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("last", [1.1, 2, np.float32(1.1), np.float64(1.1)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_edges_of_histograms_have_the_precision_that_numpys_have(strict, last, dtype):
    function = lambda x, last: (*np.histogram(x, 3, range=(0, last)), *np.histogram2d(x, x, 3, range=((0, last),) * 2))
    x = np.array([0, 0.3, 1.1, 1.1, -0.1, 2.2, 0.55]).astype(dtype)
    for value, wanted in zip(wf.jit(function, strict=strict)(x, last), function(x, last), strict=True):
        assert value.dtype == wanted.dtype
        np.testing.assert_array_equal(value, wanted)
