"""Calls of NumPy's namespace with parameters that are huge, or that NumPy refuses: as one program they give what NumPy gives, or raise
what it raises.

``python tests/python/test_odd_parameters.py huge|invalid SEED COUNT`` draws more, and prints what differs.
"""

from __future__ import annotations

import inspect
import pickle
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import test_namespace_draws as namespace
from numpy.lib.stride_tricks import as_strided

import weftwork as wf
from weftwork.numpy.asked import public

HUGE = [2**63 - 1, 2**63, 2**64, 2**70, -(2**63), -(2**63) - 1, -(2**70), 10**30, -(2**31) - 1, -7]
INVALID: dict[str, list[Any]] = {
    "axis": [3, -4, 99, (0, 0), (0, 7), "0", 1.5, [0], "x"], "dtype": ["f99", "bad", 7, "", "f4,", [], 1.5], "order": ["Z", "", 7, "CF", b"C", "c"],
    "kind": ["bad", "", 7, "Quicksort"], "mode": ["bad", "", 7, "Wrap", None], "casting": ["bad", 7, None], "side": ["mid", 7, None], "indexing": ["zz", None],
    "method": ["bad", 7, None], "norm": ["bad", 7], "UPLO": ["X", 7, None], "shape": [(-2, 3), (7, 7), "x", 1.5, (1.5,), -1, None, (2, "x")],
    "newshape": [(-2, 3), (7, 7), (-1, -1), "x"], "indices_or_sections": [0, 5, -1, 7, 1.5, "x", None, (1, "x")], "k": [1.5, "x", None, (1,), 1j],
    "num": [-1, 1.5, "x", None], "axes": [(0, 0), (0, 7), (0,), "x", 1.5, ((0,), (0, 1))], "repeats": [-1, [1, 2], 1.5, "x", [-1, 1, 1]], "q": [2.0, -0.5, "x", None, 1j],
    "bins": [-1, 0, "bad", [2, 1, 0], 1.5, [[1, 2]]], "keepdims": ["x", None, 2], "ddof": ["x", None], "decimals": [1.5, "x", None], "N": [-1, 1.5, "x", None],
    "pad_width": [-1, (1, 2, 3), "x", 1.5, ((1,), (2,), (3,))], "source": [7, "x", (0, 0), 1.5], "destination": [7, "x", (0, 0), (0, 1, 2)], "shift": ["x", 1.5, None, (1, 2, 3)],
    "obj": [99, "x", 1.5, [99], None], "indices": [99, "x", 1.5, [[99]]], "kth": [99, "x", 1.5, -9], "offset": ["x", 1.5, None], "axis1": [7, "x", 0, 1.5], "axis2": [7, "x", 0, 1.5],
    "n": [-1, 0, 1.5, "x", -7], "ord": ["bad", 7, 1.5, ()], "period": [0, "x"], "edge_order": [3, 0, "x"], "return_index": ["x"], "minlength": [-1, "x", 1.5],
}  # fmt: skip
ANYTHING = ["x", 1.5, None, -7, 99, (0, 0), [], {}, 2 + 1j, b"x", slice(None), (1, (2, 3)), object]
#: Parameters whose values no program knows, or that say where a result goes; and loops that Python makes one by one.
SKIPPED = frozenset(
    [
        "out",
        "where",
        "like",
        "subok",
        "initial",
        "device",
        "ndmin",
        "max_rows",
        "fweights",
        "aweights",
        "signature",
        "extobj",
    ]
)
#: Known differences: NumPy refuses such values only, or the function gives as many elements as the values say.
KNOWN = frozenset(["extract", "nanvar", "nanstd", "isclose", "allclose", "linalg.cholesky"])
#: Functions that do a step in Python for each count.
COUNTING = frozenset(["diff", "polyint", "polyder", "linalg.matrix_power", "unwrap"])


class Odd(namespace.Draw):
    """A call with one or two parameters that are odd."""

    def __init__(self, seed: str, is_huge: bool) -> None:
        self.is_huge = is_huge
        super().__init__(seed)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        args, kwargs = super().arguments()
        for _ in range(self.random.choice([1, 1, 2])):
            places: list[Any] = [i for i, arg in enumerate(args) if not namespace.holds_array(arg)]
            if not isinstance(self.target, str):
                places += [p for p in self.named() if p not in SKIPPED] * 2
            elif len(args) == 1 or self.random.random() < 0.3:
                args.append(None)
                places.append(len(args) - 1)
            if not places:
                break
            place = self.random.choice(places)
            if isinstance(place, int):
                args[place] = self.odd(self.positional(place))
            else:
                kwargs[place] = self.odd(place)
        return args, kwargs

    def parameters(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self.target).parameters.values())
        except (ValueError, TypeError):
            return []

    def named(self) -> list[str]:
        return [p.name for p in self.parameters() if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY]

    def positional(self, place: int) -> str:
        names = [p.name for p in self.parameters()] if not isinstance(self.target, str) else []
        return names[place] if place < len(names) else ""

    def odd(self, name: str) -> Any:
        pick = self.random.choice
        if self.is_huge:
            return pick(HUGE) if self.random.random() < 0.8 else (pick(HUGE), 1)
        return pick(INVALID[name] if name in INVALID and self.random.random() < 0.8 else ANYTHING)


