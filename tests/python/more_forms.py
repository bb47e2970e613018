"""Forms of selecting, writing, searching, counting and mathematical functions; see forms.py."""

from __future__ import annotations

import numpy as np
from drawing import Drawing
from forms import FORMS, Form, forms, new_shape, simple

# -- indexing, selecting and writing -------------------------------------------------------------------------------


def get_item(d: Drawing) -> str:
    x = d.array()
    return f"{x}[{d.index(x)}]"


def values_for(d: Drawing, x: str, index: str) -> str:
    """What can be assigned to a part of an array."""
    try:
        part = d.of(f"{x}[{index}]")
    except (IndexError, ValueError):
        return "1"
    return (
        d.partner(f"{x}[{index}]")
        if part.dtype.kind == "c"
        else d.partner(f"{x}[{index}]", "biuf")
        if d.chance(0.9)
        else d.scalar("c")
    )


def set_item(d: Drawing) -> str:
    x = d.array(ndim=(1, 3))
    index = d.index(x)
    return f"{x}[{index}] = {values_for(d, x, index)}"


def in_place(d: Drawing) -> str:
    """x[…] op= y, with NumPy's casts."""
    x = d.array(ndim=(1, 3))
    index = d.index(x)
    target = f"{x}[{index}]" if d.chance(0.7) else x
    operator = (
        d.pick("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>")
        if d.of(x).dtype.kind in "biu"
        else d.pick("+", "-", "*", "/")
    )
    return f"{target} {operator}= {values_for(d, x, index if target != x else '...')}"


def flat(d: Drawing) -> str:
    x = d.array()
    size = d.of(x).size
    index = d.pick(d.slice(size), str(d.integer(-size, max(size - 1, 0))), str([0, size - 1]) if size else ":")
    return f"{x}.flat[{index}]" if d.chance(0.5) else f"{x}.flat[{index}] = {d.scalar('biuf')}"


def places(d: Drawing, x: str, axis: int | None, count: int | None = None) -> str:
    """Indices of an axis, or of all elements."""
    array = d.of(x)
    extent = array.size if axis is None else array.shape[axis]
    shape = (count,) if count is not None else d.shape(0, 2)
    size = int(np.prod(shape)) if extent else 0
    values = np.array([d.integer(-extent, extent - 1) for _ in range(size)], int)
    values = values.reshape(shape if extent else (0,))
    return d.given(values, d.dtype("i")) if d.chance(0.7) else repr(values.tolist())


def take(d: Drawing) -> str:
    x = d.array()
    axis = d.integer(0, d.of(x).ndim - 1) if d.of(x).ndim and d.chance(0.7) else None
    text = f"{x}.take({places(d, x, axis)}" if d.chance(0.3) else f"np.take({x}, {places(d, x, axis)}"
    text += ("" if axis is None else f", axis={axis}") + d.opt("mode='wrap'", "mode='clip'", p=0.3)
    return text + d.out(text + ")", 0.05) + ")"


def take_along_axis(d: Drawing) -> str:
    x = d.array(ndim=(1, 3))
    axis = d.integer(0, d.of(x).ndim - 1)
    shape = list(d.of(x).shape)
    extent, shape[axis] = shape[axis], d.integer(0, 3)
    index = d.given(
        np.array([d.integer(-extent, extent - 1) if extent else 0 for _ in range(int(np.prod(shape)))], int).reshape(
            shape
        )
    )
    return f"np.take_along_axis({x}, {index}, axis={axis})"


def mode_of(d: Drawing) -> str:
    return d.opt("mode='wrap'", "mode='clip'", p=0.3)


def put(d: Drawing) -> str:
    x = d.array(plain=True)
    text = f"{places(d, x, None, d.integer(0, 3))}, {d.array('biuf', ndim=(0, 1))}{mode_of(d)}"
    return f"{x}.put({text})" if d.chance(0.3) else f"np.put({x}, {text})"


