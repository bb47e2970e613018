"""The Python blocks of every page run, top to bottom, in one namespace per page; the examples of docstrings run."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
import sys
import types
from pathlib import Path

import needs_torch
import pytest

import weftwork as wf

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def named(paths, slow=()):
    return [
        pytest.param(path, id=path.relative_to(ROOT).as_posix(), marks=[pytest.mark.slow] * (path.stem in slow))
        for path in paths
    ]


@pytest.mark.parametrize("page", named((p for p in PAGES if BLOCK.search(p.read_text())), slow=["torch"]))
def test_the_blocks_run(page, tmp_path, monkeypatch, shared_folder):
    if not hasattr(wf, "jit"):
        pytest.skip("this build has no jit")
    if page.stem == "torch":
        needs_torch.require()
        monkeypatch.setenv("WEFT_CACHE", str(shared_folder))  # which may hold what its device needs
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    # One file with the blocks on the lines they have in the page, so that errors point into it.
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for offset, line in enumerate(block.group(1).splitlines()):
            lines[first + offset] = line
    exec(compile("\n".join(lines), str(page), "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", named([*PAGES, ROOT / "CONTRIBUTING.md"]))
def test_the_links_lead_somewhere(page):
    targets = LINK.findall(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def examples():
    """The docstrings of the package with examples."""
    modules = [
        importlib.import_module(f"weftwork.{m.name}")
        for m in pkgutil.iter_modules(wf.__path__)
        if m.name[0] != "_" and (m.name != "torch" or importlib.util.find_spec("torch"))
    ]
    modules = [sys.modules[name] for name in sorted({m.__name__ for m in modules if isinstance(m, types.ModuleType)})]
    return [test for module in modules for test in doctest.DocTestFinder().find(module) if test.examples]


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_the_examples_of_docstrings_run(test, capsys):
    test.globs = {"__name__": "example"}
    failed = doctest.DocTestRunner(verbose=False).run(test).failed
    assert failed == 0, capsys.readouterr().out