class TooLong(Exception):
    pass


def stop(*_: Any) -> None:
    raise TooLong


def outcome(function: Any, arrays: list[np.ndarray], seconds: int = 3) -> tuple[Any, Exception | None]:
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return namespace.outcome(function, arrays)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def is_no_program(ours: Exception | None, error: Exception | None) -> bool:
    """Whether a call says that it is no program, or takes integers of more than 64 bits as elements, which are objects to NumPy."""
    label = getattr(ours, "label", "")
    if error is None and isinstance(ours, wf.errors.UnsupportedError):
        return True
    is_dynamic = label == "data_dependent" or label.startswith("dynamic_result")
    return label in ("unsupported_function", "one_program", "dtype") or (error is None and is_dynamic)


def found_in(seed: str, is_huge: bool) -> Iterator[tuple[str, str]]:
    """The class of a difference between NumPy and a call that is one program, and its text; the number of calls that were compared."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        draw = Odd(seed, is_huge)
        if draw.name in KNOWN or (is_huge and draw.name in COUNTING):
            return
        wanted, error = outcome(draw.call, draw.arrays)
        if isinstance(error, TooLong):
            return
        if error is not None:
            # What NumPy raises for these values only is none of a program's business.
            other = outcome(draw.call, [np.ones_like(array) for array in draw.arrays])[1]
            if type(other) is not type(error):
                return
        elif not is_huge:
            return
        got, ours = outcome(wf.jit(draw.call, strict=True), draw.arrays, 30)
        if is_no_program(ours, error):
            return
        yield "", ""
        if error is not None and not isinstance(ours, public(type(error))):
            yield (
                f"{draw.name}: {type(ours).__name__} for {public(type(error)).__name__}",
                f"{seed} {draw}: {ours!r} for {error!r}",
            )
        elif error is None and ours is not None:
            yield f"{draw.name}: {type(ours).__name__}", f"{seed} {draw}: {ours!r} for {wanted!r}"
        elif error is None and (text := namespace.difference(got, wanted)):
            yield f"{draw.name}: differs", f"{seed} {draw}: {text}"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["huge", "invalid"])
def test_odd_parameters_give_what_numpy_gives(kind: str, seed: int) -> None:
    found = [each for number in range(600) for each in found_in(f"{seed}.{number}", kind == "huge")]
    texts = [text for what, text in found if what]
    # NumPy cuts integers of 64 bits off to 32 here and there, and refuses numbers that are inputs of a program.
    assert len(texts) <= len(found) // 100, "\n".join(texts)


X = np.arange(1.0, 13.0).reshape(3, 4)


@pytest.mark.parametrize("k", [*HUGE, 2, -2])
def test_diagonals_may_be_far_away(k: int) -> None:
    def functions(x: Any) -> Any:
        yield lambda: np.eye(3, k=k) + x[:3, :3]
        yield lambda: np.eye(3, 4, k) + x
        yield lambda: np.tri(3, 4, k) + x
        yield lambda: np.tril(x, k)
        yield lambda: np.triu(x, k)
        yield lambda: np.roll(x, k)
        yield lambda: np.roll(x, (k, 1), (0, 1))
        yield lambda: np.rot90(x, k)
        yield lambda: np.diag(x, k)
        yield lambda: np.diagonal(x, k)
        yield lambda: np.trace(x, k)

    for number, plain in enumerate(functions(X)):
        jitted = wf.jit(lambda x, number=number: list(functions(x))[number](), strict=True)
        try:
            wanted = plain()
        except Exception as error:
            with pytest.raises(public(type(error))):
                jitted(X)
        else:
            assert np.array_equal(jitted(X), wanted), (k, number)


def behind(error: BaseException | None) -> list[BaseException]:
    """The causes and contexts of an error, each as often as it is met."""
    return [] if error is None else [error, *behind(error.__cause__), *behind(error.__context__)]


@pytest.mark.parametrize(
    ("call", "kind", "ours"),
    [
        (lambda x: np.sum(x, axis=5), np.exceptions.AxisError, wf.errors.ArgumentValueError),
        (lambda x: np.sum(x, axis="x"), TypeError, wf.errors.ArgumentTypeError),
        (lambda x: np.argmax(x, axis=2**70), OverflowError, wf.errors.Error),
        (lambda x: x.reshape(5, 5), ValueError, wf.errors.ArgumentValueError),
        (lambda x: np.take(x, 1, mode="bad"), ValueError, wf.errors.ArgumentValueError),
        (lambda x: np.linalg.inv(x), np.linalg.LinAlgError, wf.errors.ArgumentValueError),
        (lambda x: np.split(x, "x"), TypeError, wf.errors.Error),
    ],
)
def test_errors_are_of_numpys_class_and_ours(call: Any, kind: type[Exception], ours: type[Exception]) -> None:
    with pytest.raises(kind):
        call(X)
    with pytest.raises((kind, wf.errors.Error)) as raised:
        wf.jit(call, strict=True)(X)
    error = raised.value
    assert isinstance(error, ours) and "test_odd_parameters.py" in str(error) and error.label  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.label == error.label
    # What pickles an error with those behind it, as tblib does for Dask, comes to an end.
    assert error not in behind(error)[1:]


def test_numpy_is_not_asked_what_has_effects(tmp_path: Any) -> None:
    path, calls = tmp_path / "x.npy", []

    def noted(v: Any) -> Any:
        calls.append(v)
        return v[99]

    table = np.ones(3)
    for call in (
        lambda x: np.save(path, x),
        lambda x: np.apply_along_axis(noted, 0, x),
        lambda x: np.add(x, x, out=table),
    ):
        with pytest.raises((wf.errors.Error, IndexError)):
            wf.jit(call, strict=True)(X)
    assert not path.exists() and not any(isinstance(v, np.ndarray) for v in calls) and table.tolist() == [1, 1, 1]


STRIDED = [
    (lambda x: as_strided(x, (3,), (40,)) * 2, None),
    (lambda x: as_strided(x[0], (3, 2), (8, 8)).sum(axis=1), None),
    (lambda x: as_strided(x, (5, 4), (0, 8)) + 1, None),
    (lambda x: as_strided(x, (0, 4), (800, 8)) + 1, None),
    (lambda x: as_strided(x) * 2, None),
    (lambda x: as_strided(x + 1, (2, 2), (8, 16), writeable=False).T, None),
    (lambda x: as_strided(x, (3,), (-8,)), "as_strided"),
    (lambda x: as_strided(x, (13,), (8,)), "as_strided"),
    (lambda x: as_strided(x, (2,), (4,)), "as_strided"),
    (lambda x: as_strided(x.T, (2,), (8,)), "layout"),
    (lambda x: as_strided(x, (2, 2), (8,)), "as_strided"),
]


@pytest.mark.parametrize("number", range(len(STRIDED)))
def test_as_strided_is_a_view_of_the_array(number: int) -> None:
    call, label = STRIDED[number]
    if label is None:
        assert np.array_equal(wf.jit(call, strict=True)(X), call(X))
    else:
        with pytest.raises(wf.errors.Error, match=label):
            wf.jit(call, strict=True)(X)


def test_writes_through_as_strided_land_in_the_array() -> None:
    def zeroed(x: Any) -> Any:
        y = x + 1
        as_strided(x, (3,), (40,))[:] = 0
        as_strided(y, (2, 2), (8, 16))[0, 0] = 9
        return y, x.sum()

    mine, theirs = X.copy(), X.copy()
    got, wanted = wf.jit(zeroed, strict=True)(mine), zeroed(theirs)
    assert np.array_equal(mine, theirs) and np.array_equal(got[0], wanted[0]) and got[1] == wanted[1]
    with pytest.raises(wf.errors.UnsupportedError, match="overlap"):
        wf.jit(lambda x: as_strided(x, (2, 2), (8, 8)).fill(0), strict=True)(X.copy())
    with pytest.raises(ValueError, match="read-only"):
        wf.jit(lambda x: as_strided(x, (3,), (8,), writeable=False).fill(0), strict=True)(X.copy())


def test_base_is_told_where_it_is_known() -> None:
    def bases(x: Any) -> Any:
        return (
            x.base is None,
            (x + 1).base is None,
            x.copy().base is None,
            x.sum().base is None,
            np.where(x > 1, x, 0).max(axis=0).base is None,
        )

    function = wf.jit(bases, strict=True)
    for x in (X.copy(), X.copy()):
        assert function(x) == bases(x) == (True,) * 5
    assert function.plan_count == 1
    for call, given in (
        (bases, X.copy()[:]),
        (lambda x: x[1:].base is None, X.copy()),
        (lambda x: x.T.reshape(-1).base is None, X.copy()),
    ):
        with pytest.raises(wf.errors.UnsupportedError, match="'base' of an array"):
            wf.jit(call, strict=True)(given)
        assert wf.jit(call, strict=False)(given) == call(given)
    free = wf.jit(bases, strict=False)
    assert [free(x)[0] for x in (X.copy(), X.copy()[:], X.copy())] == [True, False, True]


if __name__ == "__main__":
    is_huge, count = sys.argv[1] == "huge", int(sys.argv[3])
    found = [each for number in range(count) for each in found_in(f"{sys.argv[2]}.{number}", is_huge)]
    texts = [(kind, text) for kind, text in found if kind]
    print("\n".join(text[:400] for _, text in texts))
    print("\n".join(f"{times} {kind}" for kind, times in Counter(kind for kind, _ in texts).most_common()))
    print(f"{len(texts)} of {len(found) - len(texts)} differ")
