"""Drawn programs run by NumPy, by machine code and by the interpreter, and compared.

    python tests/python/differential.py COUNT [SEED [NAME]]

runs a campaign of COUNT programs and prints each that differs once for each function.
"""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import more_forms  # noqa: F401  registers its forms
import numpy as np
from drawing import Drawing, fresh, quiet
from forms import FORMS

import weftwork as wf


@dataclass
class Program:
    """Statements over arguments; ``results`` are the names of what they gave, with tolerances in ulps."""

    args: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    ulps: list[float] = field(default_factory=list)

    def source(self) -> str:
        lines = [*self.lines, f"return ({''.join(r + ', ' for r in self.results)})"]
        return f"def program({', '.join(self.args)}):\n" + "".join(f"    {line}\n" for line in lines)

    def function(self) -> Any:
        scope: dict[str, Any] = {"np": np}
        exec(compile(self.source(), "<program>", "exec"), scope)
        return scope["program"]

    def __str__(self) -> str:
        shown = [f"{n} = {v!r}  # {type(v).__name__}" + (f" {v.dtype.str} {v.shape} {v.strides} {v.flags.writeable}" if isinstance(v, np.ndarray) else "")
                 for n, v in self.args.items()]  # fmt: skip
        return "\n".join([*shown, self.source()])


#: Errors of NumPy's that depend on values, which are known only when a program runs, or that nothing is lost without.
OF_VALUES = re.compile(
    "negative integer powers|cannot convert float|Error setting single item of array|setting an array element with a sequence|out of bounds for axis"
    "|All-NaN slice|Too many bins|cannot include zero|out of bounds for u?int|[Ss]ingular|not positive definite|did not converge|is read-only|unexpected keyword argument 'correction'|invalid entry in c"
    "|attempt to get arg|not enough values to unpack|or non-finite|index .* is out of bounds|only supported for booleans|destination is read-only"
)


@dataclass
class Outcome:
    """What a run gave: results and arguments afterwards, or an error; ``undefined``: integers made of what they cannot hold."""

    results: Any = None
    args: Any = None
    error: Exception | None = None
    undefined: bool = False


def outcome_of(program: Program, run: Any) -> Outcome:
    args = [fresh(v) for v in program.args.values()]
    with np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = run(program.function())(*args)
        except Exception as error:
            return Outcome(error=error)
    return Outcome(results, args, undefined=any("invalid value" in str(w.message) for w in caught))


def kind_of(value: Any) -> str:
    """Whether it is an array or a number: NumPy gives numbers where an array has no dimensions, most often."""
    return "array" if isinstance(value, np.ndarray) else "number"


def difference(actual: Any, wanted: Any, ulps: float, eps: float = 0, undefined: Any = False, where: str = "") -> str:
    """What differs, or nothing; ``eps`` is that of the coarsest dtype of the program."""
    if isinstance(wanted, (tuple, list)):
        if not isinstance(actual, (tuple, list)) or len(actual) != len(wanted):
            return f"{where}: structure {type(actual).__name__} for {type(wanted).__name__}"
        found = (
            difference(a, w, ulps, eps, undefined, f"{where}[{i}]")
            for i, (a, w) in enumerate(zip(actual, wanted, strict=True))
        )
        return next((text for text in found if text), "")
    if undefined == "all":
        return ""
    if wanted is None or (isinstance(wanted, (bool, int, float, complex, str)) and not isinstance(wanted, np.generic)):
        same = actual == wanted or (actual != actual and wanted != wanted)
        return (
            ""
            if same and type(actual) is type(wanted)
            else f"{where}: {actual!r} ({type(actual).__name__}) for {wanted!r} ({type(wanted).__name__})"
        )
    if kind_of(actual) != kind_of(wanted):
        return f"{where}: kind {type(actual).__name__} for {type(wanted).__name__}"
    a, w = np.asarray(actual), np.asarray(wanted)
    if a.dtype.newbyteorder("=") != w.dtype.newbyteorder("="):
        return f"{where}: dtype {a.dtype} for {w.dtype}"
    if a.shape != w.shape:
        return f"{where}: shape {a.shape} for {w.shape}"
    good = agree(a, w, ulps, eps)
    if good.all() or (undefined and w.dtype.kind in "iu"):
        return ""
    place = tuple(int(i) for i in np.argwhere(~good)[0])
    return f"{where}: value {a[place]!r} for {w[place]!r} at {place}"


