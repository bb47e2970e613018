"""What differs between two snapshots: the first entry that does, and the kind of its difference."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Any

import numpy as np

from .snapshot import ATOMS, Snapshot

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\binf\b|\bnan\b")


def close(actual: Any, wanted: Any, tolerance: float) -> bool:
    """Whether numbers or arrays of numbers are equal, NaN with NaN, inexact ones within the tolerance."""
    a, w = np.asarray(actual), np.asarray(wanted)
    if w.dtype.names:
        return all(close(a[name], w[name], tolerance) for name in w.dtype.names)
    if w.dtype.kind == "c":
        return close(a.real, w.real, tolerance) and close(a.imag, w.imag, tolerance)
    if w.dtype.kind in "mM":
        return bool((a.view("i8") == w.view("i8")).all())
    if w.dtype.kind != "f":
        return bool((a == w).all())
    if w.dtype.itemsize < 8:
        tolerance = max(tolerance, 1e-4 if w.dtype.itemsize == 4 else 1e-2)
    same = (a == w) | (np.isnan(a) & np.isnan(w))
    if same.all():
        return True
    a, w = a.astype(float), w.astype(float)
    scale = np.max(np.abs(w), where=np.isfinite(w), initial=1)
    return bool((same | (np.isfinite(a) & np.isfinite(w) & (np.abs(a - w) <= tolerance * scale))).all())


def same_text(actual: str, wanted: str, tolerance: float) -> bool:
    """Whether texts are equal but for the last digits of the numbers in them."""
    if actual == wanted:
        return True
    if re.sub(r"\s+", "", NUMBER.sub("#", actual)) != re.sub(r"\s+", "", NUMBER.sub("#", wanted)):
        return False
    pairs = zip(NUMBER.findall(actual), NUMBER.findall(wanted))
    return all(close(float(a), float(w), max(tolerance, 1e-7)) for a, w in pairs)


def entry_difference(kind: str, actual: Any, wanted: Any, tolerance: float) -> tuple[str, str]:
    """The kind of difference of two entries of one kind, and a text; two empty texts where they are equal."""
    if isinstance(wanted, np.ndarray):
        if actual.dtype != wanted.dtype:
            return "dtype", f"{actual.dtype} for {wanted.dtype}"
        if actual.shape != wanted.shape:
            return "shape", f"{actual.shape} for {wanted.shape}"
        equal = close(actual, wanted, tolerance)
    elif isinstance(wanted, (float, complex, np.inexact, np.datetime64, np.timedelta64)):
        equal = close(actual, wanted, tolerance)
    elif isinstance(wanted, str) and kind == "str":
        equal = same_text(actual, wanted, tolerance)
    else:
        equal = actual == wanted
    if equal:
        return "", ""
    what = {"same object as": "identity", "memory": "memory", "random state": "random state"}.get(kind, "value")
    return what, "another state" if kind == "random state" else f"{actual!r} for {wanted!r}"


def difference(actual: Snapshot, wanted: Snapshot, tolerance: float) -> tuple[str, str]:
    """(kind, text) of the first difference, or two empty texts; a traced value anywhere goes before all others."""
    for path, name in actual.traced:
        return "traced value left", f"{path} is a {name}"
    for a, w in zip_longest(actual.entries, wanted.entries):
        if a is None or w is None:
            path = (a or w)[0]
            return f"{whose(path)} memory", f"{path}: {'no sharing' if a is None else 'sharing'} of memory"
        (a_path, a_kind, a_data), (path, kind, data) = a, w
        if a_path != path:
            lost = "memory" if "memory" in (a_kind, kind) else "structure"
            return f"{whose(path)} {lost}", f"{a_path} ({a_kind}) for {path} ({kind})"
        if a_kind != kind:
            what = (
                "identity" if "same object as" in (a_kind, kind) else "memory" if "memory" in (a_kind, kind) else "type"
            )
            return f"{whose(path)} {what}", f"{path}: {a_kind} {a_data!r} for {kind} {data!r}"
        if type(data) in ATOMS and a_data == data:
            continue
        what, text = entry_difference(kind, a_data, data, tolerance)
        if what:
            return what if what == "random state" else f"{whose(path)} {what}", f"{path}: {text}"
    return "", ""


def whose(path: str) -> str:
    """Whether a place lies in a call's result or in the state around it."""
    return "earlier result" if path.startswith("_results") else "result" if path.startswith("result") else "state"
