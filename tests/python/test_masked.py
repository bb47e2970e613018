"""x[mask] for masks that only the run knows; np.ndarray(shape) and x.shape = … in traced functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

from .agreement import close

RNG = np.random.default_rng(0)
ARRAYS: dict[str, np.ndarray] = {
    "x": RNG.normal(size=11),
    "y": RNG.normal(size=11),
    "h": RNG.normal(size=11).astype(np.float32),
    "m": RNG.normal(size=(5, 4)),
    "i": RNG.integers(-9, 9, (5, 4)),
    "t": RNG.normal(size=(3, 5, 4)),
    "c": RNG.normal(size=(5, 4)) + 1j * RNG.normal(size=(5, 4)),
    "n": np.array([1.0, np.nan, -2.0, np.inf, 3.0, -0.0, 5.0, -np.inf, 7.0, 8.0, 9.0]),
}

SNIPPETS = r"""
return x[x > 0].sum(), x[x > 0].prod()
return x[x > 0].mean(), x[y > 0].std(), x[y > 0].var(ddof=1), np.average(x[x > 0]), np.average(x[x > 0], weights=y[x > 0])
return x[x > 0].size * 2.5, x[x > 0].ndim, np.size(x[x > 0]) + 1
return np.median(x[x > 0]), np.percentile(x[y > 0], 30), np.quantile(i[i > 0], 0.2), np.median(n[x > 0]), np.nanmedian(n[y > 0])
return np.median(h[h > 0]), h[h > 0].mean(), h[h > 0] * 2.5 @ h[h > 0]
return np.nansum(n[n > 0]), np.nanmean(n[n < 9]), np.nanmax(n[n > 0], initial=0)
x[x > 0] = np.sqrt(x[x > 0]) + y[x > 0]
x[1:][y[1:] > 0] *= 2
x[::-2][y[::-2] > 0] -= 1
x[y > 0] += y[y > 0]; return x
m[m > 0] = m[m > 0] ** 2 + i[m > 0]
m.T[m.T > 0] = 5
k = m > 0; m[k] = -m[k]; m[~k] = 1
return (x[x > 0] > 0.5).any(), (x[x > 0] > 0).all(), np.count_nonzero(x[x > 0] > 0.5)
return m[y[:5] > 0].sum(axis=0), m[y[:5] > 0].mean(0), m[y[:5] > 0].sum(), m[y[:5] > 0].sum(axis=1).sum()
m[y[:5] > 0] = 7
m[y[:5] > 0, 1] = 7
m[y[:5] > 0, 1:3] = 7
m[y[:5] > 0, 1] += m[y[:5] > 0, 2]
m[y[:5] > 0] = np.array([1.0, 2, 3, 4])
m[y[:5] > 0] = m[0]
m[:, y[:4] > 0] *= 3
m[1:, y[:4] > 0] = 3
t[:, m > 0] = 2
t[1][m > 0] = t[0][m > 0]
return t[m[:3, 0] > 0].sum(axis=(1, 2)).sum(), t[:, m > 0].sum(axis=1)
return np.dot(x[x > 0], y[x > 0]), x[x > 0] @ y[x > 0], np.linalg.norm(x[x > 0]), np.vdot(c[m > 0], c[m > 0])
v = x[x > 0]; w = v; v += 1; v *= v; return x, w.sum()
return x[x > 0][y[x > 0] > 0].sum()
return m[y[:5] > 0][:, 1].sum(), m[y[:5] > 0][:, 1:3].sum(axis=0)
return np.where(x[x > 0] > 1, x[x > 0], 0).sum(), np.clip(x[x > 0], 0, 1).sum(), x[x > 0].clip(0.2).sum()
k = np.abs(i).ravel()[:11]; x[k[y > 0]] += y[y > 0]; return x
k = np.abs(i).ravel()[:11]; x[k[y > 0]] = y[y > 0]; x[-1 - k[y > 0]] = 0; return x
x[np.flatnonzero(y > 0) - 1] = 3; j = np.flatnonzero(y[:-1] > 0); x[j + 1] = x[j]; h[j] -= h[j + 1]
k = np.abs(i).ravel()[:11]; np.add.at(x, k[y > 0], y[y > 0]); np.subtract.at(h, k[y > 0], 1); np.maximum.at(y, k[x > 0], x[x > 0])
k = np.abs(i) % 4; g = np.zeros((4, 4)); np.add.at(g, (k[m > 0], k[::-1][m > 0]), m[m > 0]); return g
k = np.abs(i[:, 0]) % 5; g = np.zeros((5, 4)); g[k[y[:5] > 0]] = m[y[:5] > 0]; np.add.at(g, k[y[:5] > 0], m[y[:5] > 0]); g[:2].T[:, 1] = 5; return g
k = np.abs(i[:, 0]) % 5; g = np.zeros((4, 5)); g[:, k[y[:5] > 0]] += m.T[:, y[:5] > 0]; m[k[y[:5] > 0], 1] = m[y[:5] > 0, 0]; m[k[y[:5] > 0], 2:] = 0; return g
r, c = np.where(m > 0); g = np.zeros((5, 4)); g[r, c] = m[r, c]; g[r, (c + 1) % 4] += i[r, c]; return g
np.add.at(x, y > 0, 2 * y[y > 0]); np.add.at(x, np.flatnonzero(y > 0), y[y > 0]); np.negative.at(x, y < 0)
k = np.abs(i).ravel()[:11]; return np.bincount(k[y > 0], minlength=12), np.bincount(k[y > 0], weights=x[y > 0], minlength=10), np.bincount(np.flatnonzero(x > 0), minlength=11)
return np.histogram(x[y > 0]), np.histogram(x[y > 0], bins=4, range=(-1, 1)), np.histogram(m[m > 0], bins=[0, 0.5, 2]), np.histogram(x[y > 0], 3, density=True)
v = x[x > 0]; w = v[..., 0]; u = v[x.argmax() - x.argmax() + 1, ...]; return w, u, v[1], isinstance(w, np.ndarray), isinstance(v[0], np.ndarray)
return np.histogram(i[m > 0], bins=3), np.histogram(x[x > 100]), np.histogram(x[y > 0], weights=y[y > 0], bins=5), np.histogram(x[y > 0] > 0, bins=2)
v = m[y[:5] > 0]; return v.sum(None, None, None, True), v.max(0, None, True), v.transpose(1, 0).sum(1), np.size(v, 1), np.size(v, 0)
return x[x > 0].max(initial=-5), np.max(x[x > 0], initial=0.0), np.min(i[i > 0], initial=3)
i[i > 0] //= 2
i[i > 0] = i[i > 0] % 3
i[i > 0] = 2.7
i[i != 0] = 100 // i[i != 0]
return i[i > 0].astype(np.float32).sum(), i[i > 0].sum(dtype=np.int32), i[i > 0].mean()
return np.interp(x[x > 0], [0.0, 1, 2], [3.0, 4, 9]).sum(), np.searchsorted([0.0, 0.5, 1], x[x > 0]).sum()
return abs(x[x > 0]).sum(), (-x[x > 0]).sum(), (1 / x[x > 0]).sum(), np.exp(x[x > 0]).sum(), np.arctan2(x[x > 0], 2).sum()
return np.add.reduce(x[x > 0]), np.logical_and.reduce(x[x > 0] > 0.1), np.multiply.reduce(m[y[:5] > 0])
return m[m > m.mean()].mean(), c[c.real > 0].imag.sum(), np.conj(c[m > 0]).sum(), c[m > 0].real.mean()
m[m > 0] = x[0]
m[[True, False, True, False, False]] = 3
m[m > 0] = i[m > 0]
m[x[0] > 100 * m] = 1
r = np.zeros(4)\nfor k in range(4):\n    r[k] = y[np.logical_and(x > k - 2, x <= k)].sum()\nreturn r
r = np.zeros(20)\nfor k in range(20):\n    v = y[np.logical_and(x > k - 10, x <= k)]\n    r[k] = v.sum()\nreturn r
z = np.zeros_like(m)\nfor k in range(30):\n    inside = np.abs(z) < 2\n    z[inside] = z[inside] ** 2 + m[inside]\nreturn z
e = x[x > 100]; return e.sum(), e.mean(), e.size + 0, e.std(), np.median(e), (e > 0).all()
return x[x > 0].max(), np.min(x[x > 0]), i[i > 0].min(), np.nanmax(n[x > 0]), np.max(n[n > 0]), m[y[:5] > 0].max(axis=0), np.ptp(h[h > 0])
return (i > 0)[m > 0].max(), t[:, m > 0].min(axis=1), t[:, m > 0].max(), i[i > 0].astype(np.uint8).max(), x[x > 0].min(keepdims=True)
return np.nanmax(n[np.isnan(n)]), np.nanmin(n[np.isnan(n)]), np.nanmin(n[x > 0]), np.max(n[np.isnan(n)]), n[n < -1e300].min(), np.nanmax(np.stack([n, x], 1)[np.isnan(n)], axis=0)
return x[x > 0].argmax(), np.argmin(x[y > 0]), n[x > 0].argmax(), i[i > 0].argmin(), m[m > 0].argmax() + 1
return len(x[x > 0]) + 1, x[x > 0].sum() / len(x[x > 0]), len(t[:, m > 0])
return x[x > 0][0], x[x > 0][-1], x[x > 0][1], x[x > 0][-2], m[m > 0][3], m[y[:5] > 0][0], m[y[:5] > 0][-1, :], x[x > 0][i[0, 0] % 2]
return np.cumsum(x[x > 0]).sum(), x[x > 0].cumsum()[-1], np.cumprod(i[i > 0]).max(), np.cumsum(h[h > 0])[0]
return (x[x > 0][:, None] * y[:3]).sum(axis=0), (x[x > 0][None, :] - y[:, None]).min(axis=1), m[y[:5] > 0][..., None].sum(axis=0), m[y[:5] > 0][:, None, 1:].mean()
return np.linalg.norm(m[y[:5] > 0], axis=1).sum(), (m[y[:5] > 0] / np.linalg.norm(m[y[:5] > 0], axis=-1, keepdims=True)).sum(axis=0)
r = m[y[:5] > 0]; r = r - r.mean(axis=0, keepdims=True); return r.T @ r / len(r), (r - r.mean(axis=1, keepdims=True)).sum(axis=0)
return (m[y[:5] > 0] @ m.T).sum(axis=0), (m[y[:5] > 0] @ m[0]).max(), (m[:, 0] @ m[:, y[:4] > 0]).sum(), (m.T @ m[:, y[:4] > 0]).sum(axis=1), m[y[:5] > 0].dot(m[1]).sum()
return x[x > 0] @ y[x > 0], m[y[:5] > 0].T @ x[:5][y[:5] > 0], c[y[:5] > 0].T @ m[y[:5] > 0], m[:, y[:4] > 0] @ m.T[y[:4] > 0], n[y > 0].sum() + i[y[:5] > 0].T @ i[y[:5] > 0]
return x[np.where(x > 0)].sum(), x[np.where(x > 0)[0]].mean(), y[np.flatnonzero(x > 0)].sum(), m[np.nonzero(m > 0)].sum(), m[(m > 0).nonzero()].max()
k = np.where(x > 0)[0]; return len(k) + 0, k.size + 0, k.sum(), k.mean(), k[0], k[-1], x[k + 1 - 1].sum(), y[k[y[k] > 0]].sum(), k.dtype == np.int64, k.argmax()
a, b = np.where(m > 0); return m[a, b].sum(), (a * 10 + b).sum(), m[a].sum(axis=0), i[a, 0].sum(), t[:, a, b].sum(axis=1), x[a + b].sum(), m[b, a % 4].max(), a.max() + b.min()
m[0, y[:4] > 0] = 7; m[-1, y[:4] > 0] += m[1, y[:4] > 0]; t[0, m > 0] *= 2; t[0, y[:5] > 0, 1] = 3; t[:, 1, y[:4] > 0] -= 1; t[1, 2, y[:4] > 0] = 8
k = np.flatnonzero(y[:4] > 0); m[0, k] = 7; t[:, 1, k] *= 2; return m[2, k].sum(), t[:, 0, k].sum(axis=1), t[0, 1, k].max(), t[1, k + 1, 0].sum(), t[0, y[:5] > 0].sum(axis=0)
k = np.flatnonzero(y[:5] > 0); m[k] = 7
k = np.flatnonzero(y[:5] > 0); m[k, 1] += m[k, 2]; m[k] *= 2; return m[k].sum(axis=0), m[k, 1:].sum()
x[np.where(x > 0)] = 0; m[np.nonzero(m)] += 1; i[np.where(i > 2)] = i[np.where(i > 2)] // 2
x[np.flatnonzero(y > 0)] -= y[np.flatnonzero(y > 0)]; return x
k = np.argwhere(m > 0); return k.sum(axis=0), k.mean(axis=0), k[0], k[-1], k[:, 1].max(), len(k) + 0, m[k[:, 0], k[:, 1]].sum(), np.argwhere(x > 0).ravel().sum(), np.argwhere(x > 0).flatten()[0], x[np.argwhere(x > 0)[:, 0]].sum()
return np.compress(x > 0, x).sum(), np.extract(m > 0, m).sum(), np.compress(y[:5] > 0, m, axis=0).sum(axis=0), np.compress(x > 0, y).max(), x.compress(x > 0).sum()
return np.take(x, np.flatnonzero(x > 0)).sum(), np.flatnonzero(i).sum(), np.nonzero(c)[1].sum(), np.where(n)[0].mean(), np.where(x)[0].size + 0
return np.count_nonzero(np.flatnonzero(x > 0) > 2), (np.flatnonzero(x > 0) * 0.5).sum(), np.median(np.flatnonzero(x > 0)), np.isin(np.flatnonzero(x > 0), [1, 2, 3]).sum()
k = np.flatnonzero(x > 100); return k.sum(), k.size + 0, x[k].sum(), m[:, 0][k[k < 5]].sum(), len(k) + 1, np.cumsum(x[k]).sum()
k = np.ndarray((5, 4)); k[:] = m * 2; k[0, 1] = x[3]; return k
k = np.ndarray(11, dtype=np.float32)\nfor a in range(11):\n    k[a] = x[a] * 2\nreturn k, isinstance(k, np.ndarray) or True, np.ndarray.sum is not None
k = m * 2; k.shape = (20,); k[3] = 7; return k
k = m * 2; w = k; k.shape = (2, -1); w += 1; return k, w
k = np.zeros((4, 6)); v = k[1:3]; v.shape = 12; v[5] = 3; return k
""".strip().splitlines()


def function_of(source: str) -> Callable[..., Any]:
    lines = source.replace("\\n", "\n").replace("; ", "\n").splitlines()
    namespace: dict[str, Any] = {"np": np, "wf": wf}
    exec(f"def f({', '.join(ARRAYS)}):\n" + "\n".join("    " + line for line in lines), namespace)
    return namespace["f"]


@pytest.mark.parametrize("source", SNIPPETS)
def test_as_numpy(source: str) -> None:
    function = function_of(source)
    wanted_args, *given = [[a.copy() for a in ARRAYS.values()] for _ in range(3)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = function(*wanted_args)
        for run, args in zip((wf.jit, wf.simulate), given, strict=True):
            result = run(function)(*args)
            assert (result is None) == (wanted is None)
            if wanted is not None:
                close(result, wanted)
            close(args, wanted_args)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("return x[x > 0]", "np.where"),
        ("return range(len(x[x > 0]))", "known only when the program runs"),
        ("x[x > 0] = y[y > 0]", "another mask"),
        ("return np.sort(x[x > 0])", "numpy.sort"),
        ("return x[x > 0] + y[y > 0]", "different masks"),
        ("return x[x > 0] + y", "shape (11,)"),
        ("return [v for v in x[x > 0]]", "loop"),
        ("return x[x > 0][1:]", "indexing"),
        ("return x[x > 100].max()", "zero-size array to reduction operation maximum"),
        ("return x[x > 100].argmin()", "attempt to get argmin of an empty sequence"),
        ("return x[x > 100][0]", "out of bounds"),
        ("return np.average(x[x > 100], weights=y[x > 100])", "Weights sum to zero"),
        ("return np.average(x, weights=y - y)", "Weights sum to zero"),
        ("return np.argmax(x[x > 0], keepdims=True)", "with these arguments"),
        ("return np.flatnonzero(x > 0)", "np.where"),
        ("return np.where(x[0])[0].sum()", "0d"),
        ("x[np.abs(i[0])[y[:4] > 0]] = y[:4]", "must not depend on how many"),
        ("np.add.at(x, np.abs(i[0]), y[y > 0])", "add.at with it"),
        ("return np.bincount(i[i > 0])", "without minlength"),
        ("return y[x[x > 0] > 1].sum()", "x[mask] gives"),
        ("x[x > 0][0] = 3", "changes a copy"),
        ("m[m > 0] = m", "must not depend on how many"),
        ("m[m[:, :3] > 0] = 1", "size of axis is 4"),
        ("i[i > 0] += 0.5", "cannot cast"),
        ("r = 0\nfor k in wf.range(20):\n    v = x[x > k]\nreturn v.sum()", "of the body that is read later"),
        ("x.shape = (1, 11)", "the shape of an argument cannot be set"),
        ("k = (m * 2).T; k.shape = (20,)", "which copies"),
    ],
)
def test_what_cannot_be_said(source: str, part: str) -> None:
    with pytest.raises(wf.Error) as caught:
        wf.jit(function_of(source.replace("\n", "\\n")))(*[a.copy() for a in ARRAYS.values()])
    assert part in str(caught.value), str(caught.value)
    assert "<string>" in str(caught.value)


FIXED = np.array([True, False, True] * 3 + [False] * 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[FIXED],
        lambda x: np.compress(FIXED, x) + x[0],
        lambda x: np.flatnonzero(FIXED) + x[0],
        lambda x: np.sort(x[np.where(FIXED)[0]]),
    ],
)
def test_masks_of_the_surroundings_are_known(function: Callable[..., Any]) -> None:
    x = ARRAYS["x"]
    close(wf.jit(function, strict=True)(x), function(x))


PROGRAMS = r"""
i = np.flatnonzero(x > 0); s = 0.0\nfor k in i: s += x[k]\nreturn s, len(i)
i = np.where(x > 2)[0]\nif i.size == 0: return -1\nreturn i[0]
i = np.where(x > 0)[0]\nif not len(i): return None\nreturn x[i].max()
i = np.where(x > 0)[0]; x[i] = np.arange(len(i)); return x
i = np.where(x > 0)[0]; j = i; j += 1; return i.sum(), j[0]
i = np.where(x > 0)[0]; i[:] = 0; return i.sum()
i = np.where(x[1:] > 0)[0]; x[i] = x[i + 1]; return x
i = np.where(x > 0)[0]; x[:] = 1; return i, x[i]
i = np.where(x > 0)[0]; return i[np.argsort(x[i])][:2], np.diff(i), i[::2]
v = x[x > 0]; v += 1; v[v > 1.5] = 0; return v.sum(), x
a = np.arange(len(x)); n = 0\nwhile len(a):\n    x[a] *= 1.7\n    a = a[np.abs(x[a]) < 3]\n    n += 1\nreturn n, x
v = m[y[:5] > 0]; w = v[:, 0]; w *= 2; u = v.T; u += 1; return v, w, u
v = x[y > 0]; w = v.astype(float, copy=False); w += 1; u = v.real; u *= 3; return v
v = n[y > 0]; np.nan_to_num(v, copy=False); return v.sum()
v = m[y[:5] > 0]; o = np.zeros(4); np.add.reduce(v, out=o); p = np.zeros((4, 4)); np.dot(v.T, v, p); return o, p
v = m[y[:5] > 0]; o = np.zeros(len(v)); v[:, 1].round(1, out=o); np.matmul(v, m[0], out=o); return o
v = m[y[:5] > 0]; return np.inner(v, m[:4, :4]), np.take(m, np.flatnonzero(y[:4] > 0), axis=1), np.size(v, 1), np.size(v, 0)
try: return np.average(x[x > 5], weights=y[x > 5])\nexcept ZeroDivisionError as e: return str(e)
try: return np.average(x, weights=x * 0)\nexcept ZeroDivisionError as e: return str(e)
try: return np.where(x > 5)[0][0]\nexcept IndexError as e: return str(e)
try: return x[x > 5].max()\nexcept ValueError as e: return str(e)
try: return np.argmin(x[x > 5])\nexcept ValueError as e: return str(e)
try: return x[np.where(x > 0)[0] + 8].sum()\nexcept IndexError: return -1
p = np.where((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:]))[0] + 1; return x[p].mean(), p[np.argmax(x[p])], np.mean(np.diff(p))
e = np.where(np.diff(np.sign(x)) != 0)[0] + 1; return [s.sum() for s in np.split(x, e)]
q = m[np.where(y[:5] > 0)[0]]; return np.sqrt(((q[:, None] - q[None]) ** 2).sum(axis=-1)), q.min(axis=0), q[:, 0].argmax()
k = np.where(x > 0)[0]; a = np.column_stack([np.ones(11), y])[k]; return np.linalg.solve(a.T @ a, a.T @ x[k])
return 3 in np.flatnonzero(x > 0), list(np.where(x > 0)[0]), isinstance(np.where(x > 0)[0], np.ndarray), np.quantile(x[x > 0], 0.3)
x[x > 0] = np.sort(x[x > 0]); m[m > 0] = np.unique(m[m > 0]); return x, m
m[y[:5] > 0, 1] = np.cumsum(np.sort(m[y[:5] > 0, 0])); v = x[::2]; v[v > 0] += np.sort(v[v > 0]); return v
return [m[i, j] for i, j in np.argwhere(m > 0)], np.argwhere(x > 0), np.argwhere(x > 0).squeeze(), np.argwhere(x > 0).tolist(), np.argwhere(m > 9)
return np.delete(x, np.where(x > 0)[0]), np.stack(np.nonzero(m > 0), axis=1), np.concatenate([[0], np.flatnonzero(x > 0), [11]])
""".strip().splitlines()


@pytest.mark.parametrize("source", PROGRAMS)
def test_positions_in_any_program(source: str) -> None:
    """However a program goes on with positions and selected elements, it does as with NumPy, whatever their number."""
    function = function_of(source)
    jitted = wf.jit(function, strict=False)
    for seed in range(4):
        draw = np.random.default_rng(seed)
        given, ours = [[a.copy() for a in ARRAYS.values()] for _ in range(2)]
        given[0][...] = ours[0][...] = draw.normal(size=11)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, got = function(*given), jitted(*ours)
        assert type(got) is type(expected)
        if isinstance(expected, (str, type(None))):
            assert got == expected
        else:
            close(got, expected)
        close(ours, given)


@pytest.mark.parametrize("shape", [(1, 2), (1, 1), (2,), ()])
def test_values_for_a_mask_are_in_a_row(shape: tuple[int, ...]) -> None:
    def write(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        x[x > 0] = v
        return x

    x, v = np.array([1.0, 2.0, -3.0]), np.ones(shape)
    jitted = wf.jit(write, strict=False)
    if len(shape) > 1:
        for function in (write, jitted):
            with pytest.raises(TypeError, match="0 or 1-dimensional"):
                function(x.copy(), v)
    else:
        close(jitted(x.copy(), v), write(x.copy(), v))
