"""Python's for statements in traced functions: kept as one loop where they can be, the same numbers always."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from test_numpy import close

import weftwork as wf

RNG = np.random.default_rng(5)


def total(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i]
    return s


def recurrence(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * 0.5 + x[i]


def backwards(x):
    for i in range(x.shape[0] - 2, -1, -1):
        x[i] = x[i] + x[i + 1] * 0.5
    return x


def strided(x):
    s = 0.0
    for i in range(2, 90, 3):
        s += x[i] * i
    return s


def heat(u):
    for _ in range(50):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def heat_by_copies(u):
    for _ in range(50):
        new = u.copy()
        new[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u = new
    return u


def triangular(a):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j] = 0.0
    return a


def escape_times(c):
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for i in range(50):
        inside = np.abs(z) < 2
        z = np.where(inside, z * z + c, z)
        n[inside] = i
    return n


def subsequence(a, b):
    n, m = a.shape[0], b.shape[0]
    table = np.zeros((n + 1, m + 1), np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = np.where(
                a[i - 1] == b[j - 1], table[i - 1, j - 1] + 1, np.maximum(table[i - 1, j], table[i, j - 1])
            )
    return table


def fibonacci(x):
    a, b = 0, 1
    for _ in range(30):
        a, b = b, a + b
    return x + a


def rows(x):
    t = np.zeros(x.shape[1])
    for r in x:
        t += r * r
    return t


def last_values(x):
    for i in range(20):
        y = x[i] * 2
    return y + i


def even_steps(x):
    k, y = 0, np.zeros(40)
    for i in range(20):
        y[k] = x[i]
        k += 2
    return y, x[0] + k


def negative_start(x):
    s = np.zeros(3)
    for i in range(-10, 10):
        s = s + x[i] * i
    return s


def from_the_end(x):
    s = 0.0
    for i in range(15):
        s = s + x[i - 1]
    return s


def swapped(x, y):
    for _ in range(11):
        x, y = y, x
    return x - 2 * y


def views_inside(x):
    for i in range(x.shape[0]):
        row = x[i]
        row += i
        row[1:] *= 2
    return x


def powers(x):
    y = np.ones_like(x)
    for i in range(12):
        y = y * x / (i + 1) + i**2 - 2.0**i
    return y


def float_state(x):
    t, dt = 0.0, 0.1
    for _ in range(40):
        x = x + dt * np.sin(t)
        t = t + dt
    return x, x[0] * t


def growing_slices(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[: i + 1].max() - x[i:].min()
    return out


def loop_of_loops(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def helper(x, i):
    return x[i] * x[i - 1]


def through_helper(x):
    s = 0.0
    for i in range(1, 30):
        s = s + helper(x, i)
    return s


V = RNG.normal(size=100)
KEPT: list[tuple[Any, tuple]] = [
    (total, (V,)), (total, (V.astype(np.float32),)), (recurrence, (V,)), (backwards, (V,)), (strided, (V,)),
    (heat, (RNG.normal(size=(20, 30)),)), (heat_by_copies, (RNG.normal(size=(20, 30)),)),
    (triangular, (RNG.normal(size=(40, 40)) + 40 * np.eye(40),)), (cholesky, (np.cov(RNG.normal(size=(24, 60))) + 9 * np.eye(24),)),
    (escape_times, (RNG.normal(size=(10, 12)) + 1j * RNG.normal(size=(10, 12)),)),
    (subsequence, (RNG.integers(0, 4, 30), RNG.integers(0, 4, 25))), (fibonacci, (np.arange(3),)), (rows, (RNG.normal(size=(30, 5)),)),
    (last_values, (V,)), (even_steps, (V,)), (negative_start, (RNG.normal(size=(40, 3)),)), (from_the_end, (V[:15],)),
    (swapped, (V, V + 1)), (views_inside, (RNG.normal(size=(20, 6)),)), (powers, (RNG.normal(size=4),)), (float_state, (V,)),
    (growing_slices, (V[:40],)), (loop_of_loops, (RNG.normal(size=(9, 10)), RNG.normal(size=(10, 11)))), (through_helper, (V,)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_loop_is_kept_and_gives_numpys_numbers(number: int) -> None:
    function, args = KEPT[number]
    wanted_args, jit_args, simulated_args = (copy.deepcopy(args) for _ in range(3))
    wanted = function(*wanted_args)
    result, simulated = wf.jit(function)(*jit_args), wf.simulate(function)(*simulated_args)
    if wanted is not None:
        close(result, wanted)
        close(simulated, wanted)
    for a, b, c in zip(wanted_args, jit_args, simulated_args, strict=True):
        close(b, a)
        close(c, a)
    names = wf.trace(function, *copy.deepcopy(args)).core.op_names
    assert "for" in names
    assert len(names) < 40


def test_the_graph_does_not_grow_with_the_trip_count() -> None:
    sizes = {n: len(wf.trace(total, np.zeros(n)).core.op_names) for n in (20, 200, 100_000)}
    assert len(set(sizes.values())) == 1


def keeps_a_list(x):
    found = []
    for i in range(12):
        found.append(x[i] * i)
    return np.stack(found)


def asks_the_counter(x):
    s = np.zeros(3)
    for i in range(12):
        if i % 2 == 0:
            s = s + x[i]
    return s


def leaves_early(x):
    s = 0.0
    for i in range(20):
        if i == 7:
            break
        s = s + x[i]
    return s


def comprehension(x):
    return sum([x[i] * i for i in range(12)]) + sum(x[i] for i in range(10))


def zipped(x):
    s = 0.0
    for i, j in zip(range(12), range(5, 17)):
        s = s + x[i] * j
    for i, v in enumerate(range(3, 15)):
        s = s + x[i] * v
    return s


@pytest.mark.parametrize("function", [keeps_a_list, asks_the_counter, leaves_early, comprehension, zipped])
def test_what_cannot_be_kept_is_written_out(function: Any) -> None:
    x = RNG.normal(size=(20, 3)) if function is asks_the_counter else V
    close(wf.jit(function)(x), function(x))


def test_a_forced_loop_says_why_it_cannot_be_kept() -> None:
    def f(x):
        found = []
        for i in wf.range(12):
            found.append(x[i] * len(found))
        return np.stack(found)

    with pytest.raises(wf.Error, match="'found' is changed in each turn"):
        wf.jit(f)(V)


def test_range_is_pythons_own_outside_of_traces_and_where_it_is_no_loop() -> None:
    def f(x):
        numbers = range(3, 30, 2)
        assert (
            isinstance(numbers, range)
            and len(numbers) == 14
            and 5 in numbers
            and numbers[1] == 5
            and list(numbers)[-1] == 29
        )
        assert next(reversed(numbers)) == 29
        return x * numbers[-1]

    close(wf.jit(f)(V), V * 29)
    assert type(range(3)) is type(wf.range(3))
    assert isinstance(range(3), range)


def test_symbolic_trip_counts() -> None:
    @wf.jit(dynamic={"x": {0: wf.Dim("n", 1, 16, 200)}})
    def f(x):
        s = np.zeros(2)
        for i in range(x.shape[0]):
            s = s * 0.5 + x[i]
        return s

    for n in (1, 2, 17, 200):
        x = RNG.normal(size=(n, 2))
        close(f(x), f.__wrapped__(x))
    assert f.plan_count == 1


def test_rolled_and_unrolled_give_the_same_numbers() -> None:
    def rolled(x):
        for i in wf.range(6):
            x = np.tanh(x * 1.1 + i)
        return x

    def unrolled(x):
        for i in (0, 1, 2, 3, 4, 5):
            x = np.tanh(x * 1.1 + i)
        return x

    assert wf.jit(rolled)(V).tobytes() == wf.jit(unrolled)(V).tobytes()


@pytest.mark.parametrize(
    "function", [total, recurrence, backwards, heat, subsequence, loop_of_loops, negative_start, float_state]
)
def test_flat_text_of_a_loop_is_stablehlo(function: Any) -> None:
    from test_stablehlo import parsed_by_jaxlib, run_by_xla

    args = next(args for each, args in KEPT if each is function)
    graph = wf.trace(function, *copy.deepcopy(args))
    text = graph.stablehlo()
    assert "stablehlo.while" in text
    assert "weft.for" not in text
    parsed_by_jaxlib(text)
    wanted = graph.core.interpret(list(args))
    for got, again, expected in zip(
        run_by_xla(graph, list(args)), wf.stablehlo.parse(text).core.interpret(list(args)), wanted, strict=True
    ):
        close(again, expected)
        close(got.astype(expected.dtype), expected)


def self_energies(neighbours, dH, G, D, sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for a in range(neighbours.shape[0]):
                        for b in range(neighbours.shape[1]):
                            if E - w >= 0:
                                sigma[k, E, a] += G[k, E - w, neighbours[a, b]] @ dH[a, b] * D[q, w, a, b]
    return sigma


def test_nests_of_short_loops_are_written_out_only_where_they_are_few_turns() -> None:
    k, energies, q, w, atoms, near, n = 4, 6, 4, 3, 20, 4, 3
    neighbours = RNG.integers(0, atoms, (atoms, near))
    shapes = [(atoms, near, n, n), (k, energies, atoms, n, n), (q, w, atoms, near), (k, energies, atoms, n, n)]
    arrays = [RNG.standard_normal(shape) for shape in shapes]
    graph = wf.trace(self_energies, neighbours, *arrays)
    assert str(graph).count("\n") < 10_000  # 23,040 turns; only the loop whose counter decides is written out
    wanted = self_energies(neighbours, *copy.deepcopy(arrays))
    np.testing.assert_allclose(wf.compile(graph)(neighbours, *copy.deepcopy(arrays)), wanted, rtol=1e-12, atol=1e-12)


def test_what_is_the_same_in_all_turns_is_computed_once() -> None:
    def fitted(x: Any, y: Any) -> Any:
        w = np.zeros(x.shape[1])
        for _ in range(30):
            w = w - 0.1 * x.T @ (1 / (1 + np.exp(-x @ w)) - y) / len(y)
        return w

    def nested(x: Any, y: Any) -> Any:
        total = np.zeros(x.shape[1])
        for i in range(12):
            row = x[i] * 2
            for j in range(10):
                total = total + (np.exp(x).sum(axis=0) + row) * y[j] + np.cumsum(row)
        return total

    def none(x: Any, y: Any) -> Any:
        total = y
        for i in range(12, 12):
            total = total + np.linalg.norm(x[:, i]) * y
        return total

    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((50, 7)), rng.random(50)
    for function in (fitted, nested, none):
        compiled = wf.compile(function, x, y)
        np.testing.assert_allclose(compiled(x, y), function(x, y), rtol=1e-12)


def test_variables_of_a_turn_may_have_shapes_that_follow_the_counter() -> None:
    def forces(x: Any) -> Any:
        force, energy = np.zeros_like(x), 0.0
        for i in range(len(x) - 1):
            away = x[i] - x[i + 1 :]
            weight = 1 / ((away * away).sum(1) + 0.1)
            pull = weight[:, None] * away
            force[i] += pull.sum(0)
            force[i + 1 :] -= pull
            energy += weight.sum()
        return force, energy

    def read_later(x: Any) -> Any:
        for i in range(len(x) - 1):
            away = x[i] - x[i + 1 :]
            x = x + away.sum(0) * 1e-3
        return away, x

    x = np.random.default_rng(8).standard_normal((30, 3))

    def selected(x: Any) -> Any:
        for k in range(20):
            part = x[x > k * 0.01]
        return part.sum(), x

    for function in (forces, read_later, selected):
        for mine, other in zip(wf.jit(function)(x.copy()), function(x.copy()), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-10)
    assert "for" in wf.trace(forces, x).core.op_names
