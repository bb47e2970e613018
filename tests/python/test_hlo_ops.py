"""Loops, branches, windows, sorting, factorisations and collectives as HLO: XLA gives what JAX gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_hlo import run_by_xla, text_of

import weftwork as wf

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
lax = jax.lax

GENERATOR = np.random.default_rng(3)


def normal(*dims: int) -> np.ndarray:
    return GENERATOR.normal(size=dims).astype(np.float32)


def pooled(x: Any) -> Any:
    return (lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID") ** 2).sum()


def dilated_convolution(x: Any, k: Any) -> Any:
    return lax.conv_general_dilated(
        x, k, (2, 1), [(1, 2), (0, 1)], (1, 2), (2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


COMPLEX = (normal(3, 4, 8) + 1j * normal(3, 4, 8)).astype(np.complex64)
SQUARE = 4 * np.eye(4, dtype=np.float32) + np.ones((4, 4), np.float32)
SQUARE += np.diag(np.arange(4, dtype=np.float32))
PROGRAMS: dict[str, tuple[Callable, tuple]] = {
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, x)), (normal(3),)),
    "while of one value": (lambda x: lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 2, x), (abs(normal(3)),)),
    "scan": (lambda x: lax.scan(lambda c, a: (c + a, c * a), 0.0, x), (normal(6),)),
    "if": (lambda x: lax.cond(x[0] > 0, lambda x: x + 1, lambda x: -x, x), (normal(3),)),
    "case": (lambda i, x: lax.switch(i, [lambda x: x + 1, lambda x: -x, lambda x: x * x], x), (np.int32(2), normal(3))),
    "sort": (lambda x: jnp.sort(x, axis=0), (normal(5, 3),)),
    "sort by total order": (lax.sort, (np.array([np.nan, 1, -0.0, 0.0, -np.nan, -5, np.inf], np.float32),)),
    "argsort": (lambda x: jnp.argsort(x, axis=1), (normal(5, 3),)),
    "top_k": (lambda x: lax.top_k(x, 2), (normal(5, 7),)),
    "convolution": (dilated_convolution, (normal(2, 8, 9, 3), normal(3, 2, 3, 4))),
    "grouped convolution": (lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2), (normal(2, 4, 8, 9), normal(6, 2, 3, 3))),
    "reduce_window": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), [(0, 0), (1, 1)]), (normal(6, 7),)),
    "cumsum": (lambda x: jnp.cumsum(x, axis=0), (normal(6, 7),)),
    "select_and_scatter": (jax.grad(pooled), (normal(6, 6),)),
    "reduce of two": (lambda x: lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), (normal(3, 4),)),
    "argmax": (lambda x: jnp.argmax(x, axis=1), (normal(3, 4),)),
    "fft": (jnp.fft.fft, (COMPLEX,)),
    "ifft": (jnp.fft.ifft, (COMPLEX,)),
    "rfft": (jnp.fft.rfft, (normal(3, 8),)),
    "irfft": (jnp.fft.irfft, (COMPLEX,)),
    "fft of two dimensions": (jnp.fft.fft2, (COMPLEX,)),
    "random bits": (lambda key: jax.random.bits(key, (5,)), (np.array([1, 2], np.uint32),)),
    "optimization_barrier": (lambda x: lax.optimization_barrier((x, x + 1)), (normal(3),)),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), (normal(3, 4),)),
    "calls": (lambda x: jax.jit(jnp.tanh)(x) + jax.jit(jnp.tanh)(x + 1), (normal(3, 4),)),
    "erf_inv": (lax.erf_inv, (np.tanh(normal(30)),)),
    "cholesky": (jnp.linalg.cholesky, (np.stack([SQUARE, SQUARE + 1]),)),
    "triangular solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True, transpose_a=True), (SQUARE, normal(4, 2))),
    "lu": (lax.linalg.lu, (normal(2, 5, 3),)),
    "solve": (jnp.linalg.solve, (SQUARE, normal(4, 2))),
    "qr": (jnp.linalg.qr, (normal(2, 5, 3),)),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), (normal(2, 5, 3),)),
    "eigh": (jnp.linalg.eigh, (SQUARE,)),
    "product of bf16 in f32": (
        lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32),
        (normal(3, 4).astype(jnp.bfloat16), normal(4, 5).astype(jnp.bfloat16)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax_come_out_as_they_went_in(name: str) -> None:
    function, args = PROGRAMS[name]
    wanted = jax.tree.leaves(jax.jit(function)(*args))
    outputs = run_by_xla(wf.stablehlo.parse(jax.jit(function).lower(*args).as_text()), list(args))
    for actual, expected in zip(outputs, wanted, strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=1e-5)


def program(body: str, arguments: str, result: str) -> wf.Graph:
    return wf.stablehlo.parse(f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}")


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_leaves_zeros_in_the_other_triangle(lower: bool) -> None:
    a = normal(2, 4, 4)
    a = a @ a.transpose(0, 2, 1) + 4 * np.eye(4, dtype=np.float32)
    text = f'%r = "stablehlo.cholesky"(%a) {{lower = {str(lower).lower()}}} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>'
    factor = np.linalg.cholesky(a)
    (actual,) = run_by_xla(program(text, "%a: tensor<2x4x4xf32>", "tensor<2x4x4xf32>"), [a])
    np.testing.assert_allclose(actual, factor if lower else factor.transpose(0, 2, 1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems_are_solved(lower: bool, left: bool, transpose: str) -> None:
    a = normal(3, 3) + 4 * np.eye(3, dtype=np.float32)
    b = normal(3, 2) if left else normal(2, 3)
    flags = f"left_side = {left}, lower = {lower}, unit_diagonal = false".lower()
    kind = f"tensor<{b.shape[0]}x{b.shape[1]}xf32>"
    text = (
        f'%r = "stablehlo.triangular_solve"(%a, %b) {{{flags}, transpose_a = #stablehlo<transpose {transpose}>}}'
        f" : (tensor<3x3xf32>, {kind}) -> {kind}"
    )
    (x,) = run_by_xla(program(text, f"%a: tensor<3x3xf32>, %b: {kind}", kind), [a, b])
    matrix = np.tril(a) if lower else np.triu(a)
    matrix = matrix if transpose == "NO_TRANSPOSE" else matrix.T
    np.testing.assert_allclose(matrix @ x if left else x @ matrix, b, rtol=1e-4, atol=1e-5)


def test_custom_calls_keep_target_and_configuration() -> None:
    call = '%r = "stablehlo.custom_call"(%x) {call_target_name = "f", backend_config = "c\\0A\\22", has_side_effect = true}'
    graph = program(f"{call} : (tensor<4xf32>) -> tensor<4xf32>", "%x: tensor<4xf32>", "tensor<4xf32>")
    text = text_of(graph)
    assert 'custom_call_target="f", custom_call_has_side_effect=true' in text
    assert r'backend_config="c\n\""' in text


COLLECTIVES = {
    "all_reduce": ("({ ^bb0(%l: tensor<f32>, %m: tensor<f32>): %s = stablehlo.add %l, %m : tensor<f32> stablehlo.return %s : tensor<f32> })", ""),
    "all_gather": ("", "all_gather_dim = 0 : i64, "),
    "reduce_scatter": ("({ ^bb0(%l: tensor<f32>, %m: tensor<f32>): %s = stablehlo.add %l, %m : tensor<f32> stablehlo.return %s : tensor<f32> })",
                       "scatter_dimension = 0 : i64, "),
    "all_to_all": ("", "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, "),
}  # fmt: skip


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_name_their_groups(name: str) -> None:
    region, attributes = COLLECTIVES[name]
    groups = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
    call = f'%r = "stablehlo.{name}"(%x) {region} {{{attributes}{groups}}} : (tensor<4xf32>) -> tensor<4xf32>'
    graph = program(call, "%x: tensor<4xf32>", "tensor<4xf32>")
    assert f" {name.replace('_', '-')}(%x), replica_groups={{{{0}}}}" in text_of(graph)
    np.testing.assert_array_equal(run_by_xla(graph, [np.arange(4, dtype=np.float32)])[0], np.arange(4))


def test_groups_of_several_ranks_are_rows() -> None:
    region, _ = COLLECTIVES["all_reduce"]
    channel = "channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, use_global_device_ids, "
    for groups, wanted in (
        ("[[0, 2], [1, 3]]> : tensor<2x2xi64>", "{{0,2},{1,3}}"),
        ("[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>", "{{0,1,2},{3}}"),
    ):
        call = f'%r = "stablehlo.all_reduce"(%x) {region} {{{channel}replica_groups = dense<{groups}}} : (tensor<4xf32>) -> tensor<4xf32>'
        text = text_of(program(call, "%x: tensor<4xf32>", "tensor<4xf32>"))
        assert f"channel_id=3, replica_groups={wanted}, use_global_device_ids=true" in text


def test_permutations_name_their_pairs() -> None:
    call = '%r = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}'
    graph = program(f"{call} : (tensor<4xf32>) -> tensor<4xf32>", "%x: tensor<4xf32>", "tensor<4xf32>")
    assert "collective-permute(%x), source_target_pairs={{0,0}}" in text_of(graph)
