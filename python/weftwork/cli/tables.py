"""weft ops, knobs, cache: what there is."""

from __future__ import annotations

import argparse
import fnmatch
import json
from dataclasses import asdict
from typing import Any

import ml_dtypes
import numpy as np

from .. import _core, cache
from ..errors import Error
from ..knobs import table
from .program import nearest
from .terminal import UsageError, bold, columns, count_of

#: Every element type, NumPy's and those that ml_dtypes adds.
DTYPES = [np.dtype(c) for c in "?bhilBHILefdFD"] + [np.dtype(getattr(ml_dtypes, name)) for name in (
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int2", "int4", "uint2", "uint4",
)]  # fmt: skip
#: Values of attributes that go with operands of 2 by 2 elements; the dtype itself in the place of None.
ATTRIBUTES: dict[str, Any] = {
    "axis": 0, "axes": [0], "dimension": 0, "dimensions": [0, 1], "dims": [2, 2], "permutation": [1, 0], "type": None, "k": 1,
    "start_indices": [0, 0], "limit_indices": [2, 2], "strides": [1, 1], "slice_sizes": [2, 2], "comparison_direction": "EQ",
    "edge_padding_low": [0, 0], "edge_padding_high": [0, 0], "interior_padding": [0, 0], "epsilon": 1e-5, "ddof": 0.0,
    "lhs_batching_dimensions": [], "rhs_batching_dimensions": [], "lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0],
    "lower": True, "left_side": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE", "exponent_bits": 5, "mantissa_bits": 7,
}  # fmt: skip


def dtypes_of(row: dict[str, Any]) -> list[str]:
    """The element types that all operands of an operation may have, those behind a bool for select; none where it is not called
    with arrays alone."""
    attributes = {name: ATTRIBUTES[name] for name in row["attrs"] if name in ATTRIBUTES}
    return [
        d.name
        for d in DTYPES
        if row["operands"] > 0 and any(is_legal(row, d, attributes, first) for first in (d, np.dtype(bool)))
    ]


def is_legal(row: dict[str, Any], dtype: np.dtype, attributes: dict[str, Any], first: np.dtype) -> bool:
    if first != dtype and row["operands"] < 3:
        return False
    operands = [_core.parameter((2, 2), dtype if i else first, "x") for i in range(row["operands"])]
    try:
        _core.apply(
            row["name"], operands, {name: dtype if value is None else value for name, value in attributes.items()}
        )
    except Error:
        return False
    return True


def matching(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows that a command line asks for."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    if arguments.family and arguments.family not in families:
        raise UsageError(f"there is no family '{arguments.family}'{nearest(arguments.family, families)}")
    if arguments.family:
        rows = [row for row in rows if row["family"] == arguments.family]
    if arguments.name:
        pattern = arguments.name if any(c in arguments.name for c in "*?[") else f"*{arguments.name}*"
        exact = [row for row in rows if row["name"] == arguments.name]
        found = exact or [row for row in rows if fnmatch.fnmatchcase(row["name"], pattern)]
        if not found:
            raise UsageError(
                f"no operation is called '{arguments.name}'{nearest(arguments.name, [row['name'] for row in rows])}"
            )
        rows = found
    return rows


def ops(arguments: argparse.Namespace) -> int:
    rows = matching(_core.op_table(), arguments)
    if arguments.dtype or len(rows) == 1 or arguments.json:
        for row in rows:
            row["dtypes"] = dtypes_of(row)
    if arguments.dtype:
        known = [dtype.name for dtype in DTYPES]
        if arguments.dtype not in known:
            raise UsageError(f"there is no element type '{arguments.dtype}'{nearest(arguments.dtype, known)}")
        rows = [row for row in rows if arguments.dtype in row["dtypes"]]
    if arguments.json:
        keys = ["name", "family", "doc", "operands", "stablehlo", "hlo", "numpy", "aten", "attrs", "dtypes"]
        print(json.dumps([{key: row[key] for key in keys} for row in rows], indent=2))
    elif len(rows) == 1 and arguments.name:
        print_op(rows[0])
    else:
        print(
            *columns(
                [(r["name"], r["family"], r["doc"]) for r in rows], head=["operation", "family", "does"], indent=0
            ),
            sep="\n",
        )
    return 0


def print_op(row: dict[str, Any]) -> None:
    print(f"{bold(row['name'])} ({row['family']}): {row['doc']}")
    operands = "any number" if row["operands"] < 0 else str(row["operands"])
    spelled = [
        (f"in {where}", row[key])
        for where, key in (("StableHLO", "stablehlo"), ("HLO", "hlo"), ("NumPy", "numpy"), ("ATen", "aten"))
        if row[key]
    ]
    lines = [("operands", operands), ("attributes", ", ".join(row["attrs"]) or "none"), *spelled]
    if row["dtypes"]:
        lines.append(("dtypes", " ".join(row["dtypes"])))
    print(*columns(lines), sep="\n")


def knobs(arguments: argparse.Namespace) -> int:
    rows = [knob for knob in table() if knob.is_setting]
    if arguments.json:
        print(json.dumps([asdict(knob) for knob in rows], indent=2))
        return 0
    for knob in rows:
        value = f"{knob.value or 'empty'}" + ("" if knob.source == "standard" else f", set by the {knob.source}")
        print(f"{bold(knob.variable)} = {value}\n    {knob.doc}")
    return 0


def show_cache(arguments: argparse.Namespace) -> int:
    info = cache.info()
    if arguments.action == "path":
        if not info.directory:
            raise UsageError(f"there is no cache: {info.problem}")
        print(info.directory)
    elif arguments.action == "clear":
        cache.clear()
        print(f"{count_of(info.entries, 'program')} removed, {count_of(info.bytes, 'byte')}")
    elif arguments.json:
        keys = ("directory", "problem", "entries", "bytes", "limit")
        print(json.dumps({key: getattr(info, key) for key in keys}, indent=2))
    else:
        print(
            f"directory  {info.directory or f'none: {info.problem}'}\nprograms   {info.entries:,}\nbytes      {info.bytes:,} of {info.limit:,}"
        )
    return 0