def agree(a: np.ndarray, w: np.ndarray, ulps: float, eps: float) -> np.ndarray:
    """Where elements are equal: NaN with NaN, zeros by sign, finite numbers within the tolerance."""
    if w.dtype.kind == "c":
        if not ulps:
            return agree(a.real, w.real, 0, 0) & agree(a.imag, w.imag, 0, 0)
        # A part of a complex result is as exact as the whole is.
        finite = np.isfinite(a) & np.isfinite(w)
        scale = np.max(np.abs(w), where=np.isfinite(w), initial=0)
        with np.errstate(all="ignore"):
            near = np.abs(a - w) <= ulps * max(eps, np.finfo(w.dtype).eps) * scale
        same = np.isfinite(a) == np.isfinite(w)
        return np.where(
            finite,
            near,
            same if ulps >= 4 else same & agree(a.real, w.real, ulps, eps) & agree(a.imag, w.imag, ulps, eps),
        )
    if w.dtype.kind not in "fV":
        return a == w
    eps = max(eps, float(np.finfo(w.dtype).eps)) if w.dtype.kind == "f" else 2**-8
    a, w = a.astype(float), w.astype(float)
    exact = (a == w) & ((np.signbit(a) == np.signbit(w)) | (ulps > 0)) | np.isnan(a) & np.isnan(w)
    if not ulps:
        return exact
    scale = np.max(np.abs(w), where=np.isfinite(w), initial=0)
    with np.errstate(all="ignore"):
        return exact | (np.isfinite(a) & np.isfinite(w) & (np.abs(a - w) <= ulps * eps * scale))


def verdict(program: Program, machine_code: bool = True, interpreter: bool = True) -> str:
    """'equal', 'refused: LABEL', 'raises' where NumPy does too, or 'WRONG …'."""
    wanted = outcome_of(program, lambda f: f)
    result = "equal"
    undefined = wanted.undefined and (
        "all"
        if len(program.lines) > 1
        and any(getattr(v, "dtype", np.dtype(float)).kind in "biu" for v in program.args.values())
        else True
    )
    eps = max(
        (
            float(np.finfo(v.dtype).eps)
            for v in program.args.values()
            if getattr(v, "dtype", np.dtype(int)).kind in "fc"
        ),
        default=0,
    )
    if "out=" in str(program.lines):
        # What is computed of small integers is computed in small floats.
        small = {1: np.float16, 2: np.float32}
        eps = max(
            eps,
            *(
                float(np.finfo(small.get(v.itemsize, float)).eps)
                for v in program.args.values()
                if getattr(v, "dtype", np.dtype(float)).kind in "biu"
            ),
            0,
        )
    for name, run in (("simulate", wf.simulate), ("jit", wf.jit)):
        if not (interpreter if name == "simulate" else machine_code):
            continue
        actual = outcome_of(program, run)
        if actual.error is not None:
            error = actual.error
            if isinstance(error, wf.errors.InternalError):
                return f"WRONG {name} internal error {error}"
            if wanted.error is not None:
                result = (
                    "raises"
                    if fits(error, wanted.error)
                    else f"CLASS {name} {type(error).__name__}: {error} for {type(wanted.error).__name__}: {wanted.error}"
                )
            elif isinstance(error, wf.errors.Error):
                result = f"refused: {getattr(error, 'label', '') or type(error).__name__} {str(error).splitlines()[0]}"
            else:
                text = "".join(traceback.format_exception(error)[-3:])
                return f"WRONG {name} untyped {type(error).__name__}: {error}\n{text}"
            continue
        if wanted.error is not None:
            if OF_VALUES.search(str(wanted.error)) or isinstance(wanted.error, np.linalg.LinAlgError):
                result = "value error"
                continue
            return f"WRONG {name} gives {actual.results!r} where NumPy raises {type(wanted.error).__name__}: {wanted.error}"
        for i, ulps in enumerate(program.ulps):
            if text := difference(actual.results[i], wanted.results[i], ulps, eps, undefined, program.results[i]):
                return f"WRONG {name} {text}"
        for argument, a, w in zip(program.args, actual.args, wanted.args, strict=True):
            if isinstance(w, np.ndarray) and (
                text := difference(a, w, max([0, *program.ulps]), eps, undefined, f"{argument} afterwards")
            ):
                return f"WRONG {name} {text}"
    return result


