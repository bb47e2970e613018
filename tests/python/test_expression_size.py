"""Programs whose values are each read at two places: written out, their expressions would grow as 2 to the number of steps."""

from __future__ import annotations

import numpy as np
import pytest

import weftwork as wf

STEPS = {
    "joined": lambda x: np.concatenate([x, x])[: x.shape[0]],
    "joined with its complement": lambda x: np.concatenate([x, 1 - x])[1 : x.shape[0] + 1],
    "stacked": lambda x: np.vstack([x, x * 0.5]).reshape(-1)[: x.shape[0]],
    "padded": lambda x: np.pad(x, (1, 0))[:-1] + np.pad(x, (0, 1))[1:] * 0.25,
    "reversed": lambda x: x[::-1] * 0.5 + x,
    "rolled": lambda x: np.roll(x, 1) + x * 0.5,
    "neighbours": lambda x: np.r_[x[1:] * 0.5 + x[:-1], x[:1]],
    "tiled": lambda x: (np.tile(x, 2) + np.repeat(x, 2))[: x.shape[0]] * 0.5,
    "chosen": lambda x: np.where(x > 0.5, x[::-1], x) * 0.9,
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_compile_time_does_not_double_with_each_step(step):
    def f(x):
        for _ in range(40):
            x = step(x)
        return x

    x = np.random.default_rng(0).random(37)
    np.testing.assert_allclose(wf.compile(f, x)(x), f(x), rtol=1e-12)
    graph = wf.stablehlo.parse(wf.trace(f, x).stablehlo())
    np.testing.assert_allclose(wf.compile(graph)(x), f(x), rtol=1e-12)


def test_a_sequence_of_doublings():
    def thue_morse(x):
        for _ in range(14):
            x = np.concatenate([x, 1 - x])
        return x

    x = np.zeros(1)
    np.testing.assert_array_equal(wf.compile(thue_morse, x)(x), thue_morse(x))
