"""Arrays that lie in memory in another order than by rows: programs read them as they lie, and results lie as NumPy's do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weftwork as wf

SHAPES = [(3, 4), (40, 17), (2, 3, 5), (1, 4, 3), (4, 1, 3), (3, 2, 1), (2, 3, 4, 5)]
ORDERS = [(shape, axes) for shape in SHAPES for axes in itertools.permutations(range(len(shape)))]


def lying(shape: tuple[int, ...], axes: tuple[int, ...], first: float = 0.5) -> np.ndarray:
    """Numbers in an array whose axes lie in memory in this order, from the outermost."""
    stored = np.arange(first, first + np.prod(shape)).reshape([shape[axis] for axis in axes])
    return stored.transpose(np.argsort(axes))


def long_strides(array: np.ndarray) -> list[int]:
    return [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]


def agree(function, *args: np.ndarray, **options: object) -> None:
    """Asserts that values, order in memory and what is written are NumPy's, at two calls."""
    jitted = wf.jit(function, **options)
    for _ in range(2):
        theirs = [array.copy(order="K") for array in args]
        wanted, found = function(*theirs), jitted(*args)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert long_strides(found) == long_strides(wanted)
        for array, other in zip(args, theirs, strict=True):
            np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize(("shape", "axes"), ORDERS)
def test_an_element_wise_result_lies_as_its_operands(shape, axes):
    x, y = lying(shape, axes), lying(shape, axes, 3.0)
    agree(lambda x, y: np.exp(-x) * y + 2, x, y)


@pytest.mark.parametrize(("shape", "axes"), ORDERS[::5])
def test_operands_in_two_orders(shape, axes):
    x, y, last = lying(shape, axes), lying(shape, tuple(range(len(shape)))), lying(shape[-1:], (0,))
    agree(lambda x, y: x * y, x, y)
    agree(lambda x, y: y.T - x.T, x, y)
    agree(lambda x, last: np.where(x > last, x, last), x, last)
    agree(lambda x, last: np.clip(x.astype(np.float32) + last, 1, 9), x, last)


