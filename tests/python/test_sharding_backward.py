"""Shardings that are said of results divide what makes them."""

import random

import numpy as np
import pytest
from test_sharding import GRID, check, drawn

from weftwork import spec
from weftwork.distributed import constrain, shard

COLUMNS = GRID.sharding(None, "model")
ROWS = GRID.sharding("data")


def program(function, *shapes, given=None, wanted=None):
    return str(shard(function, GRID, given, wanted).graph(*(spec(shape, np.float64) for shape in shapes)))


def test_what_is_said_of_a_result_divides_the_operands_that_make_it():
    def layer(x, w, b):
        return constrain(np.tanh(x @ w + b), COLUMNS)

    text = program(layer, (4, 6), (6, 8), (8,))
    product = next(line for line in text.splitlines() if "dot_general" in line)
    assert "float64[4, 4]" in product
    assert "all_" not in text
    check(layer, GRID, drawn((4, 6), (6, 8), (8,)), [(), (), ()])


def test_what_is_wanted_of_outputs_divides_operands_too():
    text = program(lambda x: np.exp(x - x.max(-1, keepdims=True)), (4, 6), wanted=ROWS)
    assert "float64[4, 6]  # " not in "".join(line for line in text.splitlines() if "exponential" in line)
    assert "all_" not in text


def test_a_value_that_is_wanted_whole_elsewhere_is_made_whole():
    def both(x):
        y = np.tanh(x)
        return constrain(y, ROWS), (y @ y.T).sum()

    assert "all_gather" not in program(both, (4, 4))
    check(both, GRID, drawn((4, 4)), [()])


def test_operands_that_are_divided_otherwise_stay_so():
    def product(x, w):
        return constrain(x @ w, COLUMNS)

    # The summed dimension has the axis already: the sum is divided as it is made.
    text = program(product, (4, 6), (6, 8), given=[COLUMNS, GRID.sharding("model")])
    assert "dynamic_slice" not in text
    assert "reduce_scatter" in text
    check(product, GRID, drawn((4, 6), (6, 8)), [(None, "model"), ("model",)])


DIVISORS = [(), ("data",), ("model",), (None, "data"), (None, "model"), ("data", "model"), ("model", "data")]
DIVISORS += [(("data", "model"),), (None, ("model", "data"))]
STEPS = [
    lambda x, y: np.tanh(x),
    lambda x, y: x + y,
    lambda x, y: x * y[:1],
    lambda x, y: x - y.mean(1, keepdims=True),
    lambda x, y: (x @ y) / 8,
    lambda x, y: x.T @ y / 8,
    lambda x, y: x.T,
    lambda x, y: np.concatenate([x[:4], y[4:]]),
    lambda x, y: x.reshape(4, 2, 8).swapaxes(1, 2).reshape(8, 8),
    lambda x, y: np.where(x > 0, x, y),
    lambda x, y: np.sort(x, 1),
    lambda x, y: x[np.array([3, 0, 7, 1, 1, 2, 5, 6])],
    lambda x, y: np.cumsum(x, 0) / 8,
    lambda x, y: np.roll(x, 3, 1),
    lambda x, y: np.pad(x[1:7], ((1, 1), (0, 0))),
]


def drawn_program(seed):
    """A function of two arrays whose steps are drawn, and what is said of their results."""
    draw, steps = random.Random(seed), []
    for _ in range(draw.randint(2, 7)):
        said = GRID.sharding(*draw.choice(DIVISORS)) if draw.random() < 0.5 else None
        steps.append((draw.choice(STEPS), -draw.randint(1, 2), -draw.randint(1, 3), said))
    axis = draw.randint(0, 1)

    def function(x, y):
        values = [x, x, y]
        for step, first, second, said in steps:
            value = step(values[first], values[second])
            values.append(value if said is None else constrain(value, said))
        return values[-1], values[-2].sum(axis)

    return function


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_drawn_programs_agree_with_those_of_one_rank(first):
    for seed in range(first, first + 20):
        draw = random.Random(~seed)
        wanted = draw.choice([None, (GRID.sharding(*draw.choice(DIVISORS)), None)])
        divisors = [draw.choice([(), *DIVISORS]) if draw.random() < 0.6 else () for _ in range(2)]
        check(drawn_program(seed), GRID, drawn((8, 8), (8, 8)), divisors, wanted, tolerance=1e-9)
