"""Writes docs/math.md from the rows of tests/codegen/math_exhaustive.cpp: python scripts/generate_math_page.py ROWS…

Later rows replace earlier ones of the same function, type and target.
"""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "math.md"

HEAD = """# Elementary functions

How far results are from the exact ones, in units of the last place (ULP) of the result's type; correct rounding would be
0.5. The functions are vector code within the kernel, written by `weft/codegen/llvm/vector_*.cpp` for f32 and f64. On all
CPUs with fused multiply-add (the targets `avx2` and `avx512`) they give the same bits, in vectors of any width and for any
number of threads. NaN, infinities, signed zeros and denormal numbers are those of C's Annex F and of NumPy.

f16, bf16 and smaller floats are computed in f32 and rounded once: 0.5 ULP and a few of f32's last places, checked at every
number by `tests/python/test_math.py`. The interpreters use the C library, within 1 ULP of the exact result.

Methods: arguments are reduced as Cody and Waite do, with constants in two and three parts; what must not be lost is carried
as a sum of two numbers (Dekker); polynomials are minimax fits by Remez's exchange (`scripts/fit_math.py`). exp of
f32 takes sixteenths of powers of two from a register. sin, cos and tan past 2^40 (f32: 2^17) are reduced by the C library, lane
by lane. Powers by the constants 1.5, -0.5 and -1.5 are functions of their own, made of roots, products and quotients; with
AVX-512 of its estimate of 1 / sqrt(x), cut to 17 bits so that its square and cube are exact, and the series of what is left.
These three are not the same bits everywhere: the last place of three f64 in 100,000 is another one.

`./dev test ulp` measures this table again: every f32 where the stride is 1, otherwise every STRIDE-th, and 2^24 / STRIDE
numbers or pairs in f64 and for two operands. It fails where a bound is passed; the fast tests do the same on a thin sample.
Of two bounds the first is f32's.
"""

TAIL = """
## Complex numbers

exp, log, sqrt, sin, cos, tan, sinh, cosh and tanh are vector code of both parts at once where there is fused multiply-add. What is
infinite, what NaN and which zeros are negative is NumPy's. Each part of a complex128 was within 4 ULP of the exact one at 8,000
points (exp 1.9, log 1.0, sqrt 1.7, sin and cos 2.6, sinh and cosh 2.4, tan and tanh 4.0; NumPy's, which are the C library's: 1.8, 1.9,
1.8, 2.8, 2.8, 4.9).

Functions of complex64 are computed in f64 and rounded, so that each part is within 1 ULP, or within 2^-50 of the number's size where
its terms cancel. `expm1`, `log1p` and `logistic` of complex numbers, and `chlo.square`, lose nothing near zero. Products use fused
multiply-add, where there is one, in NumPy's order: the bits are NumPy's. Absolute values are NumPy's, to the bit.

## By the library

These are called for each element: `lgamma`, `digamma`, `polygamma`, `zeta`, `bessel_i1e`, `remainder`, `nextafter`, other
functions of complex numbers, and, without fused multiply-add (target `x86-64`), all that have no entry in the last columns. `sqrt`, `floor`,
`ceil`, `round`, `abs` and division are the machine's and exact; `rsqrt` is the quotient of 1 and the root, as in NumPy.
"""


def table(rows: dict[tuple[str, str, str], list[str]]) -> str:
    """One line for each function: what is measured with fused multiply-add in f32 and f64, the bound, the same without."""
    fused = next(t for t in ("avx512", "avx2") if any(k[2] == t for k in rows))

    def bound(name: str, target: str) -> str:
        return ", ".join(dict.fromkeys(rows[name, dtype, target][4] for dtype in ("f32", "f64")))

    lines = [
        "| Function | f32 | f64 | bound | stride | f32, no FMA | f64, no FMA | bound |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(key[0] for key in rows):
        if (name, "f32", fused) not in rows:
            continue
        cells = [
            f"`{name}`",
            *(rows[name, dtype, fused][3] for dtype in ("f32", "f64")),
            bound(name, fused),
            rows[name, "f32", fused][5],
        ]
        plain = [rows.get((name, dtype, "x86-64")) for dtype in ("f32", "f64")]
        cells += [row[3] if row else "" for row in plain] + [bound(name, "x86-64") if plain[0] else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    rows: dict[tuple[str, str, str], list[str]] = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            words = line.split()
            rows[words[0], words[1], words[2]] = words
    PAGE.write_text(f"{HEAD}\n{table(rows)}{TAIL}")


if __name__ == "__main__":
    main(sys.argv[1:])