def put_along_axis(d: Drawing) -> str:
    x = d.array(ndim=(1, 2), plain=True)
    index = f"np.argmax({x}, axis=-1, keepdims=True)" if d.of(x).shape[-1] else "np.zeros((1,) * 2, int)"
    return f"np.put_along_axis({x}, {index}, {d.scalar('biuf')}, axis=-1)"


def copyto(d: Drawing) -> str:
    x = d.array()
    return (
        f"np.copyto({x}, {d.partner(x)}"
        + (f", where={d.mask(x)}" if d.chance(0.5) else "")
        + d.opt("casting='unsafe'", "casting='safe'")
        + ")"
    )


def where(d: Drawing) -> str:
    x = d.array()
    return f"np.where({d.partner(x, 'b') if d.chance(0.8) else d.partner(x)}, {x}, {d.partner(x)})"


def choose(d: Drawing) -> str:
    x = d.array()
    count = d.integer(1, 3)
    index = d.given(np.random.default_rng(d.integer(0, 99)).integers(0, count, d.partner_shape(d.of(x).shape)))
    return f"np.choose({index}, [{', '.join(d.pick(x, d.partner(x)) for _ in range(count))}]{mode_of(d)})"


def select(d: Drawing) -> str:
    x = d.array()
    count = d.integer(1, 3)
    conditions, choices = ([d.mask(x) for _ in range(count)], [d.pick(x, d.partner(x)) for _ in range(count)])
    return f"np.select([{', '.join(conditions)}], [{', '.join(choices)}]{d.opt('default=1', 'default=-0.5', p=0.3)})"


def compress(d: Drawing) -> str:
    x = d.array(ndim=(1, 3))
    axis = d.integer(0, d.of(x).ndim - 1) if d.chance(0.7) else None
    count = d.of(x).size if axis is None else d.of(x).shape[axis]
    mask = [d.chance(0.5) for _ in range(d.integer(0, count))]
    return f"np.compress(np.array({mask}, bool), {x}{'' if axis is None else f', axis={axis}'})"


def delete(d: Drawing) -> str:
    x = d.array(ndim=(1, 3))
    axis = d.integer(0, d.of(x).ndim - 1) if d.chance(0.8) else None
    extent = d.of(x).size if axis is None else d.of(x).shape[axis]
    inside = lambda: d.integer(-extent, extent - 1) if extent else 0
    what = d.pick(str(inside()), str([inside(), inside()]), f"np.s_[{d.slice(extent)}]", "[]")
    return f"np.delete({x}, {what}, axis={axis})"


def insert(d: Drawing) -> str:
    x = d.array(ndim=(1, 3))
    axis = d.integer(0, d.of(x).ndim - 1) if d.chance(0.8) else None
    extent = d.of(x).size if axis is None else d.of(x).shape[axis]
    at = d.pick(
        str(d.integer(-extent, extent)),
        str([d.integer(-extent, extent), d.integer(-extent, extent)]),
        f"[{d.integer(-extent, extent)}]",
    )
    return f"np.insert({x}, {at}, {d.scalar('biuf') if d.chance(0.6) else x + '[:1]'}, axis={axis})"


def clip(d: Drawing) -> str:
    x = d.array("biuf")
    low, high = (d.partner(x, d.of(x).dtype.kind) if d.chance(0.6) else d.partner(x, "iuf") for _ in range(2))
    text = f"{x}.clip(" if d.chance(0.3) else f"np.clip({x}, "
    text += d.pick(f"{low}, {high}", f"{low}, None", f"None, {high}", f"max={high}", f"min={low}", "None, None")
    return text + d.out(text + ")", 0.1) + ")"


def bits_view(d: Drawing) -> str:
    x = d.array("biu", plain=True)
    return f"{x}.view({d.dtype_text('iuf')})" if d.chance(0.5) else f"{x}.view({d.dtype_text('iu')})"


def method_reshape(d: Drawing) -> str:
    x = d.array()
    return f"{x}.reshape({new_shape(d, x)}" + d.opt("order='F'", "order='A'", p=0.3) + ")"


