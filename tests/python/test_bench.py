"""bench/: a run from declarations to the files that it writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import weftwork as wf

ROOT = Path(__file__).parents[2]
if not (ROOT / "bench").exists():
    pytest.skip("needs the source tree", allow_module_level=True)

MODULE = """
import os
import numpy as np
from bench.workload import bf16, family, normal

declare = family("mine")

def accumulate(x, total):
    total += x
    return np.exp(x)

declare("fine", accumulate, lambda: (normal(8, 8), normal(8, 8)), written=(1,), jax=lambda x, t: (np.exp(x), t + x))
declare("weighted", lambda w, x: x @ w["w"], lambda: (normal(3, 8),), weights=lambda: {"w": normal(8, 8)}, flops=400)
declare("narrow", lambda x: x * 2, lambda: (normal(8, dtype=bf16),), skip={"jax": "of no interest"})
declare("refused", lambda x: x[np.nonzero(x)], lambda: (normal(8),))
declare("wrong", lambda x: x + 1, lambda: (normal(8),), ours=lambda x: x + 1.01)
declare("narrower", lambda x: x + 1, lambda: (normal(8),), ours=lambda x: (x + 1).astype(np.float16), tolerance=1e-2)
class Crash:
    __name__ = "crash"

    @property
    def __signature__(self):
        os._exit(3)

    def __call__(self, x):
        return x + 1

declare("crash", lambda x: x + 1, lambda: (normal(8),), ours=Crash())
declare("after the crash", lambda x: x.sum(), lambda: (normal(8),))
"""


def run(folder, *arguments):
    (folder / "mine.py").write_text(MODULE)
    package = str(Path(wf.__file__).parents[1])
    command = [sys.executable, "-m", "bench", "--module", str(folder / "mine.py"), "--out", str(folder), *arguments]
    environment = {**os.environ, "PYTHONPATH": package}
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=300)


@pytest.mark.slow
def test_what_works_is_timed_and_what_does_not_is_named(tmp_path):
    ended = run(tmp_path, "mine", "call 1", "--quick", "--peers", "numpy", "jax")
    assert ended.returncode == 0, ended.stderr
    rows = {row["name"]: row for row in json.loads((tmp_path / "results.json").read_text())["rows"]}
    ours = {name: row["cells"]["weftwork"] for name, row in rows.items()}
    assert {name for name, cell in ours.items() if cell["seconds"]} == {
        *("fine", "weighted", "narrow", "after the crash"),
        *("call 1 argument", "call 10 arguments", "call 100 arguments"),
    }
    assert ours["refused"]["problem"].startswith("error: ")
    assert ours["wrong"]["problem"].startswith("wrong: differs from NumPy by")
    assert ours["narrower"]["problem"] == "wrong: gives float16, NumPy float32"
    assert ours["crash"]["problem"] == "error: process ended, exit code 3"
    assert all(row["cells"]["numpy"]["seconds"] for row in rows.values())
    if "jax" in rows["fine"]["cells"]:
        assert all(
            (row["cells"]["jax"]["seconds"] is None) == (name in ("narrow", "refused")) for name, row in rows.items()
        )
        assert rows["narrow"]["cells"]["jax"]["problem"] == "skipped: of no interest"
        assert rows["fine"]["cells"]["jax"]["difference"] < 1e-5
    page = (tmp_path / "results.md").read_text()
    assert "| wrong | wrong: differs from NumPy by" in page and "## Geometric means" in page
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + sum(len(r["cells"]) for r in rows.values())


def test_names_choose_workloads(tmp_path):
    listed = run(tmp_path, "--list", "call", "gelu f32", "mine").stdout.split("\n")
    assert (
        "elementwise   gelu f32" in listed
        and "mine          crash" in listed
        and "call          call 1 argument" in listed
    )
    assert not any("softmax" in line for line in listed)
    assert run(tmp_path, "nothing has this name").returncode == 1


def test_loops_are_of_workloads_and_peers_that_are_not_installed_are_left_out(monkeypatch):
    from bench import peers, workload

    works = workload.load()
    assert set(peers.LOOPS) <= set(works)
    assert peers.why_not(works["softmax f32"], "numba") is None
    assert peers.why_not(works["softmax bf16"], "numba") == "no loops"
    assert peers.why_not(works["heat3d 50x40 f64"], "openvino") == "exported as one program of all steps"
    monkeypatch.setitem(peers.PEERS, "absent", (object, ["weft_absent.inner"]))
    assert not peers.installed("absent")


def test_medians_are_of_ratios_within_a_run(tmp_path):
    from bench.measure import Cell, Row, Settings
    from bench.median import median_of
    from bench.report import to_limit, write

    # Ours and the peer's: on a machine of half the speed in the second run, disturbed in the third.
    runs = [(1.0, 2.0, 0.8, 0.01), (2.0, 4.2, 1.5, 0.02), (3.0, 2.1, 0.9, 0.04)]
    for i, (ours, peer, limit, first) in enumerate(runs):
        cells = {"weftwork": Cell(ours, first=first), "numpy": Cell(peer)}
        failed = {**cells, "weftwork": Cell(problem="wrong: by 1")}
        rows = [Row("sum", "mine", cells, limit), Row(f"only {i}", "mine", cells), Row("wrong", "mine", failed)]
        write(rows, Settings(["numpy"]), tmp_path / str(i))
    rows, settings = median_of([tmp_path / str(i) for i in range(3)])
    assert [row.name for row in rows] == ["sum", "wrong"] and settings.runs == 3
    assert rows[0].seconds("weftwork") == 1.0 and rows[0].ratio() == 2.0
    assert to_limit(rows[0]) == pytest.approx(2 / 1.5) and rows[0].cells["weftwork"].first == 0.02
    assert rows[1].cells["weftwork"].problem == "wrong: by 1"
