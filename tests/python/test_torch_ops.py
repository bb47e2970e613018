"""A part of tests/torch_ops: torch's own samples of operations that models use, forward and backward, are right and native."""

import sys
from pathlib import Path

import needs_torch
import pytest

needs_torch.require()
pytest.importorskip("expecttest")  # which torch's samples need

sys.path.insert(0, str(Path(__file__).parents[1] / "torch_ops"))

import run

NAMES = """
    abs add addmm amax any arange argmax baddbmm bmm cat cdist clamp cos cumsum div eq erf exp expand flip floor_divide fmod gather ge gelu
    index_add index_put index_select isnan linalg.cholesky linalg.det linalg.eigh linalg.inv linalg.lu linalg.pinv linalg.qr linalg.slogdet
    linalg.solve linalg.svd linspace log log_softmax logsumexp masked_fill matmul max mean min mm mul nn.functional.avg_pool2d
    nn.functional.conv1d nn.functional.conv2d nn.functional.conv_transpose2d nn.functional.cross_entropy nn.functional.embedding
    nn.functional.gelu nn.functional.group_norm nn.functional.layer_norm nn.functional.linear nn.functional.max_pool2d nn.functional.pad
    nn.functional.silu nn.functional.softplus permute pow prod remainder repeat roll rsqrt scatter scatter_add scatter_reduce select
    sigmoid slice_scatter softmax sort split squeeze stack std sub sum take_along_dim tanh topk transpose tril unbind unfold var where
"""
OPS = [op for op in run.op_db if op.name in NAMES.split()]
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_samples_of_operations_are_right_and_native(part):
    checker = run.Checker()
    found = {f"{op.name}.{op.variant_test_name}": run.verdict(op, 3, checker) for op in OPS[part::PARTS]}
    assert {name: told for name, told in found.items() if told[0] != "native"} == {}, checker.reasons


def test_operations_that_torch_runs_are_told_apart():
    ops = {op.name: op for op in run.op_db}
    checker = run.Checker()
    assert run.verdict(ops["special.bessel_j0"], 1, checker)[0] == "fallback"
    assert run.verdict(ops["uniform"], 1, checker)[0] == "draws"
    assert run.verdict(ops["nonzero"], 1, checker)[0] == "no graph"
