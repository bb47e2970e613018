"""Functions of complex numbers in each of their parts, and programs of StableHLO's value files beside XLA's values and exact ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-20, -1e-8, 1e8, -1e20, np.pi, 2.0, 60.0, -60.0, 1.0000001], np.float32
)


def plane(count: int = 2000) -> np.ndarray:
    """All about the plane, on its lines of nothing, and where e^z - 1 and |1 + z| - 1 have a part near zero."""
    rng = np.random.default_rng(7)
    scales = 10.0 ** rng.uniform(-8, 1.5, (2, count)) * rng.choice([-1, 1], (2, count))
    small = 10.0 ** rng.uniform(-6, -1, count)
    parts = [
        rng.normal(size=(2, count)) * 3,
        scales,
        np.stack([small * small / 2, small]),
        np.stack([-small * small / 2, small]),
        np.stack([-1 + np.cos(small * 9), np.sin(small * 9)]),
        np.stack(np.meshgrid(EDGES, EDGES)).reshape(2, -1),
    ]
    re, im = np.concatenate(parts, axis=1).astype(np.float32)
    return (re + 1j * im).astype(np.complex64)


def places(given: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The error of each part in units of its last place, 0 where both are no numbers or infinite alike.

    What is left of a part that cancels has the places of an f64.
    """
    parts, size = [], np.where(np.isfinite(np.abs(exact)), np.abs(exact), 0) * 2.0**-50
    for got, wanted in ((given.real, exact.real), (given.imag, exact.imag)):
        unit = (
            np.spacing(np.maximum(np.abs(wanted), np.finfo(got.dtype).tiny).astype(got.dtype)).astype(wanted.dtype)
            + size
        )
        error = np.abs(got.astype(wanted.dtype) - wanted) / unit
        same = (np.isnan(got) & np.isnan(wanted)) | (got == wanted.astype(got.dtype))
        parts.append(np.where(same, 0, error))
    return np.maximum(*parts)


def program(operation: str, x: np.ndarray) -> wf.Graph:
    shown = f"tensor<{x.size}xcomplex<{'f32' if x.dtype == np.complex64 else 'f64'}>>"
    return wf.stablehlo.parse(
        f"func.func @main(%a: {shown}) -> {shown} {{\n  %0 = {operation} %a : {shown}\n  return %0 : {shown}\n}}"
    )


def joined(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    result = np.empty(re.shape, np.clongdouble)
    result.real, result.imag = re, im
    return result


def log1p(z: np.ndarray) -> np.ndarray:
    near = np.log1p(2 * z.real + z.real * z.real + z.imag * z.imag) / 2
    size = np.where(np.abs(near) < 0.5, near, np.log(np.hypot(1 + z.real, z.imag)))
    return joined(size, np.arctan2(z.imag, 1 + z.real))


def expm1(z: np.ndarray) -> np.ndarray:
    return joined(np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2, np.exp(z).imag)


def logistic(z: np.ndarray) -> np.ndarray:
    power = np.exp(np.where(z.real < 0, z, -z))
    # Near the poles the tangent has all digits, far from them 1 + tanh has none.
    return np.where(np.abs(z.real) < 1, (1 + np.tanh(z / 2)) / 2, np.where(z.real < 0, power, 1) / (1 + power))


def square(z: np.ndarray) -> np.ndarray:
    return joined((z.real - z.imag) * (z.real + z.imag), 2 * z.real * z.imag)


FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], float]] = {
    "stablehlo.exponential": (np.exp, 2),
    "stablehlo.exponential_minus_one": (expm1, 1),
    "stablehlo.log_plus_one": (log1p, 1),
    "stablehlo.logistic": (logistic, 1),
    "stablehlo.sine": (np.sin, 1),
    "stablehlo.cosine": (np.cos, 1),
    "stablehlo.tan": (np.tan, 1),
    "stablehlo.tanh": (np.tanh, 1),
    "chlo.square": (square, 2),
    "chlo.asin": (np.arcsin, 1),
    "chlo.acos": (np.arccos, 1),
    "chlo.atan": (np.arctan, 1),
    "chlo.asinh": (np.arcsinh, 1),
    "chlo.acosh": (np.arccosh, 1),
    "chlo.atanh": (np.arctanh, 1),
    "chlo.sinh": (np.sinh, 1),
    "chlo.cosh": (np.cosh, 1),
}