def fits(error: Exception, wanted: Exception) -> bool:
    """Whether an error is of a class that an except clause for NumPy's catches; what is not compiled may raise its own."""
    if isinstance(error, (wf.errors.UnsupportedError, wf.errors.DataDependentError)):
        return True
    if isinstance(error, type(wanted)) or (isinstance(error, wf.errors.Error) and "cast" in error.label):
        return True
    return any(
        isinstance(error, kind)
        for kind in (TypeError, ValueError, IndexError, OverflowError)
        if isinstance(wanted, kind)
    )


def one_call(random: Random, name: str) -> Program:
    """A program of one call of a function."""
    d = Drawing(random)
    form, ulps = FORMS[name]
    text = form(d)
    inexact = max(ulps, 1e-9 if name in TIES else 0)
    if "complex" in text or any(
        getattr(v, "dtype", np.dtype(int)).kind == "c" or isinstance(v, complex) for v in d.args.values()
    ):
        inexact = 2048 if name in POWERS else max(ulps, COMPLEX.get(name, 0))
    return with_statement(d, Program(d.args), text, inexact)


def selected_call(random: Random, name: str) -> Program:
    """A program of one call of a function where some of its arrays are what masks select."""
    program, selections = one_call(random, name), []
    masks: dict[tuple[int, ...], str] = {}
    for argument, value in list(program.args.items()):
        if not isinstance(value, np.ndarray) or not value.ndim or random.random() < 0.2:
            continue
        shape = value.shape if random.random() < 0.3 else value.shape[:1]
        if shape not in masks or random.random() < 0.2:
            masks[shape] = f"m{len(program.args)}"
            chosen = [random.random() < 0.6 for _ in range(int(np.prod(shape)))]
            program.args[masks[shape]] = np.array(chosen, bool).reshape(shape)
        ways = [f"{argument}[{masks[shape]}]"] * 8
        if len(shape) == 1:
            ways += [
                f"np.compress({masks[shape]}, {argument}, axis=0)",
                f"{argument}[np.flatnonzero({masks[shape]})]",
            ]
        selections.append(f"{argument} = {random.choice(ways)}")
    program.lines[:0] = selections
    return program


#: Tolerances of complex results of functions that are exact of real ones.
COMPLEX = dict.fromkeys(
    [
        "multiply",
        "divide",
        "true_divide",
        "square",
        "reciprocal",
        "setitem",
        "inplace",
        "ufunc.outer",
        "ufunc.at",
        "ufunc.reduce",
        "ufunc.accumulate",
        "prod",
        "nanprod",
        "cumprod",
        "nancumprod",
        "cumulative_prod",
        "copyto",
    ],
    3.99,
)
POWERS = {"pow", "power", "float_power"}
COMPLEX.update(dict.fromkeys(["sqrt", "absolute", "abs", "sign"], 4))


def random_program(random: Random, length: int, selects: bool = False) -> Program:
    """Statements one after another, views and writes among them: what inexact ones gave is only returned.

    ``selects``: they begin with what a mask selects.
    """
    d = Drawing(random)
    program = Program(d.args)
    if selects:
        select_first(d, program)
    for number in range(length):
        name = d.pick(*STEPS) if d.chance(0.5) else d.pick(*EXACT_FORMS)
        before = {n: v for n, v in d.env.items()}
        text = FORMS[name][0](d)
        line = text if is_statement(d, text) else f"r{number} = {text}"
        trial = {n: fresh(v) for n, v in d.args.items()} | {"np": np}
        source = "\n".join([*program.lines, line])
        try:
            quiet(lambda: exec(source, trial))  # noqa: B023
        except Exception:
            # What is not in the result is not looked at by the one program either.
            if selects or not d.chance(0.1):
                d.env = before | {n: v for n, v in d.env.items() if n in d.args}
                continue
            program.lines.append(line)
            break
        program.lines.append(line)
        d.env = trial
        if line != text:
            program.results.append(f"r{number}")
            program.ulps.append(
                3.99 if any(getattr(v, "dtype", np.dtype(int)).kind == "c" for v in trial.values()) else 1e-9
            )
            if isinstance(trial[f"r{number}"], np.ndarray):
                d.pool.append(f"r{number}")
    return program


