"""What a function does to lists, dictionaries, sets, queues and iterators of others is done to them, by whatever it is done,
and containers that hold each other stay the same objects."""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import itertools
import linecache
import math
import operator
import statistics
from typing import Any

import numpy as np
import pytest

import weftwork as wf

MODULES = {
    module.__name__: module
    for module in (bisect, collections, copy, functools, heapq, itertools, math, operator, statistics)
}
# x and y: arrays; l, l2 and h: lists, h is sorted; d: a dictionary; s: a set; o: an object; q: a deque; c: a Counter; it: an iterator.
STATEMENTS = """
operator.setitem(l, 0, x)
operator.setitem(d, 'a', x)
operator.delitem(l, 0)
operator.delitem(d, 'a')
operator.iconcat(l, [x])
operator.iadd(l, [1])
operator.imul(l, 2)
operator.ior(d, {'z': 1})
operator.ior(s, {9})
operator.iand(s, {1})
operator.isub(s, {1})
operator.ixor(s, {1, 8})
operator.methodcaller('append', 5)(l)
operator.methodcaller('sum')(x)
operator.methodcaller('pop')(l)
operator.methodcaller('update', {'q': x})(d)
operator.attrgetter('v')(o)
operator.itemgetter('a')(d)
operator.itemgetter(0, 1)(l)
operator.setitem(y, 0, 7.0)
operator.iadd(y, 1.0)
operator.delitem(l, slice(0, 2))
operator.countOf(l, 3)
operator.call(l.append, 4)
heapq.heappush(h, 1.5)
heapq.heappush(h, float(x[0]))
heapq.heappop(h)
heapq.heapify(l2)
heapq.heapreplace(h, 9.0)
heapq.heappushpop(h, 3.5)
heapq.nsmallest(2, h)
heapq.nlargest(2, h, key=lambda e: -e)
heapq.merge(h, [1])
bisect.insort(h, 2.5)
bisect.insort_left(h, 2.5)
bisect.bisect(h, 2.5)
bisect.bisect_left(h, float(x[0]))
bisect.insort(h, 2.5, key=lambda e: e)
list.append(l, 1)
list.sort(l2)
dict.update(d, {'k': 1})
dict.pop(d, 'a')
dict.setdefault(d, 'n', x)
dict.__setitem__(d, 'n', x)
list.__setitem__(l, 0, x)
list.__iadd__(l, [1])
set.add(s, 7)
set.update(s, {5})
set.discard(s, 1)
setattr(o, 'v', x)
object.__setattr__(o, 'v', x)
o.__setattr__('v', x)
o.__dict__['v'] = x
vars(o)['v'] = x
o.__dict__.update(v=x)
delattr(o, 'v')
object.__delattr__(o, 'v')
collections.deque.append(q, 1)
collections.Counter.update(c, 'ab')
collections.deque.rotate(q)
list(map(l.append, [1, 2]))
[l.append(e) for e in (1, 2)]
list(map(operator.setitem, [d, d], 'pq', [1, 2]))
list(itertools.starmap(l.insert, [(0, 1)]))
functools.reduce(lambda a, b: a.append(b) or a, [1, 2], l)
functools.partial(l.append, 3)()
next(it)
list(itertools.islice(it, 1))
list(zip(it, it))
dict(zip('ab', it))
sum(it)
max(it)
2.0 in it
sorted(it)
list(itertools.takewhile(lambda e: e < 2, it))
list(itertools.chain(it, [1]))
collections.deque(it, maxlen=0)
set(it)
[*it]
a_, *b_ = it
for e in it: break
''.join(map(str, it))
any(e > 1 for e in it)
any(map(lambda e: e > 1, it))
all(it)
copy.copy(it)
iter(it) is it
list(enumerate(it))
list(filter(None, it))
list(reversed(l)), l.reverse()
it.__next__()
list(itertools.tee(it)[0])
list(itertools.pairwise(it))
list(itertools.accumulate(it))
dict.fromkeys(it)
min(it, default=0)
tuple(it)
list(itertools.zip_longest(it, [1]))
list(itertools.product(it, [1]))
list(itertools.combinations(it, 2))
frozenset(it)
bytes(map(int, it))
l.extend(it)
l[1:1] = it
d.update(zip('uv', it))
s.update(it)
s.difference_update(it)
q.extend(it)
l += it
statistics.mean(it)
math.fsum(it)
math.prod(it)
for i in range(20): heapq.heappush(h, 1.0)
for i in range(20): bisect.insort(l2, 1)
for i in range(20): list.append(l, 1)
for i in range(20): dict.update(d, {'z': 1})
for i in range(20): heapq.heapreplace(h, 5.0)
e = [1.0]; heapq.heappush(e, 0.5); r = e
e = []; [heapq.heappush(e, v) for v in (3, 1, 2)]; r = [heapq.heappop(e) for _ in range(3)]
e = [2, 1]; bisect.insort(e, 5); list.append(e, 7); r = e
l.append(h); h.append(5); r = l[-1]
d['h'] = h; h.append(1); r = d['h']
l.extend([h]); h.append(3); r = l
l.insert(0, h); h.append(2); r = l
d.update(q=h); h.append(4); r = d
d.setdefault('h', h).append(2); r = h
l += [h]; h.append(1); r = l
t = (h,); h.append(1); r = t
q.append(h); h.append(9); r = q
e = [float(x[0])]; l.append(e); e.append(2.0); r = l
e = [float(x[0])]; d['e'] = e; e[0] = 5; r = d
e = {'v': float(x[0])}; l.append(e); e['w'] = 1; r = l
e = [h[0]]; f = [e]; e.append(1); r = f
e = [h[0]]; f = list([e]); e.append(1); r = f
e = [h[0]]; f = dict(e=e); e.append(1); r = f
e = [h[0]]; f = {**{'e': e}}; e.append(1); r = f
e = [h[0]]; f = [*[e]]; e.append(1); r = f
e = [h[0]]; f = copy.copy([e]); e.append(1); r = f
e = [h[0]]; f = sorted([e]); e.append(1); r = f
e = [h[0]]; f = max([e, [0.0]]); e.append(1); r = f
e = [h[0]]; f = tuple([e]); e.append(1); r = f
e = [h[0]]; f = next(iter([e])); f.append(1); r = e
e = [h[0]]; f = [e][0]; f.append(1); r = e
e = [h[0]]; f = dict([('e', e)]); e.append(1); r = f
e = [h[0]]; f = {'e': e}.get('e'); f.append(1); r = e
e = [h[0]]; f = {'e': e}.pop('e'); f.append(1); r = e
e = [h[0]]; f = list({'e': e}.values()); e.append(1); r = f
e = [h[0]]; f = list(zip([e])); e.append(1); r = f
e = [h[0]]; f = list(map(lambda u: u, [e])); e.append(1); r = f
e = [h[0]]; f = collections.deque([e]); e.append(1); r = f
e = [h[0]]; f = list(itertools.chain([e])); e.append(1); r = f
e = [h[0]]; f = functools.partial(lambda u: u, e)(); f.append(1); r = e
e = [h[0]]; f = [e] * 2; e.append(1); r = f
e = [h[0]]; f = [e] + [1]; e.append(1); r = f
e = [h[0]]; f = [1, 2]; f[0:1] = [e]; e.append(1); r = f
e = [h[0]]; f = list(reversed([e])); e.append(1); r = f
e = [h[0]]; f = list(enumerate([e])); e.append(1); r = f
e = [h[0]]; f = operator.itemgetter(0)([e]); f.append(1); r = e
e = [h[0]]; o.w = e; e.append(1); r = o.w
e = [h[0]]; f = (lambda *u: u)(e); e.append(1); r = f
e = [h[0]]; f = (lambda **u: u)(e=e); e.append(1); r = f
e = [h[0]]; f = e; f += [1]; r = e
e = [h[0]]; f = list(itertools.repeat(e, 2)); e.append(1); r = f
e = [h[0]]; f = e in [e], [e].index(e), [e].count(e); r = f
e = [h[0]]; f = collections.OrderedDict(e=e); e.append(1); r = f
e = [h[0]]; f = collections.defaultdict(list, e=e); e.append(1); r = f['e']
e = [h[0]]; f = min([e], key=len); f.append(1); r = e
e = [h[0]]; f = list(filter(None, [e])); e.append(1); r = f
e = [h[0]]; f = functools.reduce(lambda u, v: u, [e, 1]); f.append(1); r = e
e = [h[0]]; f = dict.fromkeys('ab', e); e.append(1); r = f
e = [h[0]]; f = list(itertools.islice([e], 1)); e.append(1); r = f
e = [h[0]]; f = [u for u in [e]]; e.append(1); r = f
e = [h[0]]; f = list(u for u in [e]); e.append(1); r = f
e = [h[0]]; f = copy.deepcopy([e]); e.append(1); r = f
e = [h[0]]; f = e.copy(), e[:], list(e); e.append(1); r = f
e = [h[0]]; f = [e]; f.sort(); e.append(1); r = f
e = [h[0]]; f = [e]; f.reverse(); e.append(1); r = f
"""
# What no operation can do with the array y, or seldom does.
ON_ARRAYS = """
y[1] = None
y += None
y.fill(None)
np.copyto(y, 'a', casting='unsafe')
np.copyto(y, np.array(['1','2','3']), casting='unsafe')
np.put(y, 0, None)
np.add.at(y, [0], '1')
y[:] = ['1', '2', '3']
y[0] = '5'
y[0] = np.array('7')
y[[0, 1]] = None
y[y > 1] = None
y[0] = b'4'
y.sort(kind='nope')
y[0] = np.datetime64('NaT')
y[0] = 1j
y.flat[0] = None
y.flat = None
np.place(y, y > 1, [None])
np.putmask(y, y > 1, None)
y.setfield(5, 'f8')
v = y.view('i8'); v[0] = 5
v = y.view('V8'); r = v.dtype
v = np.asarray(y, object); v[0] = 5
v = y.astype(object); v[0] = 7
v = np.frombuffer(y, 'u1'); r = v[0]
v = memoryview(y); v[0] = 9.0
v = y.data; v[0] = 9.0
v = y.getfield('i4'); v[0] = 1
v = y.view([('a', 'f8')]); v['a'][0] = 3
v = np.lib.stride_tricks.as_strided(y, (2,), (16,)); v[0] = 4
v = np.matrix(y, copy=False); v[0, 0] = 4
v = np.ma.array(y, copy=False); v[0] = 4
v = y.view(np.matrix); v[0, 0] = 4
v = np.require(y, requirements='W'); v[0] = 4
np.fill_diagonal(y.reshape(1, 3), None)
np.clip(y, None, '2', out=y)
np.sort(y, kind='bad')
y.byteswap(inplace=True)
y.resize(3)
y.resize((3, 1), refcheck=False)
y.partition(1, kind='bad')
y.shape = (3, 1)
y.dtype = 'i8'
y.strides = (8,)
y.flags.writeable = False
np.einsum('i->i', y)[0] = 5
np.diag(y.reshape(1, 3)); r = 1
np.vectorize(lambda e: e, otypes=[object])(y)[0] = 1
np.nditer(y, op_flags=['readwrite']).operands[0][0] = 3
for e in np.nditer(y, op_flags=['readwrite']): e[...] = 2
np.piecewise(y, [y > 1], [None])
np.select([y > 1], [None], y)
y.cumsum(out=y)
np.ldexp(y, 1, out=y)
np.frexp(y, out=(y, None))
np.modf(y, y, None)
y.clip(0, 1, out=y)
y.round(out=y)
y.take([0, 0, 0], out=y)
np.ufunc.at(np.add, y, 0, 5)
operator.setitem(y, 0, None)
y.__setitem__(0, None)
np.ndarray.__setitem__(y, 0, None)
y[0], y[1] = None, 3
"""