@pytest.mark.parametrize("operation", FUNCTIONS)
def test_both_parts_of_a_complex64_are_near(operation: str) -> None:
    function, bound = FUNCTIONS[operation]
    z = plane()
    graph = program(operation, z)
    with np.errstate(all="ignore"):
        exact = function(z.astype(np.clongdouble))
        errors = [
            (np.asarray(given), places(np.asarray(given), exact))
            for given in (wf.compile(graph)(z), graph.interpret(z))
        ]
    for given, error in errors:
        worst = int(np.argmax(error))
        assert error[worst] <= bound, (z[worst], given[worst], exact[worst], error[worst])


def test_what_is_far_away_has_its_limit() -> None:
    def at(operation: str, z: complex) -> complex:
        x = np.array([z], np.complex64)
        graph = program(operation, x)
        assert wf.compile(graph)(x).tobytes() == graph.interpret(x).tobytes()
        return complex(graph.interpret(x)[0])

    assert at("stablehlo.logistic", -1e6 + 2j) == 0
    assert at("stablehlo.logistic", 1e6 + 2j) == 1
    assert at("stablehlo.exponential_minus_one", complex(np.inf, 0)) == complex(np.inf, 0)
    assert at("stablehlo.exponential_minus_one", complex(-np.inf, 0)) == -1
    assert at("stablehlo.log_plus_one", 3e38 + 3e38j).real == np.float32(np.log(3e38 * np.sqrt(2)))
    assert at("chlo.square", 1e20 + 3e38j) == complex(-np.inf, np.inf)


VECTORS = [np.exp, np.log, np.sqrt, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh]


@pytest.mark.parametrize("target", ["native", "avx2"])
@pytest.mark.parametrize("function", VECTORS, ids=lambda f: f.__name__)
def test_functions_at_their_edges_are_numpys(function: np.ufunc, target: str) -> None:
    ends = [1e-300, -1e-310, 5e-324, 1e300, -1e308, 1e20, 1e10, np.inf, -np.inf, np.nan]
    parts = np.array([0.0, -0.0, 1, -1, 0.5, 21.9, -22.1, 700, -700, 710, 800, -800, 1500, np.pi / 2, *ends])
    z = np.empty((parts.size, parts.size), complex)
    z.real, z.imag = np.meshgrid(parts, parts)
    with np.errstate(over="ignore"):
        single = z.astype(np.complex64)
    for x in (z, single, z[0, 0], z[3:4, 0], z[::-3, 1::2], z[:0]):
        given = np.asarray(wf.jit(lambda x: function(x), target=target)(x))
        with np.errstate(all="ignore"):
            asked = np.asarray(function(x))
        assert given.dtype == asked.dtype
        for a, b in ((given.real, asked.real), (given.imag, asked.imag)):
            same = (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))
            with np.errstate(invalid="ignore"):
                near = np.abs(a - b) <= 6 * np.spacing(np.maximum(np.abs(a), np.abs(b)))
            assert (same | near).all(), (x[~(same | near)], a[~(same | near)], b[~(same | near)])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_products_are_numpys_to_the_last_bit(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    for count in (1, 2, 3, 7, 16, 1001):
        a, b = ((rng.normal(size=count) + 1j * rng.normal(size=count)).astype(dtype) for _ in range(2))
        for function in (lambda a, b: a * b, lambda a, b: np.square(a) + b, lambda a, b: a**3):
            assert wf.jit(function, target="native")(a, b).tobytes() == function(a, b).tobytes()


def expanded(text: str) -> str:
    """The same program with CHLO's operations written out."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir._mlir_libs import _stablehlo

    _stablehlo.register_stablehlo_passes()
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
        return str(module.operation.get_asm())


def reals() -> np.ndarray:
    rng = np.random.default_rng(9)
    parts = [
        rng.normal(size=4000) * 3,
        10.0 ** rng.uniform(-20, 0, 4000) * rng.choice([-1, 1], 4000),
        rng.uniform(-1, 1, 4000),
        rng.normal(size=2000) * 40,
    ]
    return np.concatenate([*parts, [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan]]).astype(np.float32)


def value_programs() -> dict[str, tuple[Callable[..., Any], tuple]]:
    """The programs of value files that XLA's own values were once farthest from ours in."""
    from jax import lax

    rng = np.random.default_rng(5)
    z = (rng.normal(size=2000) + 1j * rng.normal(size=2000)).astype(np.complex64) * np.float32(3)
    programs: dict[str, tuple[Callable[..., Any], tuple]] = {
        **{name: (getattr(lax, name), (reals(),)) for name in ("cosh", "sinh", "erf_inv")},
        **{f"{name} complex": (getattr(lax, name), (z,)) for name in ("asin", "expm1", "log1p", "logistic", "square")},
        **{f"power {n}": (lambda z, n=n: lax.integer_pow(z, n), (z,)) for n in (2, 3, 4, -2)},
        "convolution": (
            lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            (rng.normal(size=(2, 9, 10, 3)).astype(np.float32), rng.normal(size=(3, 3, 3, 3)).astype(np.float32)),
        ),
    }
    for left, right in [
        (np.int8, np.float32),
        (np.uint16, np.float32),
        (np.int32, np.float32),
        (np.float16, np.complex64),
        (np.int64, np.complex64),
    ]:
        a = (rng.normal(size=(4, 3)) * 5).astype(left) if left != np.uint16 else rng.integers(0, 9, (4, 3)).astype(left)
        b = (rng.normal(size=(3, 6)) * 3 + (1j * rng.normal(size=(3, 6)) if right == np.complex64 else 0)).astype(right)
        programs[f"{np.dtype(left)} by {np.dtype(right)}"] = (
            lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ()))),
            (a, b),
        )
    return programs


