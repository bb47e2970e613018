"""What is changed outside of a jitted function between its calls is seen by the next call, whatever it is."""

from __future__ import annotations

import abc
import linecache
import random
import re
import warnings
from typing import Any

import numpy as np
import pytest

import weftwork as wf

SETUP = """
import numpy as np, math, types, functools, collections, operator
k = 2
h = 1.5
flag = True
name = 'sum'
none = None
arr = np.array([1.0, 2.0, 3.0])
arr2 = arr
iarr = np.arange(3)
lst = [1.0, 2, arr]
nums = [1, 2, 3]
tup = (1, 2.5, arr)
dct = {'a': 1.0, 'b': 2, 'arr': arr}
st = {1, 2, 3}
sc = np.float64(2.5)
cplx = 1j
txt = 'abc'
slc = slice(0, 2)
rng = range(3)
dt = np.float32
class Box:
    w = 3.0
    def __init__(self): self.v = arr * 2; self.n = 1; self.t = {'x': 1.0}; self.l = [1.0]
    def m(self, x): return x * self.n
    @property
    def p(self): return self.v
box = Box()
box2 = box
ns = types.SimpleNamespace(a=1.0, b=arr)
def fn(x): return x + 1
def fd(x, by=2.0, *, sh=1): return x * by + sh
def mk(n):
    def inner(x): return x * n
    return inner
cl = mk(3.0)
part = functools.partial(fd, by=3.0)
gen = lambda x: x - 1
fs = [fn, gen]
dfn = {'f': fn}
bound = box.m
N = collections.namedtuple('N', 'p q')
nt = N(1.0, arr)
dq = collections.deque([1.0, 2.0])
dd = collections.defaultdict(float, a=1.0)
nested = [[1.0, 2], {'z': [3, arr]}]
mod = types.ModuleType('mod'); mod.c = 4.0; mod.f = lambda x: x * mod.c
"""
READS = """
x * k
x * h
x if flag else -x
getattr(x, name)()
x + (0 if none is None else 1)
x + arr
x + arr2, arr is arr2
x * iarr
x + lst[0] + lst[2]
x * sum(nums)
x + tup[1]
x * tup[2]
x * dct['a'] + dct['arr']
x * len(dct)
[*dct]
x * len(st)
x * sc
x * cplx
x * len(txt), txt
x[slc]
[x[i] for i in rng]
x.astype(dt)
x * box.n
box.v + x
box.m(x)
box.p * x
x * Box.w
x * box.w
x * box.t['x']
x + box.l[0]
box is box2
x * ns.a + ns.b
fn(x)
fd(x)
fd(x, sh=k)
cl(x)
part(x)
gen(x)
fs[0](x), len(fs)
dfn['f'](x)
bound(x)
x * nt.p + nt.q
x * dq[0], len(dq)
x * dd['a']
x * nested[0][0]
x + nested[1]['z'][1]
x * mod.c
mod.f(x)
np.sin(x)
math.sqrt(k)
len(x) * x
abs(x)
x * max(k, h)
sorted(nums)
[n * x[0] for n in nums]
{q: v for q, v in dct.items()}
isinstance(k, int), type(h).__name__
k == 2, h > 1, name == 'sum'
x * arr.shape[0]
arr.dtype.name
arr.flags.writeable
'zz' in globals()
x + (zz if 'zz' in globals() else 0)
hasattr(box, 'q')
x * getattr(box, 'q', 1.0)
hasattr(mod, 'q')
callable(fn)
x.sum() > h
np.where(x > h, x, k)
x * np.mean(arr)
arr[0] * x
np.dot(arr, x)
np.zeros(k) + h
x.reshape(-1, 1) * arr
np.full(3, sc)
[f(x) for f in fs]
box.__class__.__name__
Box().n * x
str(k)
f'{h:.1f}'
dct.get('new', 7) * x
k in nums
arr is lst[2]
arr is tup[2]
x * float(arr.sum())
int(arr[0]) + k
x * bool(none)
isinstance(none, list)
fn.__name__
x * nested[1]['z'][0]
len(lst)
lst == lst
x * np.pi
type(box) is Box
x * (k or 5)
x * (none or 5)
"""
CHANGES = """
k = 3
k = 2.0
k = True
k = np.int64(2)
k = -1
h = 2.5
h = np.float64(1.5)
h = 1
h = float('nan')
h = None
flag = False
flag = 0
flag = np.True_
name = 'max'
name = 'min'
none = 1
none = []
none = arr
arr = arr * 2
arr[0] = 9.0
arr = arr.astype(np.float32)
arr = np.ones((2, 3))
arr = [1.0, 2.0, 3.0]
arr = arr[::-1]
arr.flags.writeable = False
arr = np.ma.array([1.0, 2.0, 3.0])
arr2 = arr.copy()
arr2 = arr
arr2 = arr * 3
iarr = iarr.astype(np.int8)
iarr[1] = 7
lst[0] = 5.0
lst.append(1)
lst[2] = arr * 3
lst = (1.0, 2, arr)
lst = [2.0, 3, arr]
nums.append(4)
nums[0] = 10
nums = [3, 2, 1]
nums = np.array([1, 2, 3])
nums.clear()
tup = (2, 3.5, arr)
tup = (1, 2.5, arr * 2)
dct['a'] = 3.0
dct['c'] = 1
del dct['b']
dct = {'arr': arr, 'a': 1.0}
dct['a'] = np.float32(1)
dct.clear()
st.add(9)
st = {1}
sc = np.float32(2.5)
sc = 2.5
sc = np.float64(-1)
cplx = 2j
cplx = 1.0
txt = 'abcd'
slc = slice(1, 3)
slc = slice(0, 2, 2)
rng = range(2)
rng = [0, 2]
dt = np.int32
dt = 'f4'
box.n = 2
box.n = 2.5
box.v = arr * 3
box.v[0] = 5
box = Box()
box.q = 4.0
del box.n
Box.w = 4.0
Box.q = 3.0
box.w = 5.0
Box.m = lambda self, x: x * 100
box.m = lambda x: x * 50
Box.p = property(lambda self: self.v * 7)
Box.n = 9
box.t['x'] = 2.0
box.t = {'x': 3.0}
box.l[0] = 4.0
box.l = [7.0]
box2 = Box()
box2 = box
ns.a = 2.0
ns.b = arr * 2
ns = types.SimpleNamespace(a=3.0, b=arr)
fn = lambda x: x + 5
fd.__defaults__ = (5.0,)
fd.__kwdefaults__ = {'sh': 9}
fd.__code__ = (lambda x, by=2.0, *, sh=1: x - by).__code__
fn = np.cos
fn = np.tanh
cl = mk(4.0)
cl.__closure__[0].cell_contents = 6.0
part = functools.partial(fd, by=4.0)
part = functools.partial(fd, by=3.0)
gen = fn
fs.append(gen)
fs[0] = gen
fs.reverse()
dfn['f'] = gen
bound = box2.m
bound = Box().m
nt = N(2.0, arr)
nt = N(1.0, arr * 2)
dq[0] = 5.0
dq.append(1.0)
dd['a'] = 4.0
dd.clear()
nested[0][0] = 8.0
nested[1]['z'][0] = 9
nested[1]['z'][1] = arr * 5
nested[1] = {'z': [1, arr]}
mod.c = 5.0
mod.f = lambda x: x * 9
mod.q = 1
zz = 3.0
globals().pop('zz', None)
len = lambda q: 42
globals().pop('len', None)
abs = lambda q: q * 0
globals().pop('abs', None)
max = min
globals().pop('max', None)
sorted = list
globals().pop('sorted', None)
box.__class__ = type('Box', (Box,), {'w': 8.0})
box.__dict__['n'] = 11
vars(box).pop('n', None)
Box = type('Box', (), {'w': 1.0, 'n': 6, '__init__': lambda self: None, 'm': lambda self, x: x})
k, h = h, k
arr = np.broadcast_to(1.0, (3,))
arr = arr.astype('>f8')
lst[:] = [4.0, 5, arr]
dct['arr'] = arr * 2
dct['arr'][1] = 3
isinstance = lambda *a: False
globals().pop('isinstance', None)
"""
NAMES = frozenset(
    [
        "k",
        "h",
        "flag",
        "name",
        "none",
        "arr",
        "arr2",
        "iarr",
        "lst",
        "nums",
        "tup",
        "dct",
        "st",
        "sc",
        "cplx",
        "txt",
        "slc",
        "rng",
        "dt",
        "box",
        "Box",
        "box2",
        "ns",
        "fn",
        "fd",
        "cl",
        "part",
        "gen",
        "fs",
        "dfn",
        "bound",
        "nt",
        "dq",
        "dd",
        "nested",
        "mod",
        "zz",
        "len",
        "abs",
        "max",
        "sorted",
        "isinstance",
    ]
)


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\w+", text)) & NAMES


