"""How each function of NumPy's that can be traced is called in drawn programs: name → (form, tolerance in ulps).

A form takes a Drawing and gives the text of a call. Tolerance 0 wants every bit; others are of the greatest element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import Drawing

Form = Callable[[Drawing], str]
FORMS: dict[str, tuple[Form, float]] = {}


def forms(ulps: float = 0, **table: Form) -> None:
    for name, form in table.items():
        FORMS[name.replace("__", ".")] = (form, ulps)


# -- ufuncs --------------------------------------------------------------------------------------------------------

UFUNCS = sorted(
    n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and getattr(np, n).signature is None and n != "isnat"
)
EXACT = set(
    [
        "add",
        "subtract",
        "multiply",
        "negative",
        "positive",
        "absolute",
        "abs",
        "fabs",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "signbit",
        "copysign",
        "isnan",
        "isinf",
        "isfinite",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "bitwise_not",
        "bitwise_invert",
        "left_shift",
        "right_shift",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "bitwise_count",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "gcd",
        "lcm",
        "heaviside",
        "nextafter",
        "spacing",
        "conj",
        "conjugate",
        "frexp",
        "ldexp",
        "modf",
        "floor_divide",
        "remainder",
        "mod",
        "divmod",
        "fmod",
        "divide",
        "true_divide",
        "square",
        "sqrt",
        "reciprocal",
    ]
)
WHOLE = [
    "gcd",
    "lcm",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
    "bitwise_count",
]


def ufunc_operands(d: Drawing, name: str) -> list[str]:
    """The text of operands that mostly have a loop."""
    kinds = "biu" if name in WHOLE or "bitwise" in name else "biufc"
    first = d.array(kinds)
    if getattr(np, name).nin == 1:
        return [first if d.chance(0.9) else d.scalar(kinds)]
    if name == "ldexp":
        return [d.array("f"), d.partner(first, "i")]
    operands = [first, d.partner(first, kinds)]
    return operands if d.chance(0.7) else operands[::-1]


def ufunc_call(name: str) -> Form:
    def form(d: Drawing) -> str:
        ufunc = getattr(np, name)
        text = f"np.{name}({', '.join(ufunc_operands(d, name))}"
        if d.chance(0.06):
            text += f", dtype={d.dtype_text()}" + d.opt("casting='unsafe'", "casting='safe'", "casting='no'", p=0.3)
        # NumPy crashes on comparisons with numbers outside of the dtype that have out= and where=.
        crashes = "equal" in name or "less" in name or "greater" in name
        if ufunc.nout == 1 and not crashes and (out := d.out(text + ")", 0.15)):
            where = f", where={d.mask(out[6:])}" if d.chance(0.5) else ""
            return text + out + where + d.opt("casting='unsafe'", p=0.3) + ")"
        return text + ")"

    return form


for _name in UFUNCS:
    FORMS[_name] = (ufunc_call(_name), 0 if _name in EXACT else 4)

# -- methods of ufuncs ---------------------------------------------------------------------------------------------

FOLDS = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "fmax",
    "fmin",
    "gcd",
    "lcm",
    "subtract",
]


def fold_of(d: Drawing) -> tuple[str, str]:
    name = d.pick(*FOLDS)
    return name, d.array("biu" if name in WHOLE or name == "multiply" else "biufc", ndim=(1, 3), nice=True)


def ufunc_reduce(d: Drawing) -> str:
    name, x = fold_of(d)
    text = f"np.{name}.reduce({x}{d.axes(x, name not in ('subtract', 'gcd', 'lcm'))}{d.opt('keepdims=True')}{d.opt('initial=2', 'initial=0', p=0.15)}"
    text += f", where={d.mask(x)}" if d.chance(0.15) else ""
    text += f", dtype={d.dtype_text()}" if d.chance(0.1) else ""
    return text + d.out(text + ")", 0.1) + ")"


def ufunc_accumulate(d: Drawing) -> str:
    name, x = fold_of(d)
    text = f"np.{name}.accumulate({x}{d.axes(x, p=0.6).replace(', axis=None', '')}" + (
        f", dtype={d.dtype_text()}" if d.chance(0.1) else ""
    )
    return text + d.out(text + ")", 0.1) + ")"


def ufunc_reduceat(d: Drawing) -> str:
    name, x = fold_of(d)
    axis = d.integer(0, d.of(x).ndim - 1)
    extent = d.of(x).shape[axis]
    places = [d.integer(0, max(extent - 1, 0)) for _ in range(d.integer(1, 4))]
    return f"np.{name}.reduceat({x}, {places}, axis={axis})"


def ufunc_outer(d: Drawing) -> str:
    name = d.pick(
        "add", "multiply", "subtract", "less", "maximum", "logical_or", "arctan2" if d.chance(0.2) else "equal"
    )
    return f"np.{name}.outer({d.array('biuf', ndim=(0, 2))}, {d.array('biuf', ndim=(0, 2)) if d.chance(0.8) else d.scalar('biuf')})"


def ufunc_at(d: Drawing) -> str:
    name = d.pick("add", "multiply", "maximum", "minimum", "subtract", "negative")
    x = d.array("iuf", ndim=(1, 3), nice=True)
    index = d.index(x)
    if name == "negative":
        return f"np.negative.at({x}, np.index_exp[{index}])"
    try:
        part = d.of(f"{x}[{index}]")
    except IndexError:
        return f"np.{name}.at({x}, 0, 1)"
    value = (
        d.array("biuf", d.partner_shape(part.shape, within=True), nice=True)
        if d.chance(0.6)
        else d.pick("2", "1.5", "-3")
    )
    return f"np.{name}.at({x}, np.index_exp[{index}], {value})"


forms(
    ufunc__reduce=ufunc_reduce,
    ufunc__accumulate=ufunc_accumulate,
    ufunc__reduceat=ufunc_reduceat,
    ufunc__outer=ufunc_outer,
    ufunc__at=ufunc_at,
)

# -- reductions ----------------------------------------------------------------------------------------------------


def reduction(name: str, kinds: str = "biufc", initial: bool = False, where: bool = True, dtype: bool = False, tuples: bool = True, ddof: bool = False,
              nice: bool = False, low: int = 0) -> Form:  # fmt: skip
    """np.NAME(x, axis=…) or x.NAME(axis=…) with the keywords that it has."""

    def form(d: Drawing) -> str:
        x = d.array(kinds, nice=nice, ndim=(low, 3))
        given = d.axes(x, tuples)
        text = f"{x}.{name}({given[2:]}" if d.chance(0.3) and hasattr(np.ndarray, name) else f"np.{name}({x}{given}"
        more = d.opt("keepdims=True", "keepdims=False")
        more += f", dtype={d.dtype_text()}" if dtype and d.chance(0.15) else ""
        more += f", where={d.mask(x)}" if where and d.chance(0.2) else ""
        more += (
            d.opt("initial=0", "initial=3", "initial=-1.5", p=0.3 if initial and "where" in more else 0.08)
            if initial
            else ""
        )
        more += d.opt("ddof=1", "ddof=0.5", "correction=1", p=0.2) if ddof else ""
        text += more if not text.endswith("(") else more[2:]
        separator = "" if text.endswith("(") else ", "
        return text + (separator + out[2:] if (out := d.out(text + ")", 0.1)) else "") + ")"

    return form


forms(
    sum=reduction("sum", initial=True, dtype=True, nice=True),
    prod=reduction("prod", "biu", initial=True, dtype=True),
    all=reduction("all"),
    any=reduction("any"),
)
forms(
    **{n: reduction(n, initial=True) for n in ("max", "min", "amax", "amin")},
    **{n: reduction(n, tuples=False, where=False) for n in ("argmax", "argmin")},
)
forms(count_nonzero=reduction("count_nonzero", where=False), ptp=reduction("ptp", "iuf", where=False))
forms(
    **{n: reduction(n, "biuf", initial=True) for n in ("nanmax", "nanmin")},
    **{n: reduction(n, "iu", tuples=False, where=False, low=1) for n in ("nanargmax", "nanargmin")},
)
forms(
    nansum=reduction("nansum", initial=True, dtype=True, nice=True),
    nanprod=reduction("nanprod", "biu", initial=True, dtype=True),
)
forms(
    8,
    mean=reduction("mean", dtype=True, nice=True),
    nanmean=reduction("nanmean", dtype=True, nice=True),
    average=reduction("average", where=False, nice=True),
)
forms(16, **{n: reduction(n, dtype=True, ddof=True, nice=True) for n in ("var", "std", "nanvar", "nanstd")})
forms(2, median=reduction("median", "biuf", where=False), nanmedian=reduction("nanmedian", "biuf", where=False))


def quantile(name: str, scale: int) -> Form:
    def form(d: Drawing) -> str:
        x = d.array("iuf", ndim=(1, 3))
        q = d.pick(
            f"{0.25 * scale}",
            f"{scale}",
            f"[0, {0.5 * scale}, {0.8 * scale}]",
            f"np.array([[{0.1 * scale}], [{0.9 * scale}]])",
        )
        method = d.pick(
            "linear",
            "lower",
            "higher",
            "midpoint",
            "nearest",
            "hazen",
            "weibull",
            "inverted_cdf",
            "median_unbiased",
            "closest_observation",
        )
        return f"np.{name}({x}, {q}{d.axes(x, True)}{d.opt('keepdims=True')}{d.opt(f'method={method!r}', p=0.6)})"

    return form


forms(
    4,
    quantile=quantile("quantile", 1),
    percentile=quantile("percentile", 100),
    nanquantile=quantile("nanquantile", 1),
    nanpercentile=quantile("nanpercentile", 100),
)


def scan(name: str, kinds: str = "biufc", prod: bool = False) -> Form:
    def form(d: Drawing) -> str:
        x = d.array("biu" if prod else kinds, nice=True)
        text = f"{x}.{name}(" if d.chance(0.3) and hasattr(np.ndarray, name) else f"np.{name}({x}, "
        text += d.axes(x)[2:] + (f", dtype={d.dtype_text()}" if d.chance(0.15) else "")
        text += d.opt("include_initial=True", p=0.5) if "cumulative" in name else ""
        text = text.replace("(, ", "(").replace(", , ", ", ")
        return (text + d.out(text + ")", 0.1) + ")").replace("(, ", "(").replace(", , ", ", ")

    return form


forms(
    **{n: scan(n) for n in ("cumsum", "nancumsum", "cumulative_sum")},
    **{n: scan(n, prod=True) for n in ("cumprod", "nancumprod", "cumulative_prod")},
)

# -- shapes --------------------------------------------------------------------------------------------------------


def new_shape(d: Drawing, x: str) -> str:
    """A shape of as many elements, with -1 now and then."""
    array = d.of(x)
    factors = [e for e in array.shape if e != 1]
    d.random.shuffle(factors)
    while len(factors) > 1 and d.chance(0.5):
        factors = [factors[0] * factors[1], *factors[2:]]
    if d.chance(0.3):
        factors.insert(d.integer(0, len(factors)), 1)
    if d.chance(0.3) and factors and array.size:
        factors[d.integer(0, len(factors) - 1)] = -1
    if d.chance(0.02):
        factors.append(2)
    return str(tuple(factors)) if len(factors) != 1 or d.chance(0.5) else str(factors[0])


def reshape(d: Drawing) -> str:
    x = d.array()
    return f"np.reshape({x}, {new_shape(d, x)}" + d.opt("order='F'", "order='A'", "order='C'", "copy=True", p=0.3) + ")"


def permutation(d: Drawing, x: str) -> str:
    ndim = d.of(x).ndim
    return str(tuple(a - d.pick(0, ndim) for a in d.random.sample(range(ndim), ndim)))


def simple(template: str, kinds: str = "biufc", low: int = 0, high: int = 3, nice: bool = False) -> Form:
    """A template with {x} an array, {y} another of its shape, {axis} one of its axes, {k} a small integer, {n} one from 0, {p} a permutation."""

    def form(d: Drawing) -> str:
        x = d.array(kinds, ndim=(low, high), nice=nice)
        text = template.split(" | ")[d.integer(0, template.count(" | "))]
        given: dict[str, Any] = {"x": x, "k": d.integer(-2, 2), "n": d.integer(0, 3)}
        if "{y}" in text:
            given["y"] = d.array(kinds, d.of(x).shape, nice=nice)
        if "{v}" in text:
            given["v"] = d.partner(x, kinds, nice)
        if "{m}" in text:
            given["m"] = d.mask(x)
        if "{s}" in text:
            given["s"] = d.scalar(kinds)
        if "{axis}" in text:
            given["axis"] = d.axis(x) if d.of(x).ndim else "0"
        if "{axis2}" in text:
            given["axis2"] = d.axis(x) if d.of(x).ndim else "0"
        if "{axes}" in text:
            given["axes"] = d.axis(x, True) if d.of(x).ndim else "()"
        if "{p}" in text:
            given["p"] = permutation(d, x)
        if "{dt}" in text:
            given["dt"] = d.dtype_text()
        if "{shape}" in text:
            given["shape"] = d.shape(0, 3)
        if "{order}" in text:
            given["order"] = d.pick("'C'", "'F'", "'A'", "'K'")
        return text.format(**given)

    return form


SHAPES = {
    "transpose": "np.transpose({x}) | np.transpose({x}, {p}) | {x}.T | {x}.transpose{p}", "permute_dims": "np.permute_dims({x}, {p})",
    "swapaxes": "np.swapaxes({x}, {axis}, {axis2}) | {x}.swapaxes({axis}, {axis2})", "moveaxis": "np.moveaxis({x}, {axis}, {axis2})",
    "rollaxis": "np.rollaxis({x}, {axis}) | np.rollaxis({x}, {axis}, {n})", "squeeze": "np.squeeze({x}) | {x}.squeeze() | np.squeeze({x}, axis={axis})",
    "expand_dims": "np.expand_dims({x}, {k}) | np.expand_dims({x}, (0, -1))", "ravel": "np.ravel({x}) | {x}.ravel({order}) | np.ravel({x}, {order})",
    "flip": "np.flip({x}) | np.flip({x}, {axes})", "flipud": "np.flipud({x})", "fliplr": "np.fliplr({x})", "rot90": "np.rot90({x}) | np.rot90({x}, {k}) | np.rot90({x}, {n}, (1, 0))",
    "roll": "np.roll({x}, {k}) | np.roll({x}, {k}, {axis}) | np.roll({x}, (1, {k}), (0, {axis}))", "broadcast_to": "np.broadcast_to({x}, (2, *{x}.shape)) | np.broadcast_to({x}, {shape})",
    "broadcast_arrays": "np.broadcast_arrays({x}, {v}) | np.broadcast_arrays({x})", "atleast_1d": "np.atleast_1d({x}) | np.atleast_1d({x}, {s})", "atleast_2d": "np.atleast_2d({x})",
    "atleast_3d": "np.atleast_3d({x})", "concatenate": "np.concatenate(({x}, {y}), {axis}) | np.concatenate(({x}, {y})) | np.concatenate(({x}, {y}), axis=None) | np.concatenate([{x}, {y}], axis={axis}, dtype={dt}, casting='unsafe')",
    "concat": "np.concat([{x}, {y}, {x}], axis={axis})", "stack": "np.stack(({x}, {y})) | np.stack([{x}, {y}], axis={k})", "vstack": "np.vstack(({x}, {y})) | np.vstack(({x},), dtype={dt}, casting='unsafe')",
    "hstack": "np.hstack(({x}, {y})) | np.hstack([{x}, {s}])", "dstack": "np.dstack(({x}, {y}))", "column_stack": "np.column_stack(({x}, {y}))", "row_stack": "np.vstack(({x}, {y}))",
    "tile": "np.tile({x}, {n}) | np.tile({x}, (2, {n}))", "repeat": "np.repeat({x}, {n}) | np.repeat({x}, {n}, axis={axis}) | {x}.repeat(2, {axis})", "resize": "np.resize({x}, {shape}) | np.resize({x}, {n})",
    "append": "np.append({x}, {y}) | np.append({x}, {y}, {axis}) | np.append({x}, {s})", "matrix_transpose": "np.matrix_transpose({x}) | {x}.mT", "linalg.matrix_transpose": "np.linalg.matrix_transpose({x})",
    "split": "np.split({x}, 1, {axis}) | np.split({x}, [1, {n}], axis={axis}) | np.split({x}, 2)", "array_split": "np.array_split({x}, 2, {axis}) | np.array_split({x}, [{n}, 1]) | np.array_split({x}, 3, axis={axis})",
    "hsplit": "np.hsplit({x}, [1]) | np.hsplit({x}, 1)", "vsplit": "np.vsplit({x}, [{n}]) | np.vsplit({x}, 1)", "dsplit": "np.dsplit({x}, [1])", "unstack": "np.unstack({x}) | np.unstack({x}, axis={axis})",
    "diagonal": "np.diagonal({x}) | {x}.diagonal({k}) | np.diagonal({x}, {k}, {axis}, {axis2})", "linalg.diagonal": "np.linalg.diagonal({x}, offset={k})", "diag": "np.diag({x}) | np.diag({x}, {k})", "diagflat": "np.diagflat({x}, {k})",
    "tril": "np.tril({x}) | np.tril({x}, {k})", "triu": "np.triu({x}) | np.triu({x}, {k})", "real": "np.real({x}) | {x}.real", "imag": "np.imag({x}) | {x}.imag", "block": "np.block([[{x}, {y}]]) | np.block([[{x}], [{y}]]) | np.block([{x}, 1])",
    "copy": "np.copy({x}) | {x}.copy() | np.copy({x}, order={order}) | {x}.copy({order})", "array": "np.array({x}) | np.array([{x}, {y}]) | np.array({x}, {dt}) | np.array([{x}, {x}]) | np.array({x}, ndmin=2)",
    "asarray": "np.asarray({x}) | np.asarray({x}, {dt}) | np.asarray([{x}, {y}])", "asanyarray": "np.asanyarray({x})", "ascontiguousarray": "np.ascontiguousarray({x})", "asfortranarray": "np.asfortranarray({x})",
    "require": "np.require({x}, {dt}) | np.require({x}, requirements='C') | np.require({x}, {dt}, ['W', 'A']) | np.require({x} + 1, None, ['O', 'W', 'F'])", "astype": "np.astype({x}, {dt}) | {x}.astype({dt}) | {x}.astype({dt}, casting='safe') | {x}.astype({dt}, copy=False)",
    "full_like": "np.full_like({x}, 3) | np.full_like({x}, {s}) | np.full_like({x}, 2, dtype={dt}) | np.full_like({x}, 1, shape={shape})", "zeros_like": "np.zeros_like({x}) | np.zeros_like({x}, {dt}) | np.zeros_like({x}, shape={shape})",
    "ones_like": "np.ones_like({x}) | np.ones_like({x}, dtype={dt})", "empty_like": "np.empty_like({x}).shape | np.empty_like({x}, {dt}).dtype.num", "zeros": "np.zeros({x}.shape, {dt}) | np.zeros({shape})", "ones": "np.ones({x}.shape) | np.ones({shape}, {dt})",
    "empty": "np.empty({x}.shape).shape", "full": "np.full({shape}, {s}) | np.full({x}.shape, 7, {dt}) | np.full({x}.shape, {x}) | np.full((2, *{x}.shape), {x}, {dt})", "eye": "np.eye({n}) | np.eye({n}, 4, {k}, dtype={dt}) + {x}.sum(dtype=bool)",
    "identity": "np.identity({n}) | np.identity({n}, {dt})", "tri": "np.tri({n}) | np.tri({n}, 4, {k}) | np.tri({n}, dtype={dt})", "arange": "np.arange({n}) | np.arange({k}, 5, dtype={dt}) | np.arange({x}.size) | np.arange(0, {n}, 0.5)",
    "ndim": "np.ndim({x})", "shape": "np.shape({x})", "size": "np.size({x}) | np.size({x}, {axis})", "iscomplexobj": "np.iscomplexobj({x})", "isrealobj": "np.isrealobj({x})", "isscalar": "np.isscalar({x})",
    "can_cast": "np.can_cast({x}.dtype, {dt}) | np.can_cast({dt}, {x}.dtype, 'same_kind')", "result_type": "np.zeros(1, np.result_type({x}, {s})) | np.zeros(1, np.result_type({x}, {y}))", "min_scalar_type": "np.zeros(1, np.min_scalar_type({x})) + {x}.size",
    "common_type": "np.zeros(1, np.common_type({x}, {y}))", "broadcast_shapes": "np.broadcast_shapes({x}.shape, (1,))", "meshgrid": "np.meshgrid({x}.ravel(), {y}.ravel()) | np.meshgrid({x}, indexing='ij') | np.meshgrid({x}[..., None].ravel(), [1, 2], sparse=True)",
    "apply_along_axis": "np.apply_along_axis(np.flip, {axis}, {x}) | np.apply_along_axis(np.max, {axis}, {x})", "apply_over_axes": "np.apply_over_axes(np.max, {x}, {axes})", "trim_zeros": "np.trim_zeros({x})",
    "ix_": "{x}[np.ix_(*[range(e) for e in {x}.shape])] | {x}[np.ix_(*[[0] if e else [] for e in {x}.shape])]", "diag_indices_from": "{x}[np.diag_indices_from({x})]", "tril_indices_from": "{x}[np.tril_indices_from({x}, {k})]", "triu_indices_from": "{x}[np.triu_indices_from({x})]",
}  # fmt: skip
del SHAPES["trim_zeros"]
forms(reshape=reshape, **{n.replace(".", "__"): simple(t) for n, t in SHAPES.items()})
