"""Drawn programs over the whole of NumPy that can be traced: what NumPy gives, or a typed error while tracing; nothing else.

WEFT_EXAMPLES multiplies the numbers of examples; with it set, they are drawn at random.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import test_namespace
import test_sorting
from differential import Program, one_call, random_program, selected_call, verdict
from forms import FORMS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"
PREFIXES = {"numpy.linalg": "linalg.", "numpy.fft": "fft.", "ndarray's methods and attributes": "ndarray."}
SCALE = float(os.environ.get("WEFT_EXAMPLES", "1"))
BROAD = "WEFT_EXAMPLES" in os.environ
GROUPS = [sorted(FORMS)[i::8] for i in range(8)]


def drawn(examples: int) -> Any:
    return settings(max_examples=max(1, int(examples * SCALE)), derandomize=not BROAD, deadline=None, database=None,
                    suppress_health_check=list(HealthCheck), print_blob=False)  # fmt: skip


def traced_names() -> set[str]:
    """What docs/numpy.md says can be traced."""
    names, prefix = set(), ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            prefix = PREFIXES.get(line[3:], "")
        elif found := re.match(r"\| `([^`]+)` \| traced", line):
            names.add(prefix + found[1])
    return names


def require_numpys(program: Program, name: str = "a program") -> None:
    """The program gives what NumPy gives, or raises a typed error."""
    found = verdict(program)
    assert not found.startswith("WRONG"), f"{name}: {found}\n{program}"


def test_every_traced_name_has_a_form() -> None:
    names = traced_names()
    assert len(names) > 400
    # A method that has a function of its name is drawn by that function's form.
    missing = {n for n in names if n not in FORMS and n.removeprefix("ndarray.") not in FORMS}
    assert not missing


def test_the_fixed_snippets_are_many() -> None:
    assert len(test_namespace.SNIPPETS) + len(test_sorting.SNIPPETS) + len(FOUND) >= 400


@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_calls(group: int) -> None:
    """Each function once, by one seed, in machine code and interpreted."""
    for name in GROUPS[group]:
        require_numpys(one_call(Random(name), name), name)


@drawn(150)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(FORMS)))
def test_any_call(random: Random, name: str) -> None:
    require_numpys(one_call(random, name), name)


@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_calls_of_what_masks_select(group: int) -> None:
    for name in GROUPS[group]:
        require_numpys(selected_call(Random(name), name), name)


@drawn(100)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(FORMS)))
def test_any_call_of_what_masks_select(random: Random, name: str) -> None:
    require_numpys(selected_call(random, name), name)


@drawn(100)
@given(st.randoms(use_true_random=False), st.integers(2, 6))
def test_any_program_of_what_masks_select(random: Random, length: int) -> None:
    require_numpys(random_program(random, length, selects=True))


@drawn(100)
@given(st.randoms(use_true_random=False), st.integers(2, 7))
def test_any_program(random: Random, length: int) -> None:
    require_numpys(random_program(random, length))


@pytest.mark.slow
@drawn(4000)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(FORMS)))
def test_many_calls(random: Random, name: str) -> None:
    require_numpys(one_call(random, name), name)


@pytest.mark.slow
@drawn(2000)
@given(st.randoms(use_true_random=False), st.integers(2, 12))
def test_many_programs(random: Random, length: int) -> None:
    require_numpys(random_program(random, length))


NAN, INF = np.nan, np.inf
F, I, U = np.array([[1.5, -2.0, 0.25], [4.0, -0.0, NAN]]), np.array([3, -4, 250]), np.array([3, 4, 250], np.uint8)
B, H = np.array([True, False, True]), np.array([1.25, -0.0, 3.5], np.float16)
C = np.array([complex(INF, -INF), complex(NAN, -INF), 1 + 2j, 6 + 0j, -0.0 + 0j], np.complex64)
X = np.array(2.5)
E3 = np.zeros((0, 4, 4), np.complex64)
#: Programs in which drawn ones differed from NumPy: the line, its arguments, the tolerance of inexact ones.
FOUND: list[tuple[str, tuple, float]] = [
    *[(text, (X,), 0) for text in (
        "a0.reshape(())", "np.transpose(a0)", "np.real(a0)", "a0.astype('f4')", "np.asarray(a0)", "np.where(a0 > 0, a0, 1)", "a0.conj()", "np.isin(a0, [1])",
        "np.roll(a0, 1)", "np.flip(a0)", "a0[()]", "a0[...]", "np.sum(a0)", "np.median(a0, keepdims=True)", "np.median(a0)", "np.zeros(())", "np.nan_to_num(a0)",
        "np.choose(1, [a0, a0])", "np.select([a0 > 0], [a0])", "np.copy(a0)", "np.squeeze(a0)", "np.i0(a0)", "np.allclose(a0, 2)", "np.array_equal(a0, a0)", "np.resize(a0, ())")],
    ("np.unstack(a0)", (I,), 0), ("np.apply_along_axis(np.max, 0, a0)", (I,), 0), ("np.array_equiv(a0, 3)", (I,), 0), ("a0 + 1", (2.5,), 0), ("a0 > 1", (2.5,), 0), ("np.sin(a0) * np.float32(1)", (0.5,), 4),
    ("np.cov(a0[0])", (F,), 4), ("np.linalg.matrix_norm(a0, ord=1)", (np.eye(2),), 4),
    *[(text, (C,), 0) for text in ("a0 / (1 + 0j)", "a0 * (1 + 0j)", "a0 / a0[2]", "np.reciprocal(a0)", "a0 >= 1", "np.maximum(a0, 2)", "np.round(a0[2:], 3)")], ("a0 / a1", (C, np.array(True)), 0), ("np.sign(a0)", (C,), 2),
    ("np.searchsorted(np.sort(a0), [9, 0.5])", (C,), 0), ("np.log2(a0[2:4])", (C,), 4), ("np.exp2(a0[2:4])", (C,), 4), ("np.sign(a0)", (H,), 0), ("np.sign(a0)", (U,), 0),
    *[(f"np.array([-4.5, 300.0, 65500.0, 1.5], a0.dtype).astype('{kind}')", (x,), 0) for kind in ("i1", "u1", "i2", "u2", "u4", "u8") for x in (F, F.astype("f4"), H)], ("a0.astype('u2')", (np.array([-4.5]),), 0),
    ("np.cumsum(a0, dtype=np.uint16)", (np.array([-4.5 - 4j]),), 0), ("a0.conj()", (B,), 0), ("np.correlate(a0, a1, 'full')", (B, B[:2]), 0), ("np.clip(a0, None, None)", (I,), 0),
    ("np.select([a0, ~a0], [a1, a2], default=1)", (B, C[:3], H), 0), ("np.poly(a0)", (H,), 8), ("np.fft.fft(a0, norm='forward')", (H,), 16), ("np.fft.irfft(a0, norm='ortho')", (H,), 16), ("np.result_type(a0, a1).num", (C, 2.0), 0),
    ("np.ptp(a0, axis=0, out=a1)", (np.array([[2**60], [-(2**61)]]), np.zeros(1, np.float32)), 0), ("np.sum(a0, out=a1)", (I, np.array(0.0)), 0), ("np.full_like(a0, 1 + 2j)", (I,), 0), ("np.maximum.at(a0, slice(None), -3)", (U,), 0),
    ("np.linalg.pinv(a0)", (E3,), 0), ("np.cumulative_sum(a0, include_initial=True, out=a1), a1", (I, np.zeros(4)), 0), ("a0.partition(0)", (I[:1],), 0), ("np.nan_to_num(a0, copy=False)", (X,), 0), ("np.power(-2 + 1j, a0, dtype=np.int64, casting='unsafe')", (I[:1],), 0),
    ("np.isscalar(a0), np.isscalar(a0[()])", (X,), 0), ("np.broadcast_arrays(a0, a1)", (X, np.float64(1)), 0), ("np.take(np.arange(0, 3, 0.5), a0)", (np.array(1),), 0), ("np.pad(a0, 1)", (X,), 0), ("np.where(a0, a1, 300)", (B, U), 0),
    ("np.clip(a0, -5, 300)", (U,), 0), ("np.take(a0, [])", (I,), 0), ("np.sum(a0, axis=0)", (X,), 0), ("np.argmax(a0, axis=-1)", (X,), 0), ("np.packbits(a0 > 0, axis=0)", (np.zeros((3, 0)),), 0), ("np.take_along_axis(a0, a1, 1)", (np.zeros((0, 3)), np.zeros((0, 2), int)), 0),
    *[(f"np.power(a0, {n})", (C,), 3.99) for n in ("0 * a0.real", "3", "-7", "np.array([1, 2, 4, 5, 0])", "0")], ("np.power(0 * a0.real, a0)", (C,), 0), ("a0[:2, a1, ..., a1, None]", (np.arange(6).reshape(3, 2, 1), np.array([0, 0])), 0), ("a0[a1, ..., a1]", (np.arange(6).reshape(3, 2), np.array([0, 1])), 0), ("np.std(a0, dtype=complex)", (C[2:],), 4), ("np.log10(a0)", (np.array([1e-45, 1e-40, 1e-38], np.float32),), 4),
    ("(r := np.count_nonzero(a0, axis=-1, keepdims=True), s := np.ravel(r, 'F'), s & s)", (B[:, None],), 0), ("(r := np.pad(a0, 0, 'edge'), r.fill(7))", (np.arange(3.0),), 0), ("(r := np.require(a0, requirements='C'), r.fill(7))", (np.arange(12).reshape(3, 4)[:, ::2],), 0),
]  # fmt: skip
#: Programs that NumPy refuses and that gave a value, with the class of its error.
REFUSED: list[tuple[str, tuple, type[Exception]]] = [
    ("np.vsplit(a0, 1)", (I,), ValueError), ("np.hsplit(a0, 1)", (X,), ValueError), ("np.rot90(a0)", (I,), ValueError), ("np.rot90(a0, 1, (1, -1))", (F,), ValueError), ("a0.fill(1j)", (I,), TypeError), ("a0.__setitem__(0, np.ones(1))", (I,), ValueError),
    ("a0.__setitem__(0, 300)", (U,), OverflowError), ("np.piecewise(a0, [a0 > 3], [-1])", (U,), OverflowError), ("np.clip(a0, None, None)", (B,), TypeError), ("np.min(a0, axis=0, out=np.zeros(2, int))", (I,), ValueError), ("np.place(a0, a0 > 0, [1j])", (I,), TypeError),
    ("np.cumulative_prod(a0, include_initial=True, out=np.zeros(2, bool))", (I[:0],), ValueError), ("np.bitwise_or.reduce(a0, out=np.zeros(()))", (I,), TypeError), ("np.gcd.accumulate(a0, dtype=complex)", (I,), TypeError), ("np.logical_or.reduce(a0, dtype=float)", (B,), TypeError), ("np.std(a0, out=np.array(1))", (H,), TypeError),
    ("np.take(a0, [0], mode='wrap', out=np.zeros(1))", (B,), TypeError), ("np.nanargmax(a0, out=np.array(1.5))", (I,), TypeError), ("a0.__setitem__(a1, 1)", (F, B[:1]), IndexError), ("a0.__setitem__(a1, 1)", (F, np.ones((1, 3), bool)), IndexError),
]  # fmt: skip


def fixed(text: str, args: tuple, ulps: float) -> Program:
    return Program({f"a{i}": v for i, v in enumerate(args)}, [f"r0 = {text}"], ["r0"], [ulps])


@pytest.mark.parametrize(
    ("text", "args", "ulps"), [pytest.param(*row, id=f"{i}: {row[0]}") for i, row in enumerate(FOUND)]
)
def test_found(text: str, args: tuple, ulps: float) -> None:
    assert verdict(fixed(text, args, ulps)) == "equal"


@pytest.mark.parametrize(
    ("text", "args", "kind"), [pytest.param(*row, id=f"{i}: {row[0]}") for i, row in enumerate(REFUSED)]
)
def test_found_to_be_refused(text: str, args: tuple, kind: type[Exception]) -> None:
    program = fixed(text, args, 0)
    with pytest.raises(kind):
        program.function()(*map(np.copy, args))
    assert verdict(program) == "raises"
