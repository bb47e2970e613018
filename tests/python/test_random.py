"""Random numbers: known answers of Threefry, the same numbers however they are drawn, and their distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import close

import weftwork as wf

RUNS = [lambda f: f, wf.jit, wf.simulate]
KEY = wf.random.key(2024)


def threefry(key: int, counter: int) -> int:
    """Threefry-2x32 with 20 rounds (Salmon et al. 2011), in Python's integers."""
    mask = 2**32 - 1
    keys = [key & mask, key >> 32]
    keys.append(keys[0] ^ keys[1] ^ 0x1BD11BDA)
    x, y = (counter + keys[0]) & mask, ((counter >> 32) + keys[1]) & mask
    for group in range(5):
        for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x = (x + y) & mask
            y = x ^ ((y << rotation | y >> (32 - rotation)) & mask)
        x, y = (x + keys[(group + 1) % 3]) & mask, (y + keys[(group + 2) % 3] + group + 1) & mask
    return y << 32 | x


def test_the_reference_gives_the_known_answers() -> None:
    assert threefry(0, 0) == 0x99BA4EFE6B200159
    assert threefry(2**64 - 1, 2**64 - 1) == 0xBB002BE71CB996FC
    assert threefry(0x0370734413198A2E, 0x85A308D3243F6A88) == 0x483DF7A0C4923A9C


@pytest.mark.parametrize("run", RUNS)
def test_words_are_threefry_of_key_and_counter(run: Any) -> None:
    for seed in (0, 1, -1, 2**40 + 3):
        key = wf.random.key(seed)
        close(
            run(lambda k: wf.random.bits(k, (5,), np.uint64))(key),
            np.array([threefry(seed % 2**64, i) for i in range(5)], np.uint64),
        )
        close(
            run(lambda k: wf.random.split(k, 3))(key),
            np.array([threefry(seed % 2**64, 2**63 + i) for i in range(3)], np.uint64),
        )
        close(run(lambda k: wf.random.fold_in(k, 9))(key), np.uint64(threefry(seed % 2**64, 3 * 2**62 + 9)))
    close(run(lambda k, i: wf.random.fold_in(k, i))(KEY, np.int32(9)), np.uint64(threefry(2024, 3 * 2**62 + 9)))


DRAWS: list[Any] = [
    *[lambda k, d=d: wf.random.bits(k, (3, 5), d) for d in (np.uint8, np.uint16, np.uint32, np.uint64)],
    *[lambda k, d=d: wf.random.uniform(k, (3, 5), d) for d in (np.float16, np.float32, np.float64)],
    lambda k: wf.random.uniform(k, (7,), np.float32, -2.0, 3.0), lambda k: wf.random.uniform(k), lambda k: wf.random.uniform(k, 4, np.float64, np.arange(4.0), 5.0),
    lambda k: wf.random.randint(k, (9,), -5, 12), lambda k: wf.random.randint(k, (9,), 0, 2**64, np.uint64), lambda k: wf.random.randint(k, (2, 3), 0, 200, np.uint8),
    lambda k: wf.random.randint(k, (4,), np.arange(4), np.arange(4) + 10), lambda k: wf.random.permutation(k, 20), lambda k: wf.random.permutation(k, np.arange(12).reshape(3, 4), 1),
    lambda k: wf.random.bernoulli(k, 0.3, (50,)), lambda k: wf.random.bernoulli(k, np.array([0.0, 1.0])), lambda k: wf.random.split(k, 0), lambda k: wf.random.uniform(k, (0, 3)),
]  # fmt: skip
ROUNDED: list[Any] = [
    *[lambda k, d=d: wf.random.normal(k, (5, 7), d) for d in (np.float16, np.float32, np.float64)], lambda k: wf.random.normal(k), lambda k: wf.random.normal(k, (3,), np.float64, 5.0, np.arange(3.0)),
    *[lambda k, d=d: wf.random.exponential(k, (20,), d) for d in (np.float32, np.float64)], lambda k: wf.random.exponential(k, (2,), np.float64, np.array([1.0, 9.0])),
]  # fmt: skip


