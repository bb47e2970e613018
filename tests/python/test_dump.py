"""Dumps: every stage reads back and runs to the same result, names do not collide, the viewer shows them."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import weftwork as wf
from weftwork.view import assembly_of, compared, page

STAGES = ["00-trace.mlir", "01-flatten.mlir", "02-prune.mlir", "03-fold.mlir", "04-simplify.mlir", "05-cse.mlir"]
TEXTS = ["20-kernels.txt", "30-emit.ll", "31-opt.ll", "40.s", "report.json"]


def norm(x, w):
    y = np.tanh(x @ w) + np.arange(40, dtype=np.float32)
    return y / np.sqrt(np.sum(y * y, axis=-1, keepdims=True)), np.sort(y, axis=0), y.mean()


def loop(x, w):
    y = x @ w
    for i in wf.range(30):
        y = np.cos(y) * i
    return y, y[1:3, ::2], np.where(y > 0, y, -1)


def dumped(folder, f, *args):
    with wf.knobs(dump=str(folder)):
        return wf.compile(f, *args)


@pytest.mark.parametrize("f", [norm, loop])
def test_every_stage_runs_to_the_same_result(f, tmp_path):
    rng = np.random.default_rng(0)
    x, w = rng.random((5, 7), dtype=np.float32), rng.random((7, 40), dtype=np.float32)
    executable = dumped(tmp_path, f, x, w)
    folder = tmp_path / f.__name__
    for_loops = ["bodies", "trip_counts", "value_ranges", "trip_counts", "licm", "scalar_replacement"]
    stages = STAGES + [f"{i:02}-{name}.mlir" for i, name in enumerate(for_loops, len(STAGES))] * (f is loop)
    assert sorted(p.name for p in folder.iterdir()) == sorted(stages + TEXTS)
    wanted = executable(x, w)
    for stage in stages:
        graph = wf.stablehlo.parse((folder / stage).read_text())
        for run in (wf.simulate(graph), wf.compile(graph)):
            for result, known in zip(run(x, w), wanted, strict=True):
                np.testing.assert_allclose(result, known, rtol=2e-5, atol=1e-6, err_msg=stage)


def test_symbolic_extents_and_written_arguments_read_back(tmp_path):
    def step(x, y):
        x[:] = x + y
        return x.sum()

    dumped(tmp_path, step, wf.spec(("n", 3), np.float64), wf.spec(("n", 3), np.float64))
    for stage in STAGES:
        graph = wf.stablehlo.parse((tmp_path / "step" / stage).read_text())
        results = wf.simulate(graph)(np.ones((4, 3)), np.full((4, 3), 2.0))
        assert float(results[0]) == 36.0, stage


def test_functions_of_one_name_have_folders_of_their_own(tmp_path):
    for k in range(3):
        dumped(tmp_path, lambda x, k=k: x + k, np.ones(3 + k))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lambda", "lambda-2", "lambda-3"]
    assert "5xf64" in (tmp_path / "lambda-3" / "00-trace.mlir").read_text()


def test_a_folder_stays_where_it_belongs_whatever_a_function_is_called(tmp_path):
    for name in ("../outside", "a/b", "..", "x" * 300):
        text = f'func.func @"{name}"(%x: tensor<3xf32>) -> tensor<3xf32> {{ return %x : tensor<3xf32> }}'
        with wf.knobs(dump=str(tmp_path / "dumps")):
            wf.compile(wf.stablehlo.parse(text).function(name))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dumps"]
    assert sorted(p.parent.name for p in tmp_path.glob("dumps/*/report.json")) == [
        "_..",
        "_.._outside",
        "a_b",
        "x" * 100,
    ]


def test_the_page_shows_no_stage_of_a_program_before(tmp_path):
    dumped(tmp_path, norm, np.ones((5, 7), np.float32), np.ones((7, 40), np.float32))
    (tmp_path / "norm" / "06-bodies.mlir").write_text("module {}")
    assert "06-bodies.mlir" not in page(tmp_path)


def test_the_report_tells_times_kernels_cuts_and_memory(tmp_path):
    executable = dumped(tmp_path, norm, np.ones((5, 7), np.float32), np.ones((7, 40), np.float32))
    report = json.loads((tmp_path / "norm" / "report.json").read_text())
    assert [kernel["name"] for kernel in report["kernels"]] == [kernel.name for kernel in executable.kernels]
    assert [stage["file"] for stage in report["stages"]] == STAGES
    assert all(stage["nodes"] > 0 for stage in report["stages"])
    assert {"passes", "pass.flatten", "pass.cse", "lower", "emit", "llvm"} <= {
        name for name, _ in report["milliseconds"]
    }
    assert report["memory"]["arena"] == executable.memory["arena"]
    assert len(report["cuts"]) == len(executable.cuts)
    assembly = (tmp_path / "norm" / "40.s").read_text()
    assert all(f"\n{kernel['name']}:" in assembly for kernel in report["kernels"])


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="WEFT_DUMP"):
        dumped(tmp_path / "file", norm, np.ones((5, 7), np.float32), np.ones((7, 40), np.float32))


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_the_page_has_stages_lines_changes_and_assembly(tmp_path):
    dumped(tmp_path, norm, np.ones((5, 7), np.float32), np.ones((7, 40), np.float32))
    subprocess.run([sys.executable, "-m", "weftwork.view", tmp_path, "-o", tmp_path / "page.html"], check=True)
    html = (tmp_path / "page.html").read_text()
    assert html == page(tmp_path)
    assert not re.search(r"(src|href)\s*=|https?://|@import", html.split('id="data"')[0])
    (program,) = data_of(html)
    assert [stage["file"] for stage in program["stages"]] == STAGES + TEXTS[:-1]
    assert program["stages"][1]["ms"] > 0 and program["stages"][0]["nodes"] > 0
    written = [row for row in program["stages"][0]["rows"] if "weft.matmul" in row[1] or "dot" in row[1]]
    assert written and all(row[2].startswith("test_dump.py:") and "np.tanh(x @ w)" in row[3] for row in written)
    assert {mark for mark, *_ in program["stages"][1]["changes"]} == {" ", "+", "-"}
    assert all("ret" in kernel["assembly"] for kernel in program["kernels"])
    failed = subprocess.run([sys.executable, "-m", "weftwork.view", tmp_path / "none"], capture_output=True, text=True)
    assert failed.returncode == 1 and "has no dump" in failed.stderr


def test_names_of_values_are_no_changes():
    assert compared(["%1 = a %0", "%2 = b %1"], ["%7 = a %0", "%8 = c %7"]) == [
        (" ", "%7 = a %0"),
        ("-", "%2 = b %1"),
        ("+", "%8 = c %7"),
    ]
    assert assembly_of("f:\n\tret\n.Lfunc_end0:\n\t.size\ng:\n\tnop\n") == {"f": "f:\n\tret", "g": "g:\n\tnop"}


# Enough of a document to draw the page in: elements with children, text and classes.
DOCUMENT = """
class Element {
  constructor(tag) { this.tag = tag; this.children = []; this.dataset = {}; this.className = ""; this.textContent = "";
    const self = this; this.classes = new Set();
    this.classList = { toggle(name, on) { on ? self.classes.add(name) : self.classes.delete(name); } }; }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
  all() { return this.children.flatMap(c => c instanceof Element ? [c, ...c.all()] : []); }
  querySelectorAll(selector) { return this.all().filter(e => "." + e.className === selector); }
}
const parts = { side: new Element("nav"), main: new Element("main"), data: new Element("script") };
parts.data.textContent = require("fs").readFileSync(process.argv[2], "utf8");
const document = { createElement: tag => new Element(tag), getElementById: id => parts[id] };
"""
CLICKS = """
const check = (holds, what) => { if (!holds) { console.error(what); process.exit(1); } };
const buttons = parts.side.all().filter(e => e.tag === "button");
check(buttons.length === 11, "a button for each stage and the kernels, got " + buttons.length);
buttons[1].onclick();
check(parts.main.all().some(e => e.textContent === "01-flatten.mlir"), "the stage is shown");
const values = parts.main.querySelectorAll(".value");
const defined = values.find(e => e.dataset.defines === "true" && values.some(o => o !== e && o.dataset.value === e.dataset.value));
defined.onclick();
check(values.filter(e => e.classes.has("definition")).length === 1, "one definition");
check(values.filter(e => e.classes.has("use")).length > 0, "and uses");
defined.onclick();
check(!values.some(e => e.classes.size), "a second click ends it");
const box = parts.main.all().find(e => e.type === "checkbox");
box.checked = true; box.onchange();
check(parts.main.all().some(e => e.className === "went"), "changes are shown");
buttons[10].onclick();
check(parts.main.all().some(e => e.tag === "pre" && e.textContent.includes("ret")), "kernels have assembly");
const p = pieces("  %3:2 = weft.f %a, %b#1 : tensor<2xf32>").filter(x => x.value);
check(JSON.stringify(p.map(x => [x.value, x.defines])) === '[["%3",true],["%a",false],["%b",false]]', JSON.stringify(p));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node draws the page")
def test_the_page_answers_clicks(tmp_path):
    dumped(tmp_path, norm, np.ones((5, 7), np.float32), np.ones((7, 40), np.float32))
    html = page(tmp_path)
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)[1]
    (tmp_path / "data.json").write_text(json.dumps(data_of(html)))
    (tmp_path / "page.js").write_text(script.replace('"use strict";', '"use strict";' + DOCUMENT, 1) + CLICKS)
    run = subprocess.run(["node", tmp_path / "page.js", tmp_path / "data.json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_stage_that_cannot_be_written_is_not_half_there(tmp_path):
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    source = f"import numpy as np, weftwork as wf\n{limit}\nwith wf.knobs(dump={str(tmp_path)!r}):\n  wf.compile(lambda x: x * 4, np.ones(2))"
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert "00-trace.mlir': File too large  [write_file]" in done.stderr
    assert list((tmp_path / "lambda").iterdir()) == []
