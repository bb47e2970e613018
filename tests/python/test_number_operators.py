"""Operators between numbers of Python's that a program computes and values of all other kinds do what Python's do."""

from __future__ import annotations

import linecache
import operator
from typing import Any

import numpy as np
import pytest

import weftwork as wf

NUMBERS = ("float(x[0])", "k", "int(x[0])", "bool(x[0] > 1)", "complex(x[0])", "x.sum()", "x.item(0)", "h", "1j * x[0]")
OTHERS = (
    "[1]", "[x, x]", "(1, 2)", "(x[0],)", "'a'", "None", "{1: 2}", "{1}", "b'a'", "range(2)", "...", "[k]", "[]", "'%s'", "bytearray(2)", "1j", "True", "2", "-2.5",
    "np.float64(2)", "float",
)  # fmt: skip
OPERATORS = ("==", "!=", "<", ">=", "+", "-", "*", "/", "//", "%", "**", "&", "in", "is")


def outcomes(text: str) -> list[Any]:
    """What the plain function gives, and what two jitted calls give."""
    source = f"def f(x, k, h):\n    return {text}, x * 2\n"
    name = f"<{text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "operator": operator}
    exec(compile(source, name, "exec"), space)
    jitted = wf.jit(space["f"], strict=False)
    found = []
    for function in (space["f"], jitted, jitted):
        try:
            value = function(np.array([1.5, -2.0]), 3, 0.5)[0]
        except Exception as error:
            found.append(type(error).__name__)
        else:
            found.append(
                f"{type(value).__name__} {value:.12g}"
                if isinstance(value, complex)
                else f"{type(value).__name__} {value}"
            )
    return found


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("number", NUMBERS)
def test_operators(number: str) -> None:
    texts = [
        f"({a}) {sign} ({b})" for other in OTHERS for a, b in ((number, other), (other, number)) for sign in OPERATORS
    ]
    differences = [f"{text}: {found}" for text in texts if len({*(found := outcomes(text))}) > 1]
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize(
    "text",
    [
        "operator.ne([1], h)", "operator.add([1], [k])", "operator.mul([1], k)", "operator.lt(1j, h)", "any([1], k)", "sorted([2, 1], k)", "hasattr(x, 3)", "float(x[0], 2)",
        "bool(x[0], 2)", "filter(None)", "all()", "len(x, x)", "abs()", "isinstance(x)", "range(3).__doc__[:9]", "hasattr(range(3), '__module__')", "dict([], 1)",
        "list([k], [k])", "next(iter([k]), 2, 3)", "getattr(x, 'T', 1, 2)",
    ],
)  # fmt: skip
def test_functions_take_what_pythons_take(text: str) -> None:
    found = outcomes(text)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "method",
    ["is_integer", "as_integer_ratio", "hex", "bit_count", "numerator", "denominator", "__trunc__", "__floor__"],
)
def test_what_only_numbers_have_needs_the_value(method: str) -> None:
    x = np.arange(4) if method in ("bit_count", "numerator", "denominator") else np.arange(4.0)

    def asked(x: Any) -> Any:
        found = getattr(x[1], method)
        return found() if callable(found) else found

    assert wf.jit(asked, strict=False)(x) == asked(x)
    with pytest.raises(wf.Error):
        wf.jit(asked)(x)
