"""Numbers stored in arrays of integers, what must not be written, and arrays made of scalars: errors and memory as in NumPy."""

import numpy as np
import pytest

import weftwork as wf

INTEGERS = [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64]


def outcome(f, *args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        result = f(*args)
    except Exception as error:
        return type(error).__name__, [repr(a) for a in args]
    return repr(result), [repr(a) for a in args]


def require_same(f, *calls):
    jitted = wf.jit(f, strict=False)
    for args in calls:
        assert outcome(jitted, *args) == outcome(f, *args)


def put_item(q, v):
    q[0] = v


def put_all(q, v):
    q[...] = v


def put_row(q, v):
    q[1:] = [v, v]


def put_masked(q, v):
    q[q > 1] = v


def put_listed(q, v):
    q[[0, 1]] = v


def put_flat(q, v):
    q.flat = v


def put_float(q, v):
    q[0] = float(np.float64(v) * 1.0)


def put_scalar(q, v):
    q[0] = (np.zeros(1) + v)[0]


def put_computed(q, v):
    q[0] = (q * 0.0 + v).sum()


def make(q, v):
    return np.array([v, 1], q.dtype), np.asarray(v, q.dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "store", [put_item, put_all, put_row, put_masked, put_listed, put_flat, put_float, put_scalar, put_computed, make]
)
def test_numbers_that_do_not_fit_raise(store, dtype):
    q = np.array([1, 2, 3], dtype)
    values = [2.7, -0.5, -1.5, 300.5, 70000.0, 1e30, np.inf, np.nan, 3.0]
    with np.errstate(all="ignore"):
        require_same(store, *((q, v) for v in values))
        require_same(store, *((q, v) for v in (2, -1, 300, 70000, 2)))


def swap_ends(q):
    part = q.imag
    part[0], part[-1] = part[-1], part[0]


@pytest.mark.parametrize(
    "f",
    [
        lambda q: q.imag,
        lambda q: np.imag(q)[1:],
        lambda q: np.broadcast_to(q + 1, (2, *q.shape)),
        lambda q: np.diagonal(np.outer(q, q)),
        lambda q: np.lib.stride_tricks.sliding_window_view(q + 1, 2),
        lambda q: [q.imag, q.imag.copy(), np.broadcast_to(2.0, (3,))],
    ],
)
def test_results_that_numpy_protects_are_protected(f):
    q = np.arange(3.0)
    flags = lambda result: [a.flags.writeable for a in (result if isinstance(result, list) else [result])]
    jitted = wf.jit(f, strict=False)
    for _ in range(2):
        assert flags(jitted(q)) == flags(f(q))
        assert repr(jitted(q)) == repr(f(q))


def test_a_write_of_nothing_to_what_is_protected_raises():
    def write(q):
        q[2:] *= 2

    require_same(write, (np.broadcast_to(np.arange(3.0), (2, 3)),))
    fixed = np.arange(2.0)
    fixed.flags.writeable = False
    for f in (write, wf.jit(write, strict=False)):
        with pytest.raises(ValueError, match="read-only"):
            f(fixed)
    require_same(swap_ends, (np.ones((1, 3)),))


def set_flat(s):
    s.flat = 3


def set_shape(s):
    s.shape = ()


@pytest.mark.parametrize("f", [set_flat, set_shape])
def test_attributes_of_scalars_cannot_be_set(f):
    require_same(f, (np.float64(2),))
    require_same(lambda q: f(q.sum()), (np.ones(3),))


@pytest.mark.parametrize(
    "made", [lambda s: s.reshape(-1), np.ravel, np.atleast_1d, lambda s: s[None], lambda s: np.expand_dims(s, 0)]
)
def test_an_array_made_of_a_scalar_has_memory_of_its_own(made):
    def f(q):
        s = q[1]
        part = made(s)
        part[...] = -3
        return s, part

    require_same(f, (np.arange(3),), (np.arange(3.0),))


def test_an_index_with_an_ellipsis_leaves_an_array_where_python_has_the_place():
    def add(q, k):
        q[k, ...] += 1.5

    def view(q, k):
        part = q[..., k]
        part += 1
        return part

    calls = [(np.array([5, 6, 7]), k) for k in (0, 1, 2, -1)]
    require_same(add, *calls)
    require_same(view, *calls)


def test_additions_at_indices_are_computed_in_the_type_that_numpy_takes():
    def add(q):
        np.add.at(q, [0, 0], 1)

    require_same(add, *((np.array([2**63 if t is np.uint64 else 5, 7], t),) for t in (np.uint64, np.int64, np.uint8)))
    require_same(lambda q: np.ravel(q.imag).__setitem__(0, 2), (np.arange(3),))


def test_flags_that_are_numbers_decide_at_each_call():
    q = np.array([1.0, np.nan, 3.0])
    flags = [np.bool_(False), np.int64(0), np.bool_(True)]
    require_same(lambda q, flag: np.nan_to_num(q, copy=flag), *((q, flag) for flag in 2 * flags))
    require_same(lambda q, flag: q.byteswap(flag), *((q, flag) for flag in [np.int64(1), *flags, np.int64(1)]))
    convert = lambda q, flag: q.astype(float, copy=flag)
    jitted = wf.jit(convert, strict=False)
    for flag in 2 * flags:
        assert np.shares_memory(jitted(q, flag), q) == np.shares_memory(convert(q, flag), q)


@pytest.mark.parametrize(
    "f",
    [
        lambda q: np.nanargmax(q),
        lambda q: np.nanargmin(q, axis=0),
        lambda q: np.geomspace(q, 8.0, 3),
        lambda q: np.unravel_index(q.astype(int), (2, 2)),
        lambda q: np.ravel_multi_index((q.astype(int), q.astype(int)), (3, 2)),
    ],
)
def test_values_that_numpy_refuses_raise(f):
    calls = [(np.array(values),) for values in ([1.0, 1.0], [np.nan, np.nan], [0.0, 1.0], [2.0, 5.0], [-1.0, 1.0])]
    with np.errstate(all="ignore"):
        require_same(f, *calls)


@pytest.mark.parametrize(
    "f", [lambda q, p: q.view(p), lambda q, p: np.asarray(q, p), lambda q, p: q.astype(p), lambda q, p: q.fill(p)]
)
def test_arrays_are_no_dtypes_and_no_elements(f):
    require_same(f, (np.arange(3.0), np.arange(3.0)), (np.arange(3), np.float64(0.5)))


def test_indices_of_reduceat_are_one_line():
    calls = [(np.arange(4.0), index) for index in ([0, 2], [[0, 2]], np.zeros((2, 0), int))]
    for q, index in calls:
        require_same(lambda q, index=index: np.add.reduceat(q, index), (q,))
        require_same(lambda q: np.logical_and.reduceat(q, True), (q,))
