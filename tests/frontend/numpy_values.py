"""Writes numpy_values.inc: what NumPy, or for random numbers Python's Weftwork, gives for every case of cases.def."""

import ast
import math
import re
from pathlib import Path

import numpy as np

import weftwork as wf

HERE = Path(__file__).parent
NAMES = {"np": np, "wf": wf, "math": math, "windows": np.lib.stride_tricks.sliding_window_view}
INPUTS = {
    "a": np.array([[0.5, -1.25, 2.75], [3.5, -0.75, 1.0]], np.float32),
    "b": np.array([[1.5, 0.5, -2.0], [0.25, 3.0, -1.5]], np.float32),
    "v": np.array([0.5, 2.0, -1.0], np.float32),
    "d": np.array([[1.1, -2.2, 3.3], [0.4, -0.5, 6.6]], np.float64),
    "i": np.array([[1, -2, 3], [0, 5, -6]], np.int32),
    "j": np.array([[2, 3, -4], [7, -2, 4]], np.int64),
    "u": np.array([[0, 1, 7], [100, 200, 255]], np.uint8),
    "w": np.array([[1, 3, 5], [2**63 + 9, 1, 0]], np.uint64),
    "h": np.array([[0.5, 1.5, -2.5], [0.1, 3.0, 8.0]], np.float16),
    "t": np.array([[True, False, True], [False, False, True]]),
    "c": np.array([1 + 2j, -0.5 + 1j, 2 - 1j], np.complex64),
    "m": ((np.arange(12) % 5) - 1.5).reshape(3, 4).astype(np.float32),
    "s": (np.arange(24) % 7 - 3.25).reshape(2, 3, 4).astype(np.float32),
    "k": np.array([0, 2, -1, -3], np.int64),
}


def numbers(array: np.ndarray) -> str:
    parts = np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array
    flat = parts.ravel()
    if array.dtype.kind in "biu":
        return ", ".join(f"{int(x)}.0" if abs(int(x)) < 2**53 else f"{float(x)!r}" for x in flat)
    shown = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}
    return ", ".join(shown.get(text, text) for text in (repr(float(x)) for x in flat))


def main() -> None:
    text = (HERE / "cases.def").read_text()
    lines = ["// Made by numpy_values.py: the dtype, shape and elements (complex ones as pairs) of each case."]
    for name, literal in re.findall(r'^CASE\((\w+), ("(?:[^"\\]|\\.)*"),', text, re.M):
        with np.errstate(all="ignore"):
            array = np.asarray(eval(ast.literal_eval(literal), {**NAMES, **INPUTS}))
        dims = ", ".join(map(str, array.shape))
        lines.append(f'{{"{name}", "{array.dtype}", {{{dims}}}, {{{numbers(array)}}}}},')
    (HERE / "numpy_values.inc").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