def shown(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return type(value).__name__, str(value.dtype), value.shape, str(value.tolist()), value.flags.writeable
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    if isinstance(value, dict):
        return [(shown(key), shown(item)) for key, item in value.items()]
    return type(value).__name__, repr(value).split(" at 0x")[0]


def outcomes(source: str, name: str, changes: list[str], jit: Any) -> list[Any]:
    """What two calls give at first, and after each change."""
    space: dict[str, Any] = {"__name__": "case"}
    exec(SETUP, space)
    exec(compile(source, name, "exec"), space)
    function, found = jit(space["f"]), []
    for change in ("", *changes):
        try:
            exec(change, space)
        except Exception as error:
            found.append(type(error).__name__)
        for _ in range(2):
            try:
                found.append(shown(function(np.array([1.0, 2.0, 3.0]))))
            except Exception as error:
                found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_changes_between_calls_are_seen(seed: int) -> None:
    draw = random.Random(seed)
    reads, changes = READS.strip().splitlines(), CHANGES.strip().splitlines()
    for number in range(120):
        chosen = draw.sample(reads, draw.randint(1, 3))
        read = names_in(" ".join(chosen))
        related = [change for change in changes if names_in(change) & read] or changes
        made = [draw.choice(related if draw.random() < 0.7 else changes) for _ in range(draw.randint(2, 5))]
        lines = "".join(f"    r{i} = {text}\n" for i, text in enumerate(chosen))
        source = f"def f(x):\n    w = x * 2.0\n{lines}    return w, {', '.join(f'r{i}' for i in range(len(chosen)))}\n"
        name = f"<between calls {seed}.{number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = outcomes(source, name, made, lambda function: function)
            jitted = outcomes(source, name, made, lambda function: wf.jit(function, strict=False))
        assert plain == jitted, f"{source}\nchanges: {made}"


def test_arrays_that_become_one_are_one() -> None:
    space: dict[str, Any] = {"a": np.ones(3), "b": np.ones(3)}
    exec("def f(x):\n    return x * 2, a is b, x is a, b is not a", space)
    jitted = wf.jit(space["f"], strict=False)
    for change in ("", "b = a", "b = a.copy()", "a = b"):
        exec(change, space)
        for x in (np.ones(3), space["a"], space["b"]):
            assert str(jitted(x)) == str(space["f"](x))


def test_scalars_are_told_apart_as_objects() -> None:
    jitted = wf.jit(lambda x, a, b: (x * a, a is b), strict=False)
    one, other = np.uint8(200), np.uint8(200)
    for a, b in ((one, other), (one, one), (other, one)):
        assert jitted(np.ones(2), a, b)[1] is (a is b)


@pytest.mark.parametrize("strict", [False, True])
def test_arguments_that_may_be_written_and_others_are_told_apart(strict: bool) -> None:
    def function(x: Any) -> Any:
        return x * 2 if x.flags.writeable and x[0].flags.writeable else x, x.T.flags.carray

    jitted = wf.jit(function, strict=strict)
    locked = np.ones((2, 3))
    locked.flags.writeable = False
    for given in (np.broadcast_to(np.arange(3.0), (2, 3)), np.ones((2, 3)), locked, np.ones((2, 3)), locked):
        assert repr(jitted(given)) == repr(function(given))


class Slotted:
    __slots__ = ("__dict__", "slot")


class Answering:
    """Properties that find no attribute, and what is asked for instead."""

    def __init__(self, value: float) -> None:
        self.value = value

    @property
    def positive(self) -> float:
        if self.value < 0:
            raise AttributeError("positive")
        return self.value

    def __getattr__(self, name: str) -> float:
        if name.startswith("__"):
            raise AttributeError(name)
        return 10.0 * len(name)


def test_slots_and_cells_that_were_empty_are_looked_at_again() -> None:
    held = Slotted()
    cell: float
    if False:
        cell = 0.0

    def fill(value: float) -> None:
        nonlocal cell
        held.slot = cell = value

    def function(x: Any) -> Any:
        try:
            return x * getattr(held, "slot", 7.0) + cell
        except NameError:
            return x * getattr(held, "slot", 7.0)

    x, jitted = np.ones(3), wf.jit(function)
    np.testing.assert_array_equal(jitted(x), function(x))
    for value in (2.0, 3.0):
        fill(value)
        np.testing.assert_array_equal(jitted(x), function(x))
    del held.slot
    np.testing.assert_array_equal(jitted(x), function(x))
    assert jitted.ways["compiled"] == 4


@pytest.mark.parametrize("read", [lambda held: held.scale, lambda held: vars(held)["scale"]])
def test_another_dictionary_of_an_object_is_seen(read: Any) -> None:
    first, second = Slotted(), Slotted()
    first.scale, second.scale = 2.0, 3.0
    given = wf.jit(lambda held, x: read(held) * x)
    outside = wf.jit(lambda x: read(first) * x)
    for space in ({"scale": 2.0}, {"scale": 4.0}, vars(second)):
        first.__dict__ = space
        for held in (first, second):
            np.testing.assert_array_equal(given(held, np.ones(2)), np.full(2, held.scale))
        np.testing.assert_array_equal(outside(np.ones(2)), np.full(2, first.scale))


@pytest.mark.parametrize("read", [lambda held: held.positive, lambda held: getattr(held, "positive", 1.0)])
def test_getattr_answers_for_properties_that_find_nothing(read: Any) -> None:
    held = Answering(2.0)
    jitted = wf.jit(lambda held, x: read(held) * x)
    for value in (2.0, -2.0, 3.0):
        held.value = value
        np.testing.assert_array_equal(jitted(held, np.ones(2)), read(held) * np.ones(2))


class Root:
    factor = 2.0


class Other:
    factor = 5.0


class Leaf(Root):
    pass


class Registering(abc.ABC):
    @abc.abstractmethod
    def method(self) -> None: ...


def scaled(x: Any, *, by: float = 2.0) -> Any:
    return x * by


def is_registered(x: Any) -> Any:
    return x * (isinstance(LEAF, Registering) + 2 * issubclass(Leaf, (int, Registering)))


LEAF = Leaf()


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (lambda x: LEAF.factor * x, lambda: setattr(Leaf, "__bases__", (Other,))),
        (lambda x: scaled(x), lambda: scaled.__kwdefaults__.update(by=3.0)),
        (is_registered, lambda: Registering.register(Leaf)),
        (lambda x: x * len(type(LEAF).__name__), lambda: setattr(Leaf, "__name__", "L")),
        (lambda x: x * len(scaled.__doc__ or ""), lambda: setattr(scaled, "__doc__", "text")),
        (lambda x: x * scaled.__code__.co_argcount, lambda: setattr(scaled, "__code__", (lambda x, y: x).__code__)),
        (lambda x: x * callable(LEAF), lambda: setattr(Leaf, "__call__", len)),
    ],
)
def test_changes_of_what_classes_and_functions_are_made_of_are_seen(function: Any, change: Any) -> None:
    x, jitted = np.ones(2), wf.jit(function)
    for _ in range(2):
        np.testing.assert_array_equal(jitted(x), before := function(x))
    change()
    np.testing.assert_array_equal(jitted(x), function(x))
    assert not np.array_equal(function(x), before)
