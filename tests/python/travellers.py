"""What test_travel.py sends to other processes: those import this file."""

import functools
import os
from typing import Any

import numpy as np

import weftwork as wf


@wf.jit
def wave(x: Any) -> Any:
    """A wave."""
    return np.tanh(x) * 2


@wf.jit(static_argnames="turns")
def doubled(x: Any, turns: int) -> Any:
    return x if turns == 0 else doubled(x, turns - 1) * 2


def plain(x: Any) -> Any:
    return np.exp(-x) + x.sum()


def decided(x: Any) -> Any:
    return x[: 1 + int(x[0] > 0)]


quick = wf.jit(plain, strict=True)


class Model:
    def __init__(self, weight: float = 2.0) -> None:
        self.weight = weight

    @wf.jit
    def apply(self, x: Any) -> Any:
        return x + self.weight

    @staticmethod
    @wf.jit
    def scaled(x: Any) -> Any:
        return x * 3

    @classmethod
    @wf.jit
    def named(cls, x: Any) -> Any:
        return x * len(cls.__name__)


class Owner:
    """An object that jits a method of its own."""

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.fast = wf.jit(self.slow)

    def slow(self, x: Any) -> Any:
        return x * self.weight


def like(x: Any) -> Any:
    return wf.spec(x.shape, x.dtype)


halved = wf.custom_op("travel.halved", like, reference=lambda x: x / 2)


@wf.jit
def with_operation(x: Any) -> Any:
    return halved(x) + 1


def of_rows(x: wf.tensor[np.float64, (wf.Dim("rows", 2, 8, 1000), 3)]) -> Any:
    return x.sum(axis=0) / x.shape[0]


def by_name() -> list[Any]:
    """Functions of one array that pickle finds under a name, or can make of what it finds."""
    return [
        wave,
        functools.partial(doubled, turns=3),
        quick,
        Model().apply,
        Model.scaled,
        Model.named,
        Owner(5.0).fast,
        with_operation,
        halved,
    ]


def by_value() -> list[Any]:
    """Those that only a pickler which takes functions by value can send."""
    factor = 7

    @wf.jit
    def nested(x: Any) -> Any:
        return wave(x) * factor

    return [nested, wf.jit(lambda x: x - factor)]


@wf.jit
def row_sums(x: Any) -> Any:
    return x.sum(axis=1)


def call(function: Any, *args: Any) -> Any:
    return function(*args)


class Caller:
    """An object of another process that keeps a function."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def call(self, x: Any) -> Any:
        return self.function(x)


def in_worker(x: Any) -> tuple[Any, int, int]:
    """A result, the threads that it is computed with, and the process."""
    return wave(x), wf.num_threads(), os.getpid()