forms(
    getitem=get_item,
    setitem=set_item,
    inplace=in_place,
    ndarray__flat=flat,
    take=take,
    take_along_axis=take_along_axis,
    put=put,
    put_along_axis=put_along_axis,
)
forms(
    copyto=copyto,
    where=where,
    choose=choose,
    select=select,
    compress=compress,
    delete=delete,
    insert=insert,
    clip=clip,
    ndarray__view=bits_view,
    ndarray__reshape=method_reshape,
)
SELECTING = {
    "nonzero": "np.nonzero({x})[0].sum() | np.nonzero({x} > 0)[-1].size | np.where({x})[-1].max(initial=-1) | {x}[np.nonzero({x})].size", "argwhere": "np.argwhere({x}).sum() | np.argwhere({x} > 0).sum(axis=0) | len(np.argwhere({x})) | np.argwhere({x})[:, -1].max(initial=-1)", "flatnonzero": "np.flatnonzero({x}).sum() | len(np.flatnonzero({x})) | np.cumsum(np.flatnonzero({x})).sum() | np.flatnonzero({x} != 0).argmax()",
    "extract": "np.extract(np.ones({x}.shape, bool), {x})", "putmask": "np.putmask({x}, {x} > 0, {s}) | np.putmask({x}, {x} != {x}, [1, 2])", "place": "np.place({x}, {x} > 0, [{s}])",
    "pad": "np.pad({x}, 1) | np.pad({x}, ((1, 2),) * {x}.ndim, constant_values=3) | np.pad({x}, {n}, mode='edge') | np.pad({x}, 1, mode='wrap') | np.pad({x}, (0, 1), mode='reflect')", "fill_diagonal": "np.fill_diagonal({x}, 3) | np.fill_diagonal({x}, {s}) | np.fill_diagonal({x}, 1, wrap=True)", "piecewise": "np.piecewise({x}, [{m}], [1, 2]) | np.piecewise({x}, [{x} > 0, {x} < 0], [-1, 1.5, 3])",
    "isin": "np.isin({x}, {y}) | np.isin({x}, [1, 2]) | np.isin({x}, {y}, invert=True)", "nan_to_num": "np.nan_to_num({x}) | np.nan_to_num({x}, nan=1, posinf=2) | np.nan_to_num({x}, copy=False)",
    "iscomplex": "np.iscomplex({x})", "isreal": "np.isreal({x})", "real_if_close": "np.real_if_close({x}.real)", "fix": "np.fix({x}.real)", "isclose": "np.isclose({x}, {v}) | np.isclose({x}, {y}, equal_nan=True) | np.isclose({x}, {x}, rtol=0.5)",
    "allclose": "np.allclose({x}, {v}) | np.allclose({x}, {x}, equal_nan=True)", "array_equal": "np.array_equal({x}, {y}) | np.array_equal({x}, {x}, equal_nan=True) | np.array_equal({x}, {v})", "array_equiv": "np.array_equiv({x}, {v})",
    "diff": "np.diff({x}) | np.diff({x}, {n}, axis={axis}) | np.diff({x}, prepend=0, append={s})", "round": "np.round({x}) | {x}.round({n})", "around": "np.around({x}, {n})",
}  # fmt: skip
forms(**{n: simple(t, nice=n in ("diff", "round", "around")) for n, t in SELECTING.items()})
METHODS = {
    "fill": "{x}.fill({s})", "flatten": "{x}.flatten() | {x}.flatten({order})", "byteswap": "{x}.astype('i4').byteswap()", "conj": "{x}.conj()", "conjugate": "{x}.conjugate()", "device": "{x}.device", "dtype": "np.zeros(2, {x}.dtype)",
    "itemsize": "{x}.itemsize", "nbytes": "{x}.nbytes", "ndim": "{x}.ndim", "shape": "{x}.shape", "size": "{x}.size", "ptp": "np.ptp({x}.real)", "argsort": "{x}.argsort(kind='stable') | {x}.argsort({axis}, kind='stable')", "sort": "{x}.sort() | {x}.sort(axis={axis})",
    "partition": "{x}[..., :1].partition(0)", "argpartition": "{x}.reshape(-1)[:1].argpartition(0)", "searchsorted": "np.sort({x}, axis=None).searchsorted({v})", "dot": "{x}.dot({s})", "choose": "({x} > 0).choose([{x}, {v}])", "compress": "{x}.compress([True, False][:{x}.size])",
    "trace": "{x}.trace() | {x}.trace({k})", "T": "{x}.T", "flags": "{x}.flags.c_contiguous, {x}.flags['F'], {x}.flags.forc", "strides": "np.array({x}.strides)", "mT": "{x}.mT", "real": "{x}.real | {x}.real.__setitem__(..., 2)", "imag": "{x}.imag | {x}.imag.__setitem__(..., {s})",
}  # fmt: skip
FORMS.update({f"ndarray.{n}": (simple(t, "biu" if n in ("trace", "dot") else "biufc"), 0) for n, t in METHODS.items()})