@pytest.fixture(scope="module")
def jax() -> Any:
    return pytest.importorskip("jax")


NAMES = [
    "cosh", "sinh", "erf_inv", "asin complex", "expm1 complex", "log1p complex", "logistic complex", "square complex", "power 2", "power 3", "power 4",
    "power -2", "convolution", "int8 by float32", "uint16 by float32", "int32 by float32", "float16 by complex64", "int64 by complex64",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_xlas_value_is_nearer_to_the_exact_one(jax: Any, name: str) -> None:
    from test_stablehlo import run_text_by_xla

    function, args = value_programs()[name]
    with jax.enable_x64(True):
        plain = jax.jit(function).lower(*args).as_text()
        wide = [a.astype(np.complex128 if np.iscomplexobj(a) else np.float64) for a in args]
        exact = np.asarray(jax.jit(function)(*wide))
        # Sums are near by the size of their terms, and a complex number is near as a whole.
        size = np.asarray(jax.jit(function)(*[abs(a) for a in wide])) if len(args) == 2 else np.abs(exact)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(size), 1e-30).astype(np.float32)).astype(np.float64)
    for text in {plain, expanded(plain)}:
        theirs = run_text_by_xla(text, list(args))[0]
        graph = wf.stablehlo.parse(text)
        for ours in (np.asarray(wf.compile(graph)(*args)), np.asarray(graph.interpret(*args))):
            with np.errstate(invalid="ignore"):
                apart, error, xla_error = (
                    np.abs(a - b) / unit for a, b in ((ours, theirs), (ours, exact), (theirs, exact))
                )
            agree = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | (apart <= 3)
            worse = ~agree & ~(error <= np.maximum(xla_error, 3))
            assert not worse.any(), (name, ours[worse][:3], theirs[worse][:3], exact[worse][:3], error[worse][:3])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_magnitudes_are_numpys_to_the_bit(dtype: Any) -> None:
    """Elements that are as large as each other are so here: `argmax` gives the same place."""
    rng = np.random.default_rng(3)
    edges = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, 1e-45, 1e-320, 3e38, 1.7e308, 1e-30])
    with np.errstate(all="ignore"):
        odd = (edges[:, None] + np.zeros((11, 11), dtype)).astype(dtype)
        odd.imag = edges
        parts = rng.standard_normal((2, 5003)) * 10 ** rng.uniform(-3, 3, (2, 5003))
        for z in (odd, (parts[0] + 1j * parts[1]).astype(dtype), np.zeros((0, 3), dtype)):
            np.testing.assert_array_equal(wf.jit(np.abs)(z), np.abs(z))
    turned = np.array([0.70710677 + 0j, -0.02074861 - 0.7068023j], np.complex64)
    assert wf.jit(lambda z: np.abs(z).argmax())(turned) == np.abs(turned).argmax()
