"""Objects of one class share programs: what tells them apart is found at each, and nothing of one is seen by another."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import weftwork as wf

COMMON: dict[str, Any] = {}


class Slots:
    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


class Node:
    rate = 1.5

    def __init__(self, place: int) -> None:
        self.weights, self.scale, self.count = np.arange(4.0) + place, 1.0 + place, place
        self.mode, self.items, self.table = "sum", [1.0, 2.0], {"a": 0.5}
        self.slots, self.call, self.shape = Slots(float(place)), self.scaled, (1.0, 2)

    @property
    def area(self) -> Any:
        return self.scale * self.count

    def scaled(self, x: Any) -> Any:
        return x * self.scale

    def passed(self, x: Any) -> Any:
        self.count += 1
        return x + self.weights[0]


class Derived(Node):
    def passed(self, x: Any) -> Any:
        return x * self.scale


def family() -> list[Node]:
    """Objects with two others each, and what is particular about some of them."""
    tops: list[Any] = [Node(i) for i in range(7)]
    for i, top in enumerate(tops):
        top.child, top.other = Node(10 + i), Node(20 + i)
        top.members = [top.child, top.other, Node(30 + i)]
    COMMON["node"] = Node(50)
    tops[1].mode = "mean"
    tops[2].child = tops[2].other
    tops[3].child = COMMON["node"]
    tops[3].other = tops[3]
    tops[4].child = Derived(14)
    tops[4].items = tops[4].child.items
    tops[5].child, tops[4].other = tops[4], tops[5]
    tops[5].weights = tops[0].weights
    tops[5].members = tops[5].members[:2]
    tops[6].call = tops[6].other.scaled
    tops[6].rate = 0.5
    return tops


BODIES = [
    "return x * self.scale + self.weights",
    "self.count += 1; return x * self.count",
    "self.weights = self.weights + x; self.scale = self.scale * 0.5; return self.scale",
    "self.weights[1:] += x[1:]; return self.weights.sum()",
    "return self.child.passed(x) + self.other.passed(x)",
    "self.best = self.child; self.best.count += 1; return self.best.scale * x",
    "self.child.scale = self.scale; return self.other.scale * x",
    "return x + 1 if self.child is self.other else x",
    "return x + 1 if self.child is COMMON['node'] else x",
    "return x + 1 if self.other is self else x",
    "self.items.append(self.scale); return x * len(self.child.items)",
    "return x + 1 if self.items is self.child.items else x",
    "self.items[0] = x[0]; return x * self.child.items[0]",
    "self.table['b'] = self.count; return x * self.table.get('a')",
    "return sum(m.scale * m.weights for m in self.members)",
    "self.members[0], self.members[-1] = self.members[-1], self.members[0]; return x * self.members[0].scale",
    "for i, m in enumerate(self.members): m.count += i\nreturn x",
    "return x + self.members.index(self.members[-1])",
    "self.members.sort(key=lambda m: -m.scale); return self.members[0].weights * x",
    "return self.call(x)",
    "return x * self.rate + type(self).rate",
    "return x * self.area",
    "self.slots.value = self.slots.value + x[0]; return self.slots.value",
    "return x if self.mode == 'sum' else x / 4",
    "self.shape = (self.scale, self.count); return x * self.shape[0]",
    "return self, self.child, self.members, self.call, x",
    "return [m for m in self.members if m.scale > 12] if self.mode == 'sum' else self",
    "if isinstance(self.child, Derived): self.child.count = 9\nreturn x",
    "self.extra = getattr(self, 'extra', 0.0) + 1.0; return x * self.extra",
    "return x + len({self, self.child, self.other})",
    "seen = {self: 1.0}; seen[self.child] = 2.0; return x + sum(seen.values())",
    "self.child = self.other; return self.child.weights * x",
]


def function_of(body: str) -> Any:
    lines = "".join(f"    {line}\n" for line in body.replace("; ", "\n").splitlines())
    space = {"COMMON": COMMON, "Derived": Derived}
    exec(f"def step(self, x):\n{lines}", space)
    return space["step"]


def described(value: Any, known: dict[int, int]) -> Any:
    """What there is, and which of it is one object."""
    if isinstance(value, np.ndarray):
        return (known.setdefault(id(value), len(known)), value.dtype, value.tolist())
    if isinstance(value, (np.generic, float, int, str)):
        return type(value), value
    if isinstance(value, types.MethodType):
        return value.__func__.__name__, described(value.__self__, known)
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = len(known)
    if isinstance(value, dict):
        return [(key, described(part, known)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [described(part, known) for part in value]
    parts = vars(value) if hasattr(value, "__dict__") else {"value": value.value}
    return type(value), [(name, described(part, known)) for name, part in sorted(parts.items())]


def outcomes(step: Any) -> list[Any]:
    objects, found = family(), []
    for turn in range(3):
        for owner in (*objects, *objects[::2]):
            result = step(owner, np.arange(4.0) + turn)
            known: dict[int, int] = {}
            found.append([described(part, known) for part in (result, objects, COMMON)])
    return found


@pytest.mark.parametrize("body", BODIES)
def test_each_object_is_what_it_is(body: str) -> None:
    function = function_of(body)
    assert outcomes(wf.jit(function, strict=False)) == outcomes(function)


class Layer:
    """A part of a network that counts its calls."""

    def __init__(self, size: int, source: np.random.Generator) -> None:
        self.weights, self.calls, self.activation = source.standard_normal((size, size)), 0, "tanh"
        self.norm = types.SimpleNamespace(scale=source.standard_normal(size))

    @wf.jit
    def __call__(self, x: Any) -> Any:
        self.calls += 1
        h = x @ self.weights * self.norm.scale
        return np.tanh(h) if self.activation == "tanh" else h


def test_a_network_of_equal_layers_is_compiled_once() -> None:
    source = np.random.default_rng(0)
    layers = [Layer(8, source) for _ in range(12)]
    for _ in range(4):
        x = expected = source.standard_normal((3, 8))
        for layer in layers:
            x = layer(x)
            expected = np.tanh(expected @ layer.weights * layer.norm.scale)
        np.testing.assert_allclose(x, expected, rtol=1e-12)
    assert {layer.calls for layer in layers} == {4}
    assert Layer.__call__.plan_count <= 2  # the first call does not know that the number of calls changes


def test_a_recording_holds_for_its_own_containers() -> None:
    @wf.jit(strict=False)
    def step(x: Any, first: Any, second: Any) -> Any:
        first.items.append(1.0)
        return x * len(second.items)

    first, second = types.SimpleNamespace(items=[1.0]), types.SimpleNamespace(items=[1.0])
    assert step(np.ones(1), first, second).tolist() == [1.0]
    second.items = first.items = [5.0]
    assert step(np.ones(1), first, second).tolist() == [2.0]