# -- sorting, searching, counting ----------------------------------------------------------------------------------

SORTING = {
    "sort": "np.sort({x}) | np.sort({x}, axis={axis}) | np.sort({x}, None)", "argsort": "np.argsort({x}, kind='stable') | np.argsort({x}, axis={axis}, stable=True)", "sort_complex": "np.sort_complex({x})", "lexsort": "np.lexsort((1 * {x}, 1 * {y})) | np.lexsort((1 * {x},), axis={axis})",
    "partition": "np.partition({x}, 0)[..., :1] | np.sort(np.partition({x}, -1, axis={axis}), axis={axis})", "argpartition": "np.take_along_axis({x}, np.argpartition({x}, 0, axis=-1), -1)[..., :1]",
    "searchsorted": "np.searchsorted(np.sort({x}, None), {v}) | np.searchsorted(np.sort({y}.ravel()), {x}, side='right')",
}  # fmt: skip
forms(**{n: simple(t) for n, t in SORTING.items()})
COUNTING = {
    "digitize": "np.digitize({x}, [-1, 0, 2.5]) | np.digitize({x}, [3, 1], right=True)", "bincount": "np.bincount(np.abs({x}.ravel()) % 5, minlength=6)", "histogram": "np.histogram({x}, 4, (-4, 4)) | np.histogram({x}, [-2, 0, 1, 5]) | np.histogram({x}, 3)",
    "histogram_bin_edges": "np.histogram_bin_edges({x}, 4, (-4, 4)) | np.histogram_bin_edges({x}, 3)", "histogram2d": "np.histogram2d({x}.ravel(), {y}.ravel(), 3, [(-2, 2), (-3, 3)])", "histogramdd": "np.histogramdd(({x}.ravel(), {y}.ravel()), 2, [(-2, 2), (-3, 3)])",
    "packbits": "np.packbits({x} > 0) | np.packbits({x} > 0, axis={axis}, bitorder='little')", "unpackbits": "np.unpackbits({x}.astype('u1')) | np.unpackbits(np.append({x}.astype('u1'), 7), count=5)", "unravel_index": "np.unravel_index(np.abs({x}) % 6, (2, 3))",
    "ravel_multi_index": "np.ravel_multi_index((np.abs({x}) % 2, np.abs({y}) % 3), (2, 3)) | np.ravel_multi_index(({x}, {y}), (2, 3), mode='wrap')",
}  # fmt: skip
#: Of bfloat16: what ml_dtypes has loops for, in float32.
forms(1, bfloat16=simple("{x} + {y} | {x} - {y} | {x} * {y} | {x} / {y} | np.maximum({x}, {y}) | -{x} | abs({x}) | {x} < {y} | {x} == {y} | np.sqrt({x}) | np.exp({x}) | np.tanh({x}) | {x} * 2 | {x} + 1.5 | {x}.T | {x}.astype('f4')"
                         " | {x}.astype('i4') | np.where({x} > 1, {x}, {y}) | np.floor({x}) | np.isnan({x}) | {x}.astype('f8') + 1 | {x} * {x}.astype('f4') | np.sign({x}) | np.max({x}) | np.sum({x}.astype('f4')) | np.square({x}) | np.concatenate([{x}, {y}], None)"
                         " | np.isfinite({x}) | {x}[..., ::-1] | np.logical_not({x}) | np.minimum({x}, 2) | np.rint({x}) | np.trunc({x}) | np.zeros_like({x}) | {x}.__setitem__(..., 3) | {x}.__iadd__({y}) | {x}.__imul__(2.5)", "V"))  # fmt: skip