@pytest.mark.parametrize("draw", [*DRAWS, *ROUNDED])
def test_the_same_numbers_however_drawn(draw: Any) -> None:
    plain, compiled, simulated = (run(draw)(KEY) for run in RUNS)
    close(compiled, plain, 0)
    # log, sin and cos differ in their last bits.
    close(simulated, plain, 64 if draw in ROUNDED else 0)


def test_distributions() -> None:
    n = 200_000
    for dtype in (np.float32, np.float64):
        u = wf.random.uniform(KEY, (n,), dtype)
        assert u.dtype == dtype and u.min() >= 0 and u.max() < 1
        counts = np.histogram(u, 100, (0, 1))[0]
        assert ((counts - n / 100) ** 2 / (n / 100)).sum() < 160  # 99 degrees of freedom: p < 1e-4
        z = wf.random.normal(KEY, (n,), dtype).astype(np.float64)
        assert (
            abs(z.mean()) < 0.01
            and abs(z.std() - 1) < 0.01
            and abs((z**3).mean()) < 0.05
            and abs((z**4).mean() - 3) < 0.1
        )
        assert abs(np.corrcoef(z[: n // 2], z[n // 2 :])[0, 1]) < 0.015
        e = wf.random.exponential(KEY, (n,), dtype, 2.0).astype(np.float64)
        assert e.min() >= 0 and abs(e.mean() - 2) < 0.03 and abs(np.quantile(e, 0.9) - 2 * np.log(10)) < 0.06
    whole = wf.random.randint(KEY, (n,), -3, 4)
    counts = np.bincount(whole + 3)
    assert len(counts) == 7 and ((counts - n / 7) ** 2 / (n / 7)).sum() < 30
    assert abs(wf.random.bernoulli(KEY, 0.3, (n,)).mean() - 0.3) < 0.006
    places = np.stack([wf.random.permutation(k, 5) for k in wf.random.split(KEY, 300)])
    assert (np.sort(places) == np.arange(5)).all() and abs(places.mean(0) - 2).max() < 0.4


def test_keys_in_a_traced_function() -> None:
    def function(seed: Any) -> Any:
        first, second = wf.random.split(wf.random.key(seed))
        return wf.random.uniform(first, (3,)), wf.random.uniform(second, (3,))

    a, b = wf.jit(function)(np.int64(5))
    plain = wf.random.split(wf.random.key(5))
    close(a, wf.random.uniform(plain[0], (3,)), 0)
    close(b, wf.random.uniform(plain[1], (3,)), 0)
    assert not np.array_equal(a, b)
    close(
        wf.jit(lambda x: x + wf.random.uniform(wf.random.key(3), x.shape))(np.zeros(4)),
        wf.random.uniform(wf.random.key(3), (4,)),
        0,
    )


@pytest.mark.parametrize(
    ("draw", "kind", "text"),
    [
        (lambda k: wf.random.uniform(np.int64(3)), wf.errors.ArgumentTypeError, "key"),
        (lambda k: wf.random.uniform(k, (2,), np.int32), wf.errors.ArgumentTypeError, "float"),
        (lambda k: wf.random.bits(k, (2,), np.int32), wf.errors.ArgumentTypeError, "unsigned"),
        (lambda k: wf.random.randint(k, (2,), 3, 3), wf.errors.ArgumentValueError, "less than"),
        (lambda k: wf.random.randint(k, (2,), 0, 300, np.uint8), wf.errors.ArgumentValueError, "uint8"),
        (lambda k: wf.random.randint(k, (2,), 0, 3, np.float32), wf.errors.ArgumentTypeError, "integer"),
        (lambda k: wf.random.exponential(k, (2,), np.int32), wf.errors.ArgumentTypeError, "float"),
        (lambda k: wf.random.split(k, -1), wf.errors.ArgumentValueError, "negative"),
    ],
)
@pytest.mark.parametrize("run", RUNS)
def test_errors(run: Any, draw: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        run(draw)(KEY)


def test_bounds_are_checked_whatever_was_drawn_before() -> None:
    for low, high in ((0, 5), (1, 9), (-3, 12), (0, 2**40)):
        wf.random.randint(KEY, (2,), low, high)
    with pytest.raises(wf.errors.ArgumentValueError, match="less than"):
        wf.random.randint(KEY, (2,), 3, 3)
    assert wf.random.randint(KEY, (2,), 0, 2**64, np.uint64).dtype == np.uint64
