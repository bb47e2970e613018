"""Functions that are compiled again and again are told, once, with what differs and the way out."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf

X = np.ones(3)


class Settings:
    mode = "m"


settings = Settings()


def told(function: Any, calls: Iterable[tuple]) -> list[str]:
    """The texts of the warnings of some calls, all of which name this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for args in calls:
            function(*args)
    assert all(w.category is wf.RecompilationWarning and Path(w.filename) == Path(__file__) for w in caught)
    return [str(w.message) for w in caught]


def modes() -> Iterable[tuple]:
    for i in range(12):
        settings.mode = "m" * i
        yield (X,)


SIZES = [np.ones((n, 2)) for n in range(1, 12)]

RUNAWAYS = [
    (
        wf.jit(lambda x, n: np.full(n, x[0])),
        [(X, n) for n in range(60)],
        "the argument 'n': 0, 1, 2, 3, ...",
        "np.asarray",
    ),
    (
        wf.jit(lambda x, s: x * len(s)),
        [(X, "a" * n) for n in range(9)],
        "the argument 's': '', 'a', 'aa', 'aaa'",
        "np.asarray",
    ),
    (
        wf.jit(lambda x, n: x * n, static_argnames="n"),
        [(X, n) for n in range(9)],
        "the static argument 'n': 0, 1",
        "few values",
    ),
    (
        wf.jit(lambda x, y: x.sum() * y),
        [(x, X) for x in SIZES],
        "axis 0 of 'x': 1, 2, 3, 4, ...",
        "dynamic={'x': {0: 'n'}}",
    ),
    (wf.jit(lambda x: x["a"].sum()), [({"a": x},) for x in SIZES], "axis 0 of 'x.a': 1, 2", "arguments themselves"),
    (wf.jit(lambda xs: sum(xs)), [([X] * n,) for n in range(1, 10)], "what 'xs' holds: [float64[...]], ", "one length"),
    (wf.jit(lambda x: x * len(settings.mode)), modes(), "the attribute 'mode' of", "of its surroundings"),
]


@pytest.mark.parametrize("number", range(len(RUNAWAYS)))
def test_what_differs_is_named_once(number: int) -> None:
    function, calls, what, way = RUNAWAYS[number]
    calls = list(calls) if not isinstance(calls, list) and number < 6 else calls
    (text,) = told(function, calls)
    line = function.__wrapped__.__code__.co_firstlineno
    assert (
        text.startswith(f"8 programs were compiled for '<lambda>' ({__file__}:{line})") and what in text and way in text
    )
    other = [what for _, _, what, _ in RUNAWAYS if what not in RUNAWAYS[number][2]]
    assert not any(each in text for each in other)


def test_the_eighth_program_warns() -> None:
    function = wf.jit(lambda x, n: np.full(n, x[0]))
    assert not told(function, [(X, n) for n in range(7)] * 2) and function.plan_count == 7
    assert told(function, [(X, 7)]) and not told(function, [(X, n) for n in range(8, 30)])


def test_other_dtypes_and_ranks_do_not_warn() -> None:
    function = wf.jit(lambda x: x * 2)
    assert not told(function, [(np.ones(shape, d),) for d in "bhilqBHILQfdF" for shape in ((), 3, (3, 2), (2, 2, 2))])
    assert not told(wf.jit(lambda x, s: x * s), [(X, 0.5 * n) for n in range(20)])
    ranged = wf.jit(lambda x: x.sum(), dynamic={"x": {0: "n"}})
    assert not told(ranged, [(x,) for x in SIZES])


def test_objects_may_be_many() -> None:
    class Layer:
        def __init__(self, weight: float, name: str) -> None:
            self.weight, self.name = weight, name

        @wf.jit(strict=True)
        def apply(self, x: Any) -> Any:
            return x * self.weight

        @wf.jit(strict=True)
        def apply_named(self, x: Any) -> Any:
            return x * self.weight if self.name != "none" else x

    layers = [Layer(1.0 + i, "same") for i in range(40)]
    assert not told(Layer.apply, [(layer, X) for layer in layers])
    assert not told(Layer.apply_named, [(layer, X) for layer in layers])
    layers = [Layer(1.0 + i, str(i)) for i in range(40)]
    assert not told(Layer.apply_named, [(layer, X) for layer in layers[:30]])
    (text,) = told(Layer.apply_named, [(layer, X) for layer in layers[30:]])
    assert "32 programs" in text and "the argument 'self': 32 objects" in text


def test_filters_turn_it_off_or_into_an_error() -> None:
    function = wf.jit(lambda x, n: np.full(n, x[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.RecompilationWarning)
        for n in range(20):
            function(X, n)
    function = wf.jit(lambda x, n: np.full(n, x[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", wf.RecompilationWarning)
        with pytest.raises(wf.RecompilationWarning, match="the argument 'n'"):
            for n in range(20):
                function(X, n)
        assert len(function(X, 7)) == 7 and len(function(X, 8)) == 8


def test_errors_of_all_warnings_leave_calls_alone(caplog: pytest.LogCaptureFixture) -> None:
    function = wf.jit(lambda x, n: np.full(n + 1, x[0]), strict=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert [len(function(X, n)) for n in range(20)] == list(range(1, 21))
    assert "the argument 'n'" in caplog.text


def test_values_that_cannot_be_told_do_not_hinder() -> None:
    class Secret:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    function = wf.jit(lambda x, s: x * 2, static_argnames="s", strict=True)
    assert not told(function, [(X, [Secret()]) for _ in range(7)])
    assert "the static argument 's'" in "".join(told(function, [(X, n) for n in range(9)]))