def python_numbers(d: Drawing) -> str:
    """Python numbers that operators combine before an array does."""
    x, f = d.array(), d.bind(d.pick(0.5, -1.25, 3.0))
    weak = d.pick(
        "{f} * 2 + 1",
        "-{f}",
        "abs({f})",
        "{f} ** 2",
        "{f} > 0",
        "({f} < 1) + 1",
        "{f} // 2",
        "{f} % 2",
        "{f} * 1j",
        "divmod({f}, 2)[1]",
        "np.abs({f})",
        "np.add({f}, 1)",
        "np.float32({f})" if d.chance(0.2) else "{f} - 2",
        "+{f}",
    )
    return f"({weak.format(f=f)}){d.pick(' * ', ' + ', ' - ')}{x}" if d.chance(0.8) else weak.format(f=f)


forms(1e-9, python__numbers=python_numbers)
SMALL = {name: simple(t, "i", nice=True) for name, t in COUNTING.items()}


def small(form: Form) -> Form:
    """With integers that are not extreme."""

    def drawn(d: Drawing) -> str:
        shape = d.shape(0, 2)
        values = np.array([d.integer(-9, 9) for _ in range(int(np.prod(shape)))], d.dtype("i")).reshape(shape)
        d.given(values)
        return form(d)

    return drawn


forms(**{n: small(t) for n, t in SMALL.items()})

# -- mathematics ---------------------------------------------------------------------------------------------------


def matrices(
    template: str, square: bool = False, batched: bool = True, kinds: str = "fc", regular: bool = False
) -> Form:
    """A template with {a} a matrix (or a stack of them), {b} one that it can be multiplied with, {v} a vector, {s} symmetric positive definite."""

    def form(d: Drawing) -> str:
        text = template.split(" | ")[d.integer(0, template.count(" | "))]
        n, m, k = d.integer(1, 4), d.integer(1, 4), d.integer(1, 4)
        batch = d.shape(0, 1) if batched and d.chance(0.4) else ()
        m = n if square else m
        dtype = np.dtype(d.pick("f4", "f8", "f8", "c8", "c16")) if kinds == "fc" else d.dtype(kinds)
        make = lambda shape: d.bind(d.laid_out(d.elements(shape, dtype, True)))
        given = {"n": str(n)}
        if "{a}" in text:
            values = d.elements((*batch, n, m), dtype, True)
            given["a"] = d.bind((values + 9 * np.eye(n, m)).astype(dtype)) if regular else d.bind(d.laid_out(values))
        given.update(
            {
                name: make(shape)
                for name, shape in (("b", (*batch, m, k)), ("v", (m,)), ("w", (n,)), ("bs", (*batch, m)))
                if "{" + name + "}" in text
            }
        )
        if "{s}" in text:
            values = d.elements((*batch, n, n), dtype, True)
            given["s"] = d.bind((values @ values.conj().swapaxes(-1, -2) + np.eye(n) * 4).astype(dtype))
        return text.format(**given)

    return form


