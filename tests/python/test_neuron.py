"""target="neuron": what neuronx-cc is asked, what comes back, and what is said where it is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weftwork as wf

# A stand-in for the compiler: it keeps what it was asked beside itself and "compiles" by copying.
COMPILER = """#!{python}
import json, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
given = dict(zip(words[1:], words[2:]))
source = next(word for word in words if word.endswith(".pb"))
(here / "asked.json").write_text(json.dumps(words))
shutil.copy(source, here / "hlo.pb")
print("some progress")
if "--refuse" in words:
    sys.exit("ERROR: cannot lower %add.3")
if "--nothing" not in words:
    pathlib.Path(given["--output"]).write_bytes(b"NEFF" + pathlib.Path(source).read_bytes())
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "bin" / "neuronx-cc"
    file.parent.mkdir()
    file.write_text(COMPILER.format(python=sys.executable))
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent), prepend=":")
    for name in ("WEFT_NEURONX_CC", "WEFT_TARGET", "NEURON_CC_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    return file


def asked(compiler: Path) -> list[str]:
    return json.loads((compiler.parent / "asked.json").read_text())


def layer(x: Any, w: Any) -> Any:
    return np.tanh(x @ w)


ARRAYS = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)


def test_the_hlo_goes_to_the_compiler_and_its_file_comes_back(compiler: Path, tmp_path: Path) -> None:
    graph = wf.trace(layer, *ARRAYS)
    neff = wf.compile(graph, target="neuron:trn1")
    words = asked(compiler)
    assert words[:3] == ["compile", "--framework", "XLA"] and words[3].endswith("hlo_module.pb")
    assert words[4:7] == ["--target", "trn1", "--output"] and words[7].endswith("file.neff") and len(words) == 8
    assert neff.content == b"NEFF" + graph.hlo_proto()
    assert neff.family == "trn1" and neff.log == "some progress\n"
    assert [io.name for io in neff.inputs] == ["x", "w"] and neff.outputs[0].shape == (2, 4)
    neff.save(tmp_path / "layer.neff")
    assert (tmp_path / "layer.neff").read_bytes() == neff.content
    assert not Path(words[3]).exists()


def test_the_proto_is_a_module_with_the_names_of_parameters(compiler: Path) -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    wf.compile(wf.trace(layer, *ARRAYS), target="neuron")
    text = hlo.HloModule.from_serialized_hlo_module_proto((compiler.parent / "hlo.pb").read_bytes()).to_string()
    assert "ENTRY" in text and "f32[2,3]" in text and "parameter(1)" in text and "tanh" in text


def test_family_flags_and_compiler_can_be_set_from_outside(compiler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = compiler.rename(compiler.parent / "another-cc")
    monkeypatch.setenv("WEFT_NEURONX_CC", str(moved))
    monkeypatch.setenv("WEFT_TARGET", "neuron:trn2")
    monkeypatch.setenv("NEURON_CC_FLAGS", "--lnc 1 --model-type='transformer'")
    assert wf.compile(layer, *ARRAYS).family == "trn2"
    assert asked(compiler)[8:] == ["--lnc", "1", "--model-type=transformer"]


def test_without_a_family_it_is_that_of_the_machine(
    compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = tmp_path / "product_name"
    monkeypatch.setattr(wf.neuron, "PRODUCT_NAME", product)
    assert wf.compile(layer, *ARRAYS, target="neuron").family == "trn2"
    product.write_text("trn1.32xlarge\n")
    assert wf.compile(layer, *ARRAYS, target="neuron").family == "trn1"


def test_what_the_compiler_says_is_in_the_error(compiler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_CC_FLAGS", "--refuse")
    with pytest.raises(
        wf.errors.ExecutionError, match=r"ended with 1 (.|\n)*cannot lower %add.3(.|\n)*\[neuron_refused\]"
    ):
        wf.compile(layer, *ARRAYS, target="neuron")
    monkeypatch.setenv("NEURON_CC_FLAGS", "--nothing")
    with pytest.raises(wf.errors.ExecutionError, match="wrote no NEFF"):
        wf.compile(layer, *ARRAYS, target="neuron")


def test_a_missing_compiler_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("WEFT_NEURONX_CC", raising=False)
    with pytest.raises(wf.errors.ExecutionError, match=r"not on PATH.*pip install neuronx-cc.*\[neuron_compiler\]"):
        wf.compile(layer, *ARRAYS, target="neuron")
    monkeypatch.setenv("WEFT_NEURONX_CC", str(tmp_path / "absent"))
    with pytest.raises(wf.errors.ExecutionError, match=r"names '.*absent', which is no executable file"):
        wf.compile(layer, *ARRAYS, target="neuron")


def test_running_says_that_it_needs_a_device(compiler: Path) -> None:
    with pytest.raises(wf.errors.ExecutionError, match=r"save\(path\) writes the NEFF.*\[neuron_device\]"):
        wf.compile(layer, *ARRAYS, target="neuron")(*ARRAYS)
    with pytest.raises(wf.errors.ExecutionError, match=r"needs a Neuron device.*wf.compile.*\[neuron_device\]"):
        wf.jit(layer, target="neuron")(*ARRAYS)
    assert wf.compile(wf.jit(layer, target="neuron:trn1"), *ARRAYS).family == "trn1"


def test_what_cannot_be_compiled_is_refused_before_the_compiler_is_asked(compiler: Path) -> None:
    with pytest.raises(ValueError, match="n"):
        wf.compile(layer, wf.spec(("n", 3), np.float32), ARRAYS[1], target="neuron")
    with pytest.raises(ValueError, match="family must be one of"):
        wf.compile(layer, *ARRAYS, target="neuron:gpu")
    assert not (compiler.parent / "asked.json").exists()


def test_a_cpu_level_can_be_chosen_for_one_function() -> None:
    exact = np.tanh(ARRAYS[0] @ ARRAYS[1])
    np.testing.assert_allclose(wf.jit(layer, target="x86-64")(*ARRAYS), exact, rtol=1e-6)
    np.testing.assert_allclose(wf.compile(layer, *ARRAYS, target="x86-64")(*ARRAYS), exact, rtol=1e-6)
    with pytest.raises(ValueError, match="target must be native"):
        wf.jit(layer, target="z80")(*ARRAYS)