@pytest.mark.parametrize(("shape", "axes"), ORDERS[::7])
def test_what_is_computed_across_axes(shape, axes):
    x = lying(shape, axes)

    def across(x):
        return x.sum(0), x.mean(-1), np.sort(x, 0), np.cumsum(x, -1), x.ravel(), x.ravel("K"), np.inner(x, x)

    for found, wanted in zip(wf.jit(across)(x), across(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_functions_that_say_the_order():
    x = lying((5, 4), (1, 0))
    agree(lambda x: x.copy(), x)
    agree(lambda x: x.copy("K"), x)
    agree(lambda x: np.copy(x), x)
    agree(lambda x: np.ascontiguousarray(x * 2), x)
    agree(lambda x: np.asfortranarray(np.ascontiguousarray(x) + 1), x)
    agree(lambda x: np.zeros((4, 3), order="F") + x[:4, :3], x)


@pytest.mark.parametrize("strict", [True, False])
def test_writes_land_in_the_argument(strict):
    x = lying((6, 4), (1, 0))

    def change(x):
        x[1:] += 1
        x[0] = x[2] * 2
        return x.sum(1)

    agree(change, x, strict=strict)
    given = lying((6, 4), (1, 0))
    same = wf.jit(lambda x: x, strict=strict)
    assert same(given) is given
    assert np.shares_memory(wf.jit(lambda x: x.T, strict=strict)(given), given)

    def changed(x):
        x *= 2
        return x

    assert wf.jit(changed, strict=strict)(given) is given


def test_one_order_one_program():
    jitted = wf.jit(lambda x: x * 2)
    rows, columns = lying((3, 4), (0, 1)), lying((3, 4), (1, 0))
    for x in (rows, columns, rows, columns):
        np.testing.assert_array_equal(jitted(x), x * 2)
    assert len(jitted.executables) == 2
    np.testing.assert_array_equal(jitted(columns[::-1]), columns[::-1] * 2)


def test_extents_that_vary():
    jitted = wf.jit(lambda x, y: x * y.sum(0) + 1, dynamic={"x": {0: wf.Dim("n", 1, 1, 64)}})
    for n in (5, 1, 7):
        x, y = lying((n, 4), (1, 0)), lying((3, 4), (1, 0))
        np.testing.assert_allclose(jitted(x, y), x * y.sum(0) + 1)


def test_one_array_twice_and_arrays_that_share_memory():
    x = lying((5, 4), (1, 0))
    agree(lambda x, y: x + y, x, x)

    def shift(x, y):
        x[...] = y * 2
        return y

    memory = np.arange(24.0)
    ours, theirs = memory.copy(), memory.copy()
    parts = lambda m: (m[:20].reshape(5, 4).T, m[4:].reshape(5, 4).T)
    np.testing.assert_array_equal(wf.jit(shift, strict=False)(*parts(ours)), shift(*parts(theirs)))
    np.testing.assert_array_equal(ours, theirs)


def test_pieces_and_the_interpreter():
    def steps(x):
        y = x * 2
        if float(y.sum()) > 0:
            y = y + x
        x[0] = 1
        return y - 1

    agree(steps, lying((6, 4), (1, 0)), strict=False)
    x, y = lying((6, 4), (1, 0)), lying((6, 4), (1, 0))

    def doubled(x):
        x *= 2
        return x + 1

    np.testing.assert_array_equal(wf.simulate(doubled)(x), doubled(y))
    np.testing.assert_array_equal(x, y)


def test_donated_memory():
    jitted = wf.jit(lambda x: x * 2 + 1, donate_argnames="x")
    x = lying((6, 4), (1, 0))
    wanted, place = x * 2 + 1, x.ctypes.data
    found = jitted(x)
    np.testing.assert_array_equal(found, wanted)
    assert found.ctypes.data == place


def test_loops_keep_the_order():
    def decayed(x, n):
        for _ in range(n):
            x = x * 0.5 + 1
        return x

    agree(lambda x: decayed(x, 3), lying((6, 5), (1, 0)))
    agree(lambda x: decayed(x, 20), lying((6, 5), (1, 0)))


def test_a_loop_that_changes_the_order_does_not_tell_what_a_reshape_is():
    def turned(x, n):
        for _ in range(n):
            x = x.T * 0.5 + 1
        x.reshape(-1)[0] = 5
        return x

    x = lying((4, 4), (1, 0))
    for n in (20, 21):
        np.testing.assert_array_equal(wf.jit(turned, strict=False)(x, n), turned(x, n))
    with pytest.raises(NotImplementedError, match=r"x.reshape\(-1\)\[0\] = 5"):
        wf.jit(turned, strict=True)(x, 20)


def orders(a: np.ndarray) -> list[np.ndarray]:
    """An array in several orders of memory."""
    wide = np.zeros([2 * n for n in a.shape])
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return [a, np.asfortranarray(a), wide[tuple(slice(None, None, 2) for _ in a.shape)], a[::-1]]


SQUARE, STACK = np.random.default_rng(3).normal(size=(4, 4)), np.random.default_rng(4).normal(size=(2, 4, 4))
BY_ROWS = {
    "dot": (lambda a, b: np.dot(a, b), SQUARE, SQUARE), "method dot": (lambda a, b: a.dot(b), STACK, SQUARE),
    "inner": (lambda a, b: np.inner(a, b), STACK, SQUARE), "outer": (lambda a, b: np.outer(a, b), SQUARE, SQUARE),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), STACK, SQUARE), "kron": (lambda a, b: np.kron(a, b), SQUARE, SQUARE),
    "take": (lambda a, b: np.take(a, [0, 1], 1), STACK, SQUARE), "repeat": (lambda a, b: a.repeat(2, 1), STACK, SQUARE),
    "argsort": (lambda a, b: np.argsort(a, 0), STACK, SQUARE), "cov": (lambda a, b: np.cov(a), SQUARE, SQUARE),
    "inv": (lambda a, b: np.linalg.inv(a), STACK, SQUARE), "solve": (lambda a, b: np.linalg.solve(a, b), SQUARE, SQUARE),
    "eigh": (lambda a, b: np.linalg.eigh(a)[0], STACK, SQUARE), "svd": (lambda a, b: np.linalg.svd(a)[1], STACK, SQUARE),
    "pinv": (lambda a, b: np.linalg.pinv(a), STACK, SQUARE), "multi_dot": (lambda a, b: np.linalg.multi_dot([a, b]), SQUARE, SQUARE),
    "cholesky": (lambda a, b: np.linalg.cholesky(a @ a.T + 9 * np.eye(4)), SQUARE, SQUARE),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ROWS)
def test_results_in_row_major_order_whatever_the_operands_have(name):
    function, *given = BY_ROWS[name]

    def used(a, b):
        result = function(a, b)
        flat = result.reshape(-1)
        flat[0] = 7  # which the result shows
        return result, result.flags.c_contiguous, result.T.ravel()

    for a in orders(given[0]):
        for b in orders(given[1]):
            wanted, found = used(a, b), wf.jit(used)(a, b)
            assert found[1] is wanted[1] is True and found[0].strides == wanted[0].strides
            np.testing.assert_allclose(found[0], wanted[0], atol=1e-10)
            np.testing.assert_allclose(found[2], wanted[2], atol=1e-10)