class Holder:
    def __init__(self) -> None:
        self.v: Any = 1.0


def fresh() -> dict[str, Any]:
    return {
        "y": np.array([3.0, 1.0, 2.0]), "l": [np.ones(2), 2.0, 3], "l2": [3.0, 1.0, 2.0], "d": {"a": 1.0, "b": 2}, "s": {1, 2, 3}, "h": [1.0, 2.0, 4.0],
        "o": Holder(), "q": collections.deque([1, 2]), "c": collections.Counter("aab"), "it": iter([float(k) for k in range(1, 9)]),
    }  # fmt: skip


def outcomes(statement: str, place: str, jit: Any) -> list[Any]:
    """What three calls give and leave behind, with the same containers as arguments or as globals."""
    body = (
        statement
        if "; " in statement or " = " in statement or statement.startswith(("for ", "l += ", "y += "))
        else f"r = {statement}"
    )
    head = f"def f(x, {', '.join(fresh())}):" if place == "argument" else "def f(x):\n    global l, y"
    text = f"{head}\n    r, w = None, x * 2.0\n    {body}\n    return r, w\n"
    name = f"<{place}: {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    values = fresh()
    space: dict[str, Any] = {"np": np, **MODULES, **values}
    exec(compile(text, name, "exec"), space)
    function, found = jit(space["f"]), []
    for turn in range(3):
        x = np.array([1.5, 2.0, 3.0]) + turn
        try:
            result = function(x, **values)[0] if place == "argument" else function(x)[0]
        except Exception as error:
            result = error
        now = values if place == "argument" else space
        left = [now[key] for key in values if key not in ("o", "it")]
        found.append((type(result).__name__, str(result).split(" at 0x")[0], str(left), str(vars(values["o"])), str(x)))
    return [*found, list(values["it"])]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("place", ["argument", "global"])
@pytest.mark.parametrize("statements", [STATEMENTS, ON_ARRAYS], ids=["containers", "arrays"])
def test_containers_are_changed_as_by_plain_calls(statements: str, place: str) -> None:
    differences = []
    for statement in statements.strip().splitlines():
        plain = outcomes(statement, place, lambda function: function)
        jitted = outcomes(statement, place, lambda function: wf.jit(function, strict=False))
        if plain != jitted:
            differences.append(f"{statement}: {jitted} for {plain}")
    assert not differences, "\n".join(differences)


def test_a_list_that_is_two_arguments_is_one() -> None:
    def function(x: Any, first: list[Any], second: list[Any]) -> Any:
        second.append(x[0])
        return len(first), first is second, x * 2

    jitted = wf.jit(function, strict=False)
    for same in (False, True, False, True):
        found = []
        for run in (function, jitted):
            first: list[Any] = [1.0]
            second = first if same else [1.0]
            found.append((str(run(np.ones(2), first, second)), first, second))
        assert found[0] == found[1]