PRODUCTS = {
    "matmul": "np.matmul({a}, {b}) | {a} @ {b} | {a} @ {v} | {w} @ {a} | {v} @ {v}", "linalg.matmul": "np.linalg.matmul({a}, {b})", "dot": "np.dot({a}, {b}) | np.dot({v}, {v}) | np.dot({a}, {v}) | {w}.dot({a})", "inner": "np.inner({v}, {v}) | np.inner({v}, {a})", "outer": "np.outer({v}, {w})",
    "linalg.outer": "np.linalg.outer({v}, {w})", "vdot": "np.vdot({v}, {v}) | np.vdot({a}, {a})", "vecdot": "np.vecdot({v}, {v}) | np.vecdot({a}, {v})", "linalg.vecdot": "np.linalg.vecdot({a}, {v}) | np.linalg.vecdot({a}, {a}, axis=0)", "matvec": "np.matvec({a}, {v})", "vecmat": "np.vecmat({w}, {a})",
    "tensordot": "np.tensordot({a}, {v}, 1) | np.tensordot({a}, {a}, (0, 0)) | np.tensordot({v}, {w}, 0)", "linalg.tensordot": "np.linalg.tensordot({a}, {v}, axes=1)", "kron": "np.kron({v}, {w}) | np.kron({a}, {v})", "trace": "np.trace({a}) | np.trace({a}, 1)", "linalg.trace": "np.linalg.trace({a}, offset=-1)",
    "einsum": "np.einsum('ij,j', {a}, {v}) | np.einsum('...ij,...jk->...ik', {a}, {b}) | np.einsum('...ij->...ji', {a}) | np.einsum('i,j->ij', {v}, {w}) | np.einsum('...ij->...', {a}) | np.einsum('i,i,i', {v}, {v}, {v}) | np.einsum({v}, [0], {v}, [0], [0]) | np.einsum('ij,ij->j', {a}, {a}, optimize=True)",
    "einsum_path": "np.einsum_path('i,i', {v}, {v})[0]", "cross": "np.cross({a}[..., :1].repeat(3, -1), {a}[..., -1:].repeat(3, -1) + [1, 2, 3])", "linalg.cross": "np.linalg.cross(np.ones(3), {a}[..., :1].repeat(3, -1))", "linalg.multi_dot": "np.linalg.multi_dot([{w}, {a}, {v}])",
    "convolve": "np.convolve({v}, {w}) | np.convolve({v}, {w}, 'same') | np.convolve({w}, {v}, 'valid')", "correlate": "np.correlate({v}, {w}) | np.correlate({v}, {w}, 'full')",
}  # fmt: skip
forms(
    4,
    **{
        n.replace(".", "__"): matrices(
            t,
            batched="...ij" in t or "matmul" in n or ("multi" not in n and n in ("matvec", "linalg.trace")),
            kinds="biufc",
        )
        for n, t in PRODUCTS.items()
    },
)
SYSTEMS = {
    "solve": "np.linalg.solve({a}, {bs}[..., None]) | np.linalg.solve({a}, {v})", "inv": "np.linalg.inv({a})", "det": "np.linalg.det({a})", "slogdet": "np.linalg.slogdet({a})", "matrix_power": "np.linalg.matrix_power({a}, 3) | np.linalg.matrix_power({a}, -1) | np.linalg.matrix_power({a}, 0)",
    "cholesky": "np.linalg.cholesky({s}) | np.linalg.cholesky({s}, upper=True)", "eigvalsh": "np.linalg.eigvalsh({s})", "eigh": "np.linalg.eigh({s})[0]", "eigvals": "np.sort(np.linalg.eigvals({s}).real)", "eig": "np.sort(np.linalg.eig({s})[0].real)", "cond": "np.linalg.cond({s})",
    "matrix_rank": "np.linalg.matrix_rank({a})", "pinv": "np.linalg.pinv({a})", "lstsq": "np.linalg.lstsq({a}, {v})[0]", "tensorinv": "np.linalg.tensorinv({a}, ind=1)", "tensorsolve": "np.linalg.tensorsolve({a}, {v})",
}  # fmt: skip
for _name, _template in SYSTEMS.items():
    FORMS[f"linalg.{_name}"] = (
        matrices(_template, square=True, batched=_name not in ("lstsq", "tensorinv", "tensorsolve"), regular=True),
        400,
    )