def select_first(d: Drawing, program: Program) -> None:
    """Begins with what one mask selects of two arrays."""
    first = d.array(ndim=(1, 3))
    d.pool.remove(first)
    second = d.array(shape=d.of(first).shape)
    d.pool.remove(second)
    mask = d.bind(np.array([d.chance(0.6) for _ in range(len(d.of(first)))], bool))
    program.lines += [f"{name} = {name}[{mask}]" for name in (first, second)]
    d.env = {n: fresh(v) for n, v in d.args.items()} | {"np": np}
    quiet(lambda: exec("\n".join(program.lines), d.env))
    d.pool += [first, second]


def is_statement(d: Drawing, text: str) -> bool:
    return (
        "= " in text
        and text.split("= ")[0].rstrip("+-*/%&|^<>").rstrip().endswith(("]", *d.pool))
        and text[:1] in "ar"
        and not text.startswith("repr")
    )


def with_statement(d: Drawing, program: Program, text: str, ulps: float) -> Program:
    if is_statement(d, text):
        program.lines.append(text)
        if ulps:
            program.results.append("None")
            program.ulps.append(ulps)
    else:
        result = f"r{len(program.lines)}"
        program.lines.append(f"{result} = {text}")
        program.results.append(result)
        program.ulps.append(ulps)
    return program


#: Functions of which zeros may have another sign: NumPy's own choice between 0.0 and -0.0 differs from loop to loop.
TIES = {
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "clip",
    "max",
    "min",
    "amax",
    "amin",
    "nanmax",
    "nanmin",
    "sort",
    "ndarray.sort",
    "sort_complex",
    "partition",
    "ufunc.reduce",
    "ufunc.accumulate",
    "ufunc.reduceat",
    "apply_along_axis",
    "apply_over_axes",
    "ufunc.at",
    "ptp",
}
SIGNED = {
    "signbit",
    "copysign",
    "reciprocal",
    "arctan2",
    "ndarray.view",
    "divide",
    "true_divide",
    "ndarray.byteswap",
    "astype",
    "sign",
    "angle",
}
#: Functions for programs of several: exact for all dtypes but complex ones, and those that make views or write most of all.
EXACT_FORMS = [
    n
    for n, (_, ulps) in FORMS.items()
    if not ulps and n not in COMPLEX and n not in POWERS | SIGNED and not n.startswith(("ufunc.", "empty", "spacing"))
]
STEPS = [
    "getitem",
    "setitem",
    "inplace",
    "reshape",
    "transpose",
    "ravel",
    "ndarray.flat",
    "ndarray.reshape",
    "add",
    "subtract",
    "maximum",
    "copyto",
    "where",
    "swapaxes",
    "diagonal",
    "real",
    "imag",
    "sort",
    "ndarray.sort",
    "putmask",
    "take",
]


def campaign(count: int, seed: int, names: list[str]) -> None:
    seen: Counter[str] = Counter()
    for i in range(count):
        name = names[i % len(names)]
        random = Random(f"{seed}.{i}")
        try:
            program = random_program(random, 6) if "-p" in sys.argv else one_call(random, name)
            name = "program" if "-p" in sys.argv else name
        except Exception:
            print(f"== {name}: cannot be drawn")
            traceback.print_exc(limit=-3, file=sys.stdout)
            continue
        if "-v" in sys.argv:
            print(f"-- {name}\n{program}", flush=True)
        found = verdict(program)
        seen[f"{name}: {found.split(' ')[0]}"] += 1
        if found[:5] in ("WRONG", "CLASS"):
            key = f"{name} {' '.join(found.split(' ')[:4])}"
            seen[key] += 1
            if seen[key] == 1:
                print(f"== {name} {found}\n{program}")
        elif found.startswith("refused"):
            key = f"   {name} {found[:150]}"
            seen[key] += 1
    for key, number in sorted(seen.items()):
        print(number, key)


if __name__ == "__main__":
    wanted_names = [n for n in FORMS if len(sys.argv) < 4 or sys.argv[3] == "all" or n in sys.argv[3].split(",")]
    campaign(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, wanted_names)
