"""Products: matmul, dot, tensordot, einsum, and the gufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentValueError, UnsupportedError
from .dispatch import broadcast_to, finish, implements, shown_name, widened_dtype
from .reductions import require_out_of
from .tracer import Tensor, TracedArray, as_tensor, convert, raise_here, wrap
from .ufuncs import iota, scalar


def product_dtype(*values: Any) -> np.dtype:
    """The dtype in which NumPy multiplies matrices of these."""
    return np.result_type(*[as_tensor(value).dtype for value in values])


def gufunc_dtype(ufunc: np.ufunc, inputs: tuple) -> np.dtype:
    """The same for a ufunc of matrices."""
    types = [as_tensor(value).dtype for value in inputs]
    widened = widened_dtype(ufunc, types) if any(t.kind == "V" for t in types) else None
    return widened or np.result_type(*types)


def call_gufunc(ufunc: np.ufunc, inputs: tuple, dtype: Any, kwargs: dict[str, Any]) -> list[Tensor]:
    """matmul, vecdot, matvec and vecmat."""
    if ufunc.__name__ == "vecdot" and "axis" in kwargs:
        axis = kwargs.pop("axis")
        arrays: list[Any] = [wrap(as_tensor(value)) for value in inputs]
        inputs = tuple(np.moveaxis(array, axis, -1) for array in arrays)
    if kwargs or ufunc.__name__ not in ("matmul", "vecdot", "matvec", "vecmat"):
        raise_here(UnsupportedError, f"{' '.join([shown_name(ufunc), *kwargs])} cannot be compiled", "unsupported_function")
    target = np.dtype(dtype) if dtype is not None else gufunc_dtype(ufunc, inputs)
    lhs, rhs = (as_tensor(value, target) for value in inputs)
    require_core_dims(ufunc.__name__, lhs, rhs)
    if ufunc.__name__ == "matmul":
        return [matmul(lhs, rhs)]
    spelled = {"vecdot": "...i,...i->...", "matvec": "...ij,...j->...i", "vecmat": "...i,...ij->...j"}[ufunc.__name__]
    if lhs.dtype.kind == "c" and ufunc.__name__ != "matvec":
        lhs = np.conjugate(wrap(lhs)).tensor
    return [einsum(spelled, wrap(lhs), wrap(rhs)).tensor]


def require_core_dims(name: str, lhs: Tensor, rhs: Tensor) -> None:
    """The dimensions that are summed over are equal; none of them stretches."""
    inner = -2 if name == "vecmat" or (name == "matmul" and rhs.ndim > 1) else -1
    if lhs.ndim and rhs.ndim >= -inner and not _core.dims_equal(lhs.shape[-1], rhs.shape[inner]):
        raise_here(
            ArgumentValueError,
            f"{name}: Input operand 1 has a mismatch in its core dimension 0: shapes {lhs.shape} and {rhs.shape} (size {rhs.shape[inner]} is different from {lhs.shape[-1]})",
            "matmul_shapes",
        )


def matmul(lhs: Tensor, rhs: Tensor) -> Tensor:
    if not lhs.ndim or not rhs.ndim:
        raise_here(ArgumentValueError, f"matmul: operands must have at least one dimension, got shapes {lhs.shape} and {rhs.shape}", "matmul_rank")
    if lhs.dtype == bool:
        return convert(_core.apply("matmul", [convert(lhs, np.int32), convert(rhs, np.int32)]), lhs.dtype)
    return _core.apply("matmul", [lhs, rhs])


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    target = product_dtype(a, b)
    lhs, rhs = as_tensor(a, target), as_tensor(b, target)
    if not lhs.ndim or not rhs.ndim:
        return np.multiply(wrap(lhs), wrap(rhs), out=out)
    axis = rhs.ndim - 2 if rhs.ndim > 1 else 0
    result = finish(np.matmul, contract(lhs, rhs, ([lhs.ndim - 1], [axis])), out, True, "no")
    if out is None or result.ndim:
        return result
    value = wrap(result.tensor)  # NumPy fills ``out`` and gives a scalar
    value.scalar = True
    return value


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    target = product_dtype(a, b)
    lhs, rhs = as_tensor(a, target), as_tensor(b, target)
    if not lhs.ndim or not rhs.ndim:
        return np.multiply(wrap(lhs), wrap(rhs))
    return wrap(contract(lhs, rhs, ([lhs.ndim - 1], [rhs.ndim - 1])))


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    lhs = np.ravel(wrap(as_tensor(a)))
    return dot(np.conjugate(lhs) if lhs.dtype.kind == "c" else lhs, np.ravel(wrap(as_tensor(b))))


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    lhs, rhs = np.ravel(wrap(as_tensor(a))), np.ravel(wrap(as_tensor(b)))
    return np.multiply(lhs[:, None], rhs[None, :], out=out)


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    target = product_dtype(a, b)
    lhs, rhs = as_tensor(a, target), as_tensor(b, target)
    if isinstance(axes, (int, np.integer)):
        pair = list(range(lhs.ndim - int(axes), lhs.ndim)), list(range(int(axes)))
    else:
        first, second = axes
        pair = ([first] if np.ndim(first) == 0 else list(first)), ([second] if np.ndim(second) == 0 else list(second))
    if len(pair[0]) != len(pair[1]) or any(not -t.ndim <= int(i) < t.ndim for side, t in zip(pair, (lhs, rhs), strict=True) for i in side):
        raise_here(ArgumentValueError, f"shape-mismatch for sum: axes {axes} of shapes {lhs.shape} and {rhs.shape}", "tensordot_axes")
    pair = [int(i) % lhs.ndim for i in pair[0]], [int(i) % rhs.ndim for i in pair[1]]
    return wrap(contract(lhs, rhs, pair))


def contract(lhs: Tensor, rhs: Tensor, axes: tuple[list[int], list[int]], batch: tuple[list[int], list[int]] = ((), ())) -> Tensor:  # type: ignore[assignment]
    """dot_general: batch dims, then lhs' free dims, then rhs'."""
    if lhs.dtype == bool:
        return convert(contract(convert(lhs, np.int32), convert(rhs, np.int32), axes, batch), lhs.dtype)
    for i, j in zip(*axes, strict=True):
        if not _core.dims_equal(lhs.shape[i], rhs.shape[j]):
            raise_here(ArgumentValueError, f"shapes {lhs.shape} and {rhs.shape} not aligned: {lhs.shape[i]} (dim {i}) != {rhs.shape[j]} (dim {j})", "contract_shapes")
    if any(isinstance(extent, int) and extent == 0 for extent in (*lhs.shape, *rhs.shape)):
        free = [e for t, used in ((lhs, (*batch[0], *axes[0])), (rhs, (*batch[1], *axes[1]))) for i, e in enumerate(t.shape) if i not in used]
        return broadcast_to(scalar(0, lhs), (*(lhs.shape[i] for i in batch[0]), *free))
    return _core.apply(
        "dot_general",
        [lhs, rhs],
        {
            "lhs_batching_dimensions": list(batch[0]),
            "rhs_batching_dimensions": list(batch[1]),
            "lhs_contracting_dimensions": list(axes[0]),
            "rhs_contracting_dimensions": list(axes[1]),
        },
    )


@implements(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **kwargs: Any) -> Any:
    """Any number of operands, contracted in pairs from the left; optimize= changes nothing."""
    if not isinstance(operands[0], str):
        operands = spelled_out(operands)

    subscripts, *values = operands
    inputs, result = parse_subscripts(subscripts, [len(as_tensor(v).shape) for v in values])
    target = np.dtype(dtype) if dtype is not None else product_dtype(*values)
    if len(values) == 1 and out is None and isinstance(values[0], TracedArray) and values[0].dtype == target and set(inputs[0]) == set(result):
        return rearranged(values[0], inputs[0], result)
    terms = [unrepeated(labels, as_tensor(v, target)) for labels, v in zip(inputs, values, strict=True)]
    while len(terms) > 1:
        lhs, rhs = terms.pop(0), terms.pop(0)
        needed = set(result).union(*[labels for labels, _ in terms]) if terms else set(result)
        terms.insert(0, contract_pair(lhs, rhs, needed))
    labels, tensor = terms[0]
    extra = [i for i, label in enumerate(labels) if label not in result]
    if extra:
        tensor = _core.apply("sum", [tensor], {"axes": extra})
        labels = [label for label in labels if label in result]
    order = [labels.index(label) for label in result]
    if order != list(range(len(order))):
        tensor = _core.apply("transpose", [tensor], {"permutation": order})
    require_out_of(target, out, "einsum")
    return finish(np.add, tensor, out, True, "safe")


def rearranged(x: TracedArray, labels: list[str], result: list[str]) -> TracedArray:
    """einsum of one operand in which nothing is added up: a view."""
    while len(set(labels)) != len(labels):
        first = next(i for i, label in enumerate(labels) if label in labels[i + 1 :])
        second = labels.index(labels[first], first + 1)
        if not _core.dims_equal(x.shape[first], x.shape[second]):
            raise_here(ArgumentValueError, f"einsum: dimensions of label '{labels[first]}' differ: {x.shape[first]} and {x.shape[second]}", "einsum_extent")
        x = np.diagonal(x, 0, first, second)  # type: ignore[assignment]
        labels = [*(label for i, label in enumerate(labels) if i not in (first, second)), labels[first]]
    return np.transpose(x, [labels.index(label) for label in result])  # type: ignore[return-value]


def spelled_out(operands: tuple) -> tuple:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) → a subscripts string."""
    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else chr(ord("A") + label if label < 26 else ord("a") + label - 26) for label in labels)

    values, labels = list(operands[0 : len(operands) // 2 * 2 : 2]), [text(o) for o in operands[1::2]]
    joined = ",".join(labels) + ("->" + text(operands[-1]) if len(operands) % 2 else "")
    return (joined, *values)


def parse_subscripts(subscripts: str, ranks: list[int]) -> tuple[list[list[str]], list[str]]:
    """Labels of each operand and of the result; an ellipsis becomes labels of its own, right-aligned."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        raise_here(ArgumentValueError, f"einsum: '{subscripts}' names {len(parts)} operands, got {len(ranks)}", "einsum_operands")
    widest = 0
    inputs = []
    for part, rank in zip(parts, ranks, strict=True):
        named = len(part.replace("...", ""))
        fill = rank - named if "..." in part else 0
        if named + fill != rank or fill < 0:
            raise_here(ArgumentValueError, f"einsum: '{part}' does not fit an operand of {rank} dimensions", "einsum_rank")
        widest = max(widest, fill)
        head, _, tail = part.partition("...")
        inputs.append([*head, *(f"...{i}" for i in reversed(range(fill))), *(tail if "..." in part else "")])
    ellipsis = [f"...{i}" for i in reversed(range(widest))]
    if arrow:
        head, dots, tail = right.partition("...")
        if widest and not dots:
            raise_here(ArgumentValueError, f"einsum: '{subscripts}' has an ellipsis of {widest} dimensions, and none in the output", "einsum_output")
        result = [*head, *(ellipsis if dots else []), *tail]
    else:
        counts = [label for labels in inputs for label in labels if not label.startswith("...")]
        result = ellipsis + sorted(label for label in set(counts) if counts.count(label) == 1)
    unknown = [label for label in result if all(label not in labels for labels in inputs)]
    if unknown or len(set(result)) != len(result):
        raise_here(ArgumentValueError, f"einsum: output subscripts of '{subscripts}' must each be once in the output and occur in an input", "einsum_output")
    return inputs, result


Term = tuple[list[str], Tensor]


def unrepeated(labels: list[str], tensor: Tensor) -> Term:
    """Takes the diagonal for every label that occurs twice in one operand."""
    while len(set(labels)) != len(labels):
        first = next(i for i, label in enumerate(labels) if label in labels[i + 1 :])
        second = labels.index(labels[first], first + 1)
        extent = tensor.shape[first]
        if not _core.dims_equal(extent, tensor.shape[second]):
            raise_here(ArgumentValueError, f"einsum: dimensions of label '{labels[first]}' differ: {extent} and {tensor.shape[second]}", "einsum_extent")
        # Move both to the front, where indexing by two index arrays leaves one axis.
        rest = [i for i in range(len(labels)) if i not in (first, second)]
        front = _core.apply("transpose", [tensor], {"permutation": [first, second, *rest]})
        places = wrap(iota(extent))
        tensor = wrap(front)[places, places].tensor
        labels = [labels[first], *(labels[i] for i in rest)]
    return labels, tensor


def contract_pair(lhs: Term, rhs: Term, needed: set[str]) -> Term:
    """The product of two terms, summed over the labels that nothing else needs."""
    lhs, rhs = summed(lhs, set(rhs[0]) | needed), summed(rhs, set(lhs[0]) | needed)
    (l_labels, left), (r_labels, right) = squeezed(lhs, rhs), squeezed(rhs, lhs)
    shared = [label for label in l_labels if label in r_labels]
    batch = [label for label in shared if label in needed]
    summed_labels = [label for label in shared if label not in needed]
    result = contract(
        left,
        right,
        ([l_labels.index(s) for s in summed_labels], [r_labels.index(s) for s in summed_labels]),
        ([l_labels.index(b) for b in batch], [r_labels.index(b) for b in batch]),
    )
    free = [label for label in l_labels if label not in shared] + [label for label in r_labels if label not in shared]
    return [*batch, *free], result


def summed(term: Term, keep: set[str]) -> Term:
    labels, tensor = term
    extra = [i for i, label in enumerate(labels) if label not in keep]
    if not extra:
        return term
    return [label for label in labels if label in keep], _core.apply("sum", [tensor], {"axes": extra})


def squeezed(term: Term, other: Term) -> Term:
    """Drops dims of extent 1 whose label has another extent in the other term: NumPy broadcasts them."""
    labels, tensor = term
    extents = dict(zip(other[0], other[1].shape, strict=True))
    drop = [
        i
        for i, label in enumerate(labels)
        if label in extents and _core.dims_equal(tensor.shape[i], 1) and not _core.dims_equal(extents[label], 1)
    ]
    if not drop:
        return term
    shape = [e for i, e in enumerate(tensor.shape) if i not in drop]
    return [label for i, label in enumerate(labels) if i not in drop], _core.apply("reshape", [tensor], {"dims": shape})