FACTORS = {
    "qr": "np.abs(np.linalg.qr({a}, 'r'))", "svd": "np.linalg.svd({a}, compute_uv=False)", "svdvals": "np.linalg.svdvals({a})", "norm": "np.linalg.norm({a}) | np.linalg.norm({a}, axis=-1) | np.linalg.norm({v}, 1) | np.linalg.norm({a}, 'fro', axis=(-2, -1), keepdims=True) | np.linalg.norm({v}, np.inf)",
    "matrix_norm": "np.linalg.matrix_norm({a}) | np.linalg.matrix_norm({a}, ord=1)", "vector_norm": "np.linalg.vector_norm({a}) | np.linalg.vector_norm({a}, axis=0, ord=3) | np.linalg.vector_norm({v}, ord=0)",
}  # fmt: skip
for _name, _template in FACTORS.items():
    FORMS[f"linalg.{_name}"] = (matrices(_template), 100)

TRANSFORMS = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
]


def transform(name: str) -> Form:
    def form(d: Drawing) -> str:
        many = name[-1] in "2n"
        x = d.array(
            shape=tuple(d.integer(1, 5) for _ in range(d.integer(2 if many else 1, 3))),
            kinds="fiu" if name in ("rfft", "ihfft", "rfft2", "rfftn") else "iuf" if d.chance(0.4) else "fc",
            nice=True,
        )
        given = d.opt("norm='ortho'", "norm='forward'") + (
            d.opt("axes=(0, 1)", "axes=(-1,)" if name[-1] == "n" else "s=(3, 4)")
            if many
            else d.opt(f"n={d.integer(1, 7)}") + d.axes(x).replace(", axis=None", "")
        )
        return f"np.fft.{name}({x}{given})"

    return form


FORMS.update({f"fft.{n}": (transform(n), 32) for n in TRANSFORMS})
FORMS.update(
    {
        f"fft.{n}": (simple(f"np.fft.{n}({{x}}) | np.fft.{n}({{x}}, axes={{axis}})"), 0)
        for n in ("fftshift", "ifftshift")
    }
)
INEXACT = {
    "angle": "np.angle({x}) | np.angle({x}, deg=True)", "sinc": "np.sinc({x})", "i0": "np.i0({x}.real)", "unwrap": "np.unwrap({x}.real) | np.unwrap({x}.real, period=4)", "trapezoid": "np.trapezoid({x}) | np.trapezoid({x}, dx=0.5, axis={axis})", "gradient": "np.gradient({x}) | np.gradient({x}, 2.0, axis={axis})",
    "cov": "np.cov({x}) | np.cov({x}, rowvar=False) | np.cov({x}, bias=True)", "corrcoef": "np.corrcoef({x} + np.arange(3.0)[:, None] ** 2 * np.arange(4))", "linspace": "np.linspace({x}, 3, 4) | np.linspace(0, {x}, {n}) | np.linspace(0, 1, {n}, endpoint=False)", "logspace": "np.logspace({x}.real / 8, 1, 3)",
    "geomspace": "np.geomspace(abs({x}.real) + 1, 8, 4)", "polyval": "np.polyval([1, -2, 3], {x}) | np.polyval(np.append({x}, 1), 2)", "polyadd": "np.polyadd({x}.ravel(), [1, 2])", "polysub": "np.polysub([1, 2], {x}.ravel())", "polyder": "np.polyder({x}.ravel())", "polyint": "np.polyint({x}.ravel())",
    "polyfit": "np.polyfit(np.arange(5.0), np.arange(5) ** 2 + {x}.real.sum(), 1)", "poly": "np.poly({x}.real.ravel()[:3])", "vander": "np.vander({x}.ravel(), 3)", "ediff1d": "np.ediff1d({x})", "interp": "np.interp({x}.real, [-2, 0, 1.5], [3, 1, 2]) | np.interp({x}.real, [0, 1], [1, 2], left=-1, right=9)",
}  # fmt: skip
forms(
    16,
    **{
        n: simple(t, "iufc" if n not in ("linspace", "unwrap", "corrcoef") else "f", nice=True, high=2)
        for n, t in INEXACT.items()
    },
)
forms(isneginf=simple("np.isneginf({x})", "biuf"), isposinf=simple("np.isposinf({x})", "biuf"))
