"""Memory stays as it is over calls without end and shapes without end."""

import os
import subprocess
import sys

import numpy as np
import pytest

import weftwork as wf

pytestmark = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed"
)

PROGRAM = """
import gc, sys
import numpy as np, weftwork as wf

calls, shapes, plans = map(int, sys.argv[1:])

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def grown(work, times):
    # The least at the end over the most at the start: what is in use goes up and down with the shapes that are kept.
    # What is kept for good is there after some of it.
    for i in range(times // 5 + 1):
        work(i)
    seen = []
    for part in range(20):
        for i in range(times // 20):
            work(i)
        seen.append(resident())
    return min(seen[-5:]) - max(seen[:5])

x = np.ones((3, 5), np.float32)
f = wf.jit(lambda x, w: np.tanh(x * w) + x)
print(grown(lambda i: f(x, 2.0), calls))
g = wf.compile(lambda x: np.tanh(x) + 1, x)
print(grown(lambda i: g(x), calls))
h = wf.jit(lambda x, y: (np.tanh(x) @ y).sum(axis=0))
h.most_plans = plans
shape, ones = iter(range(1, 1 << 30)), np.ones(6500, np.float32)
def other_shape(i):
    n = next(shape)
    m = n % 97 + 1
    # Of memory that there is: NumPy keeps some of each small size.
    a, b = ones[: (n // 97 % 64 + 1) * m].reshape(-1, m), ones[: m * (n // 6208 + 1)].reshape(m, -1)
    assert h(a, b).shape == (b.shape[1],)
# The memory of the thread that compiles beside runs is kept for good too.
for rows in range(100, 100 + 2 * plans):
    h(ones[: 16 * rows].reshape(rows, 16), ones[:16].reshape(16, 1))
print(grown(other_shape, shapes))
assert h.plan_count == plans
"""


def growth(calls, shapes, plans):
    command = [sys.executable, "-c", PROGRAM, str(calls), str(shapes), str(plans)]
    environment = {**os.environ, "WEFT_CACHE": "off", "WEFT_THREADS": "1"}
    return [
        int(word)
        for word in subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()
    ]


def require_no_growth(calls, shapes, plans):
    """What is lost is lost each time; one of Python's arenas, which are of 1 MiB, may be new by chance."""
    most, grown = 1 << 19, []
    while not grown or (min(grown) >= most and len(grown) < 3):
        grown.append(max(growth(calls, shapes, plans)))
    assert min(grown) < most, grown


@pytest.mark.slow
def test_memory_does_not_grow_with_a_million_calls_or_thousands_of_shapes():
    require_no_growth(1_000_000, 3000, 64)


def test_signatures_used_last_are_kept():
    f = wf.jit(lambda x: x + 1)
    f.most_plans = 3
    kept = []
    for n in (1, 2, 3, 1, 4, 1, 3, 5, 1):
        np.testing.assert_array_equal(f(np.zeros(n)), np.ones(n))
        kept.append(sorted(e.inputs[0].shape[0] for e in f.executables))
    # 2 went for 4, and 4 for 5.
    assert kept == [[1], [1, 2], [1, 2, 3], [1, 2, 3], [1, 3, 4], [1, 3, 4], [1, 3, 4], [1, 3, 5], [1, 3, 5]]
    assert [e.inputs[0].shape for e in f.executables] == [(1,), (3,), (5,)]
    f(np.zeros(2))
    assert f.plan_count == 3 and (2,) in [e.inputs[0].shape for e in f.executables]
    f.clear()
    assert f.plan_count == 0 and f.executables == []


def test_plans_that_depend_on_layouts_are_dropped_whole():
    @wf.jit
    def f(x):
        y = x.reshape(-1)
        y[0] = 7
        return x.sum()

    f.most_plans = 2
    for n in (2, 3, 4, 5):
        for order in "CF":
            x = np.ones((n, n), order=order)
            assert f(x) == (n * n + 6 if order == "C" else n * n)
    assert f.plan_count == 2
    x = np.ones((2, 2))
    assert f(x) == 10 and x[0, 0] == 7
