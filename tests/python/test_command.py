"""The command weft: every subcommand, and what is said of what is wrong."""

import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork.cli import main
from weftwork.cli.arrays import read, write

ROOT = Path(__file__).parents[2]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

LAYER = """func.func @main(%x: tensor<?x4xf32, "n">, %w: tensor<4x3xf32>) -> tensor<?x3xf32, "n"> {
  %0 = "weft.matmul"(%x, %w) : (tensor<?x4xf32, "n">, tensor<4x3xf32>) -> tensor<?x3xf32, "n">
  %1 = stablehlo.tanh %0 : tensor<?x3xf32, "n">
  return %1 : tensor<?x3xf32, "n">
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layer.mlir").write_text(LAYER)
    return tmp_path


@pytest.fixture
def weft(capsys):
    """Runs a command line: exit status, standard output, standard error."""

    def run(*words):
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def ok(result):
    status, out, err = result
    assert (status, err) == (0, "")
    return out


COMMAND = [sys.executable, "-m", "weftwork"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def shell(words, given=b"", **variables):
    return subprocess.run(
        [*COMMAND, *words], env={**ENVIRONMENT, **variables}, input=given, capture_output=True, check=False, timeout=120
    )


def program(path, f, *arrays):
    Path(path).write_text(wf.trace(f, *arrays).mlir())
    return path


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the page is of x86-64")
def test_the_page_says_what_the_commands_print():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate_command_page.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- arrays ----------------------------------------------------------------------------------------------------------


def test_arrays_go_in_and_out_by_position_and_by_name(weft):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((5, 4), np.float32), rng.standard_normal((4, 3), np.float32)
    np.save("x.npy", x), np.save("w.npy", w), np.savez("both.npz", w=w, x=x), np.savez("unnamed.npz", x, w)
    write("both.safetensors", {"w": w, "x": x})
    for given in (["x.npy", "w.npy"], ["w=w.npy", "x.npy"], ["both.npz"], ["unnamed.npz"], ["both.safetensors"]):
        ok(
            weft(
                "run",
                "layer.mlir",
                *given,
                "-q",
                "--out",
                "y.npy",
                "--out",
                "all.npz",
                "--out",
                "output=all.safetensors",
            )
        )
        np.testing.assert_allclose(np.load("y.npy"), np.tanh(x @ w), rtol=1e-5)
        np.testing.assert_array_equal(np.load("all.npz")["output"], np.load("y.npy"))
        np.testing.assert_array_equal(read("all.safetensors")["output"], np.load("y.npy"))


def test_files_of_safetensors_are_those_of_its_library(folder):
    library = pytest.importorskip("safetensors.numpy")
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array(True),
        "c": np.zeros((0, 2), np.int64),
        "d": np.array([1, 2], np.float16),
    }
    write("ours.safetensors", arrays)
    for name, array in library.load_file("ours.safetensors").items():
        np.testing.assert_array_equal(array, arrays[name], strict=True)
    library.save_file(arrays, "theirs.safetensors", metadata={"format": "np"})
    for name, array in read("theirs.safetensors").items():
        np.testing.assert_array_equal(array, arrays[name], strict=True)


def test_bfloat16_goes_through_safetensors_and_not_through_npy(weft):
    program("double.mlir", lambda x: x * 2, np.zeros((2, 2), BFLOAT16))
    x = np.array([[1, 2], [3, 4]], BFLOAT16)
    write("x.safetensors", {"x": x})
    ok(weft("run", "double.mlir", "x.safetensors", "-q", "--out", "y.safetensors"))
    assert read("y.safetensors")["output"].dtype == BFLOAT16
    np.testing.assert_array_equal(read("y.safetensors")["output"], x * 2)
    status, _, err = weft("run", "double.mlir", "x.safetensors", "-q", "--out", "y.npy")
    assert status == 2 and "bfloat16, which .npy cannot hold" in err and not Path("y.npy").exists()
    np.save("raw.npy", x)
    status, _, err = weft("run", "double.mlir", "raw.npy")
    assert status == 1 and "elements that NumPy cannot name" in err
    np.save("wide.npy", x.astype(np.float32))
    ok(weft("run", "double.mlir", "wide.npy", "-q", "--cast", "--out", "y.npy"))
    np.testing.assert_array_equal(np.load("y.npy"), (x * 2).astype(np.float32), strict=True)


def test_files_of_any_order_of_bytes_and_any_names(weft):
    x = np.arange(20, dtype=">f4").reshape(5, 4)
    np.save("big.npy", x), np.save("columns.npy", np.asfortranarray(x.astype("<f4")))
    for name in ("big", "columns"):
        ok(weft("run", "layer.mlir", f"{name}.npy", "-q", "--out", f"out-{name}.npy"))
    np.testing.assert_array_equal(np.load("out-big.npy"), np.load("out-columns.npy"), strict=True)
    Path("file.mlir").write_text(
        '\ufeffmodule { func.func @main(%file: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "file"}) { return %file : tensor<2xf32> } }'
    )
    ok(weft("run", "file.mlir", "-q", "--out", "y.npz"))
    ok(weft("run", "file.mlir", "y.npz", "-q", "--compare", "y.npz"))


@pytest.mark.parametrize("dtype, file, becomes", [("int4", "y.npz", "int32"), ("int4", "y.safetensors", "int32"), ("bfloat16", "y.npy", "float32"),
                                                  ("complex128", "y.safetensors", "complex64"), ("float8_e3m4", "y.safetensors", "float32")])  # fmt: skip
def test_what_a_file_cannot_hold_is_said_first_and_cast_makes_it_so(weft, dtype, file, becomes):
    program("same.mlir", lambda x: x + x, np.zeros((2, 3), dtype))
    status, out, err = weft("run", "same.mlir", "--out", file)
    assert (
        status == 2
        and not out
        and f"which {Path(file).suffix} cannot hold:" in err
        and (" .safetensors can," in err) == (dtype == "bfloat16")
    )
    ok(weft("run", "same.mlir", "-q", "--cast", "--out", file))
    assert [array.dtype.name for array in read(file).values()] == [becomes]


def test_empty_arrays_and_those_without_dimensions(weft):
    program("sum.mlir", lambda x, s: (np.sum(x, axis=0) + s, x * s), np.zeros((0, 3), np.float32), np.float32(1))
    np.save("s.npy", np.float32(2))
    out = ok(weft("run", "sum.mlir", "s=s.npy", "--compare", "interpret", "--out", "a.npy", "--out", "b.npy"))
    assert "no elements" in out and "float32[]" in out
    np.testing.assert_array_equal(np.load("a.npy"), np.full(3, 2, np.float32), strict=True)
    assert np.load("b.npy").shape == (0, 3)
    program("one.mlir", lambda x: x + 1, np.int32(1))
    assert re.search(r"output +int32\[\] +\d", ok(weft("run", "one.mlir", "--compare", "interpret")))


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "uint16",
        "int64",
        "float16",
        "float64",
        "complex64",
        BFLOAT16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.int4,
    ],
)
def test_every_kind_of_element_is_made_up_shown_and_compared(weft, dtype):
    program("same.mlir", lambda x: (np.transpose(x), np.concatenate([x, x])), np.zeros((2, 3), dtype))
    out = ok(weft("run", "same.mlir", "--compare", "interpret", "--out", "y.npz", "--cast"))
    assert "agrees: all elements are equal" in out and len(np.load("y.npz").files) == 2
    assert ok(weft("run", "same.mlir")).splitlines()[1:] == out.splitlines()[1:4]


def test_results_that_differ_are_told_with_the_first_element(weft):
    np.save("x.npy", np.ones((2, 4), np.float32)), np.save("w.npy", np.eye(4, 3, dtype=np.float32))
    ok(weft("run", "layer.mlir", "x.npy", "w.npy", "-q", "--out", "y.npy"))
    assert "agrees" in ok(weft("run", "layer.mlir", "x.npy", "w.npy", "-q", "--compare", "y.npy"))
    wrong = np.load("y.npy")
    wrong[1, 2] = np.nan
    np.save("wrong.npy", wrong)
    status, out, _ = weft("run", "layer.mlir", "x.npy", "w.npy", "-q", "--compare", "wrong.npy")
    assert status == 1 and "differs in 1 of 6 elements, first at [1, 2]: 0.7615942, wanted nan" in out
    np.save("wrong.npy", wrong[:1])
    assert weft("run", "layer.mlir", "x.npy", "w.npy", "-q", "--compare", "wrong.npy")[0] == 1


def test_an_input_that_is_written_is_shown_and_the_file_stays(weft):
    def step(x):
        x[:] = x + 1

    program("step.mlir", step, np.zeros(3))
    np.save("x.npy", np.zeros(3))
    out = ok(weft("run", "step.mlir", "x.npy", "--compare", "interpret", "--out", "y.npy"))
    assert "(lands in x)" in out
    np.testing.assert_array_equal(np.load("y.npy"), np.ones(3))
    np.testing.assert_array_equal(np.load("x.npy"), np.zeros(3))


# ---- subcommands -----------------------------------------------------------------------------------------------------


def test_compile_run_and_inspect_a_file(weft):
    assert "1 kernel" in ok(weft("compile", "layer.mlir"))
    ok(weft("compile", "layer.mlir", "--extent", "n=7", "-o", "seven.weft", "--target", "x86-64"))
    assert "float32[7, 4]" in ok(weft("run", "seven.weft", "--compare", "interpret"))
    row = json.loads(ok(weft("inspect", "layer.weft", "--json")))
    assert row["extents"] == {"n": {"min": 1, "opt": 64, "max": 2**31}}
    assert row["inputs"][0] == {"name": "x", "dtype": "float32", "shape": ["n", 4], "alias": None}
    # The product of a small matrix is written out, and in the loop of what follows it.
    ops = row["builds"][0]["kernels"][0]["ops"]
    assert set(ops) == {"slice", "multiply", "add", "tanh"} and ops[-1] == "tanh"
    assert row["builds"][0]["kernels"][0]["source"] == "layer.mlir:3:3"
    assert row["builds"][0]["kernels"][0]["lines"] == ["layer.mlir:2:3", "layer.mlir:3:3"]
    assert f"  layer.mlir:2:3 3:3  {' '.join(ops)}\n" in ok(weft("inspect", "layer.weft"))
    ok(weft("compile", "layer.mlir", "-o", "both.weft", "--target", "avx512", "--target", "x86-64"))
    assert [b["target"] for b in json.loads(ok(weft("inspect", "both.weft", "--json")))["builds"]] == [
        "avx512",
        "x86-64",
    ]
    assert "retq" in ok(weft("inspect", "both.weft", "--asm", "--target", "avx512"))
    assert "loaded for x86-64" in ok(weft("run", "both.weft", "--target", "x86-64", "--compare", "interpret"))
    assert "built for x86-64 (runs here)" in ok(weft("inspect", "seven.weft"))
    text = ok(weft("inspect", "seven.weft", "--stablehlo"))
    assert wf.stablehlo.parse(text).inputs[0].shape == (7, 4)


def test_object_files_and_headers_are_written_for_c(weft):
    out = ok(weft("compile", "layer.mlir", "--emit=obj,header", "--target", "avx2"))
    assert Path("layer.o").read_bytes().startswith(b"\x7fELF") and "layer(" in Path("layer.h").read_text()
    assert re.search(r"layer.o: [\d,]+ bytes for avx2; link it with \S+libweft_support.a", out)
    ok(weft("compile", "layer.mlir"))
    ok(weft("compile", "layer.weft", "--emit=header", "-o", "other.h"))
    assert "other(" in Path("other.h").read_text() and not Path("other.o").exists()
    assert weft("compile", "layer.mlir", "--emit=asm")[0] == 2
    assert weft("compile", "layer.mlir", "--emit=obj", "--target", "avx2", "--target", "avx512")[0] == 2
    assert weft("compile", "layer.mlir", "--emit=obj", "-o", "a-b")[0] == 1


def test_machine_code_is_listed_with_names_and_labels(weft):
    program("big.mlir", lambda x: np.exp(np.cumsum(x, axis=1)) + np.sum(np.tanh(x)), np.zeros((300, 300)))
    ok(weft("compile", "big.mlir", "--target", "avx2"))
    text = ok(weft("inspect", "big.weft", "--asm"))
    assert "weft_run:" in text and "retq" in text and "ymm" in text and ".byte" not in text
    labels, jumps = set(re.findall(r"^(\.L\w+):", text, re.M)), set(re.findall(r"\tj\w+\t(\S+)", text))
    assert jumps and jumps <= labels
    assert all(not re.match(r"-?0x", name) for name in re.findall(r"\tcallq\t(\S+)", text))
    only = ok(weft("inspect", "big.weft", "--asm", "weft_run"))
    assert only.startswith("weft_run:") and len(only) < len(text)
    assert weft("inspect", "big.weft", "--asm", "nothing")[0] == 2
    assert weft("inspect", "big.weft", "--asm", "--target", "avx512")[0] == 2


def test_bench_prints_percentiles(weft):
    assert re.search(
        r"min +mean +p50 +p90 +p99 +max", ok(weft("bench", "layer.mlir", "--iterations", 7, "--warmup", 0))
    )
    row = json.loads(ok(weft("bench", "layer.mlir", "--extent", "n=2", "--json", "--threads", 1)))
    assert row["threads"] == 1 and row["inputs"]["x"] == "float32[2, 4]"
    times = row["seconds"]
    assert 0 < times["min"] <= times["p50"] <= times["p90"] <= times["p99"] <= times["max"]
    assert weft("bench", "layer.mlir", "--iterations", 0)[0] == 2


def test_simulate_interprets_operations_or_kernels(weft):
    for how in ([], ["--kernels"]):
        ok(weft("simulate", "layer.mlir", "--seed", 3, "--extent", "n=2", "-q", "--out", "y.npy", *how))
        assert "agrees" in ok(weft("run", "layer.mlir", "--seed", 3, "--extent", "n=2", "-q", "--compare", "y.npy"))


def test_opt_runs_passes_and_explains_them(weft):
    program("twice.mlir", lambda x: np.transpose(np.transpose(x)) * 1 + np.var(x), np.zeros((3, 4)))
    text = ok(weft("opt", "twice.mlir", "-p", "flatten"))
    assert wf.stablehlo.parse(text).core.level == "flat" and "stablehlo.transpose" in text
    assert "stablehlo.transpose" not in ok(weft("opt", "twice.mlir"))
    said = ok(weft("opt", "twice.mlir", "--explain"))
    assert re.search(r"1x +two transposes are one\n +transpose at .*test_command.py:\d+", said)
    assert "flatten" in said and "a composite is its body" in said
    rewrites = lambda *words: int(
        re.search(r"([\d,]+) rewrites?", ok(weft("opt", "twice.mlir", "--explain", "-p", "simplify", *words)))[1]
    )
    Path("twice.mlir").write_text(text)
    assert rewrites() > rewrites("--stop-after", 1) == 1 > rewrites("--stop-after", 0) == 0
    assert "simplify" in ok(weft("opt", "--list"))
    assert "transpose(" in ok(weft("opt", "twice.mlir", "-p", "cse", "--short"))
    status, out, _ = weft("opt", "twice.mlir", "-o", "out.mlir")
    assert (status, out) == (0, "") and "stablehlo" in Path("out.mlir").read_text()


def test_ops_are_listed_found_and_told_apart_by_dtype(weft):
    assert ok(weft("ops")).count("\n") > 100
    assert "float32 " in ok(weft("ops", "tanh")) and "int32" not in ok(weft("ops", "tanh"))
    listed = ok(weft("ops", "--dtype", "bool"))
    assert (
        re.search(r"^select ", listed, re.M)
        and re.search(r"^and ", listed, re.M)
        and not re.search(r"^tanh ", listed, re.M)
    )
    assert {row["family"] for row in json.loads(ok(weft("ops", "--family", "linalg", "--json")))} == {"linalg"}
    for row in json.loads(ok(weft("ops", "*e*", "--json"))):
        assert row["family"] not in ("unary", "binary", "ternary") or row["dtypes"], row["name"]
    assert "nearest is 'tanh'" in weft("ops", "tanhh")[2]
    assert "nearest is 'bfloat16'" in weft("ops", "--dtype", "bflot16")[2]


def test_knobs_and_the_cache_are_shown(weft, monkeypatch, tmp_path):
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path / "kept"))
    assert f"WEFT_CACHE = {tmp_path / 'kept'}, set by the environment" in ok(weft("knobs"))
    assert {"threads", "cache"} <= {row["name"] for row in json.loads(ok(weft("knobs", "--json")))}
    ok(weft("run", "layer.mlir", "-q"))
    assert json.loads(ok(weft("cache", "--json")))["entries"] == 1
    assert ok(weft("cache", "path")) == f"{tmp_path / 'kept'}\n"
    assert ok(weft("cache", "clear")).startswith("1 program removed")
    monkeypatch.setenv("WEFT_CACHE", "off")
    assert "none: WEFT_CACHE is 'off'" in ok(weft("cache"))
    assert weft("cache", "path")[0] == 2


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_takes(weft, name):
    script = ok(weft("completion", name))
    assert all(word in script for word in ("inspect", "stop-after", "compare", "iterations"))
    if shutil.which(name):
        Path("script").write_text(script)
        assert subprocess.run([name, "-n", "script"], check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes(weft):
    Path("script").write_text(ok(weft("completion", "bash")))
    line = "source ./script; COMP_WORDS=(weft inspect --s); COMP_CWORD=2; _weft; echo ${COMPREPLY[*]}"
    assert subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout == "--stablehlo\n"


@pytest.mark.parametrize(
    "name", ["", "compile", "run", "bench", "inspect", "simulate", "opt", "ops", "knobs", "cache", "completion"]
)
def test_help_has_examples(weft, name):
    out = ok(weft(*name.split(), "--help"))
    assert "exit status:" in out if not name else f"examples:\n  {'source <(' if name == 'completion' else ''}" in out
    for command in re.findall(r"^  (weft .*?)(?:   .*)?$", out, re.M) if name else []:
        assert command.split()[1] in {name, "completion"}


# ---- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, status, says",
    [
        (["run", "nothing.mlir"], 1, "nothing.mlir: No such file or directory"),
        (["run", "two\nlines.mlir"], 1, "two\\nlines.mlir: No such file or directory"),
        (["run", "."], 1, ".: Is a directory"),
        (["run", "bad.mlir"], 1, "bad.mlir:1:1: func.func was wanted, got 'not'  [syntax]"),
        (["run", "bytes.mlir"], 1, "'bytes.mlir' is neither StableHLO text nor a .weft file  [program_file]"),
        (["inspect", "short.weft"], 1, "executable file 'short.weft': "),
        (["run", "layer.mlir", "--function", "f"], 1, "no function 'f', there are ['main']"),
        (["run", "layer.mlir", "y=x.npy"], 2, "the program has no input 'y', there are x, w"),
        (
            ["run", "layer.mlir", "wrong.npz"],
            2,
            "'wrong.npz' has 'ww', the program has no such input, the nearest is 'w'",
        ),
        (["run", "layer.mlir", "x.npy", "x=x.npy"], 2, "input 'x' is given twice, by x.npy and x.npy"),
        (["run", "layer.mlir", "x.npy", "x.npy", "x.npy"], 2, "'x.npy': the program takes no more than 2 inputs"),
        (["run", "layer.mlir", "x.txt"], 2, "'x.txt': arrays are in files .npy, .npz or .safetensors"),
        (["run", "layer.mlir", "bad.npy"], 1, "'bad.npy' cannot be read: "),
        (["run", "layer.mlir", "objects.npy"], 1, "'objects.npy' cannot be read: Object arrays cannot be loaded"),
        (["run", "layer.mlir", "bad.npz"], 1, "'bad.npz' cannot be read: "),
        (["run", "layer.mlir", "header.npy"], 1, "'header.npy' cannot be read: "),
        (["run", "layer.mlir", "member.npz"], 1, "'member.npz' has 'readme', which is no array  [array_file]"),
        (["run", "huge.mlir"], 1, "input 'x' of shape [2305843009213693952] does not fit in memory"),
        (
            ["run", "layer.mlir", "deep.safetensors"],
            1,
            "'deep.safetensors' is no such file as .safetensors should be: ",
        ),
        (["run", "layer.mlir", "bad.safetensors"], 1, "'bad.safetensors' is no such file as .safetensors should be: "),
        (["run", "layer.mlir", "outside.safetensors"], 1, "'x' lies outside of the file"),
        (
            ["run", "layer.mlir", "f64.npy"],
            1,
            "input 'x' must be float32, got float64 from f64.npy; --cast converts it  [input_dtype]",
        ),
        (["run", "layer.mlir", "w=x.npy"], 1, "input 'w'"),
        (["run", "layer.mlir", "--extent", "m=3"], 2, "the program has no symbolic extent 'm', there are n"),
        (["run", "layer.mlir", "--extent", "n=0"], 2, "extent 'n' must be from 1 to 2147483648, got 0"),
        (["run", "layer.mlir", "--extent", "n"], 2, "--extent takes NAME=INTEGER, got 'n'"),
        (["run", "layer.mlir", "--extent", "n=--5"], 2, "--extent takes NAME=INTEGER, got 'n=--5'"),
        (["run", "layer.mlir", "--extent", "n=2", "x.npy"], 2, "extent 'n' is 5 in the arrays, --extent says 2"),
        (
            ["run", "layer.mlir", "--out", "a.npy", "--out", "b.npy"],
            2,
            "--out b.npy: the program has no more than 1 output, output",
        ),
        (
            ["run", "layer.mlir", "--out", "nowhere/a.npy"],
            1,
            "'nowhere/a.npy' cannot be written, there is no folder 'nowhere'",
        ),
        (
            ["run", "layer.mlir", "--out", "outputs=a.npy"],
            2,
            "the program has no output 'outputs', the nearest is 'output'",
        ),
        (["run", "layer.mlir", "--extent", "n=3", "--extent", "n=4"], 2, "extent 'n' is given twice"),
        (["run", "layer.mlir", "--target", "z80"], 1, "z80"),
        (["run", "-", "-"], 2, "standard input can be read once"),
        (["compile", "layer.mlir", "-o", "nowhere/a.weft"], 1, "nowhere"),
        (["opt", "layer.mlir", "-p", "flaten"], 1, "there is no pass 'flaten', there are [flatten, "),
        (["opt", "layer.mlir", "-p", "cse"], 1, "the pass 'cse' takes a flat program: 'flatten' must stand before it"),
        (["opt"], 2, "a program is wanted, or --list"),
        (["rum"], 2, "there is no command 'rum', the nearest is 'run'"),
        (["cache", "clean"], 2, "argument action: invalid choice: 'clean'"),
        (["run"], 2, "the following arguments are required: PROGRAM ("),
        (["run", "layer.mlir", "--seed", "-1"], 2, "--seed takes an integer from 0, got -1"),
        (
            ["run", "layer.mlir", "words.npy", "--cast"],
            1,
            "'words.npy' has elements that are no numbers, but <U3  [array_file]",
        ),
        (["run", "nul.mlir"], 1, "'nul.mlir' is neither StableHLO text nor a .weft file  [program_file]"),
        (["run", "accent.mlir"], 1, "accent.mlir:1:1: func.func was wanted, got '"),
        (["run", "layer.mlir", "--target", "\udcfe"], 1, "target must be native"),
        (["opt", "layer.mlir", "-p", "\udcfe"], 1, "there is no pass '"),
        (
            ["opt", "layer.mlir", "--stop-after", str(1 << 40)],
            2,
            "argument --stop-after: takes an integer from 0 to 2147483647, got '1099511627776'",
        ),
        (["bench", "layer.mlir", "--iterations", "9" * 30], 2, "argument --iterations: takes an integer from 0 to "),
        (["compile", "layer.mlir", "--emit=obj", "-o", "\udcfe"], 1, "the name of a C function was wanted, got '"),
        (["ops", "["], 2, "no operation is called '['"),
        (["run", "layer.mlir", "--seed", "x"], 2, "argument --seed: invalid int value: 'x'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(weft, words, status, says):
    Path("bad.mlir").write_text("not a program")
    Path("bytes.mlir").write_bytes(b"\xff\xfe\x00")
    Path("short.weft").write_bytes(b"\x89WEFT\r\n\x1a and no more")
    for name in ("x.txt", "bad.npy", "bad.npz", "bad.safetensors"):
        Path(name).write_bytes(
            b"\x93NUMPY and no more" if name == "bad.npy" else b"PK\x03\x04" if name == "bad.npz" else b"nothing"
        )
    header = json.dumps({"x": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}).encode()
    Path("outside.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    np.save("x.npy", np.ones((5, 4), np.float32)), np.save("f64.npy", np.ones((5, 4)))
    np.savez("wrong.npz", ww=np.ones((4, 3), np.float32)), np.save("objects.npy", np.array([{}]), allow_pickle=True)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), \n"
    Path("header.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    Path("deep.safetensors").write_bytes((1 << 20).to_bytes(8, "little") + b"[" * (1 << 20))
    Path("huge.mlir").write_text(
        "func.func @main(%x: tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32> { return %x : tensor<2305843009213693952xf32> }"
    )
    (
        Path("nul.mlir").write_text("func.func\0"),
        Path("accent.mlir").write_text("\u00e9"),
        np.save("words.npy", np.full((5, 4), "one")),
    )
    with zipfile.ZipFile("member.npz", "w") as file:
        file.writestr("readme", "no array")
    got, out, err = weft(*words)
    assert got == status, err
    assert says in err and err.startswith("weft: error: ") and err.count("\n") == 1 and "Traceback" not in err
    assert out == "" or words[1:2] == ["layer.mlir"]


@pytest.mark.parametrize("plain", [False, True])
def test_terminals_get_bold_words_unless_plain_text_is_wanted(folder, plain):
    ours, theirs = pty.openpty()
    environment = (
        {name: value for name, value in ENVIRONMENT.items() if name != "NO_COLOR"}
        | {"TERM": "xterm"}
        | ({"NO_COLOR": "1"} if plain else {})
    )
    done = subprocess.run(
        [*COMMAND, "run", "layer.mlir"],
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        check=False,
        timeout=120,
    )
    os.close(theirs)
    said = os.read(ours, 1 << 16)
    os.close(ours)
    assert (
        done.returncode == 0
        and b"layer.mlir" in said
        and (b"\033" not in said if plain else said.startswith(b"\033[1mlayer.mlir\033[0m: compiled"))
    ), said


def test_variables_that_mean_nothing_are_a_warning():
    done = shell(["ops", "tanh"], WEFT_TREADS="1")
    said = b"weft: warning: the environment variable WEFT_TREADS sets nothing, the nearest that does is WEFT_THREADS\n"
    assert (done.returncode, done.stderr) == (0, said)


def test_arrays_and_programs_come_and_go_through_pipes(folder):
    x = io.BytesIO()
    np.save(x, np.ones((2, 4), np.float32))
    done = shell(["run", "layer.mlir", "x=-", "-q", "--out", "-"], given=x.getvalue())
    assert done.returncode == 0 and done.stderr == b""
    assert np.load(io.BytesIO(done.stdout)).shape == (2, 3)
    done = shell(["run", "layer.mlir", "x=-", "--out", "-"], given=x.getvalue())
    assert np.load(io.BytesIO(done.stdout)).shape == (2, 3) and b"random, seed 0" in done.stderr
    assert shell(["simulate", "-", "-q"], given=LAYER.encode()).returncode == 0
    done = shell(["run", "-"], given=LAYER.replace("tanh", "tan h").encode())
    assert done.returncode == 1 and done.stderr.startswith(b"weft: error: standard input:3:")


def test_closed_streams_and_encodings_of_few_letters(folder):
    for words, status in (("run layer.mlir >&-", 0), ("run nothing.mlir 2>&-", 1), ("run - <&-", 1)):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m weftwork {words}', sys.executable], env=ENVIRONMENT, capture_output=True, check=False
        )
        assert done.returncode == status and b"Traceback" not in done.stderr and b"internal" not in done.stderr, (
            done.stderr
        )
    done = shell(["run", "layer.mlir"], PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"") and b"\\u2026]" in done.stdout
    Path(os.fsdecode(b"\xff.mlir")).write_text(LAYER)
    done = shell(["run", b"\xff.mlir"])
    assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"\\udcff.mlir: compiled")


def test_names_of_files_need_not_be_text(folder):
    name, x = os.fsdecode(b"\xff\xfe"), np.zeros((2, 4), np.float32)
    np.save(f"{name}.npy", x)
    for words in (
        "compile layer.mlir -o N.weft",
        "run N.weft N.npy --out N.npz",
        "inspect N.weft",
        "bench N.weft --iterations 1",
    ):
        done = shell([word.replace("N", name) for word in words.split()])
        assert (done.returncode, done.stderr) == (0, b"") and (b"\\udcff\\udcfe.weft" in done.stdout), done
    with wf.profile(f"{name}.json"):
        wf.load(f"{name}.weft")(x, np.zeros((4, 3), np.float32))
    assert json.loads(Path(f"{name}.json").read_text())["traceEvents"]
    with pytest.raises(wf.errors.FileError, match=r"nowhere\\xff"):
        wf.load(os.fsdecode(b"nowhere\xff"))


def test_files_appear_whole_through_links_and_devices_stay(weft, folder):
    Path("real.npy").write_bytes(b"before")
    Path("real.npy").chmod(0o600)
    Path("link.npy").symlink_to("real.npy")
    Path("dangling.npy").symlink_to("new.npy")
    for link, real in (("link.npy", "real.npy"), ("dangling.npy", "new.npy")):
        ok(weft("run", "layer.mlir", "-q", "--out", link))
        assert Path(link).is_symlink() and np.load(real).shape == (64, 3)
    assert Path("real.npy").stat().st_mode & 0o777 == 0o600
    os.mkfifo("pipe.npy")
    reader = subprocess.Popen(["cat", "pipe.npy"], stdout=subprocess.PIPE)
    ok(weft("run", "layer.mlir", "-q", "--out", "pipe.npy"))
    assert Path("pipe.npy").is_fifo() and np.load(io.BytesIO(reader.communicate(timeout=60)[0])).shape == (64, 3)
    for full in ["/dev/full"] * Path("/dev/full").is_char_device():
        Path("full.npy").symlink_to(full)
        assert weft("run", "layer.mlir", "-q", "--out", "full.npy") == (
            1,
            "",
            "weft: error: cannot write 'full.npy': No space left on device  [write_file]\n",
        )
    # A file that is longer than may be written, as on a full disk: what was there stays.
    np.save("y.npy", np.zeros(3))
    limited = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    done = subprocess.run([sys.executable, "-c", f"{limited}; from weftwork.cli import main; exit(main(['run', 'layer.mlir', '-q', '--out', 'y.npy']))"],
                          env={**ENVIRONMENT, "WEFT_CACHE": "off"}, capture_output=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (1, b"weft: error: cannot write 'y.npy': File too large  [write_file]\n")
    assert np.load("y.npy").shape == (3,) and not list(folder.glob("*.tmp"))


def test_a_closed_pipe_and_an_interrupt_end_it_quietly(folder):
    done = subprocess.Popen([*COMMAND, "ops"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.stdout.close()
    assert done.stderr.read() == b"" and done.wait(60) in (0, -signal.SIGPIPE)
    done = subprocess.Popen(
        [*COMMAND, "run", "-"], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    done.stdin.write(LAYER.encode())
    done.stdin.flush()
    time.sleep(2)
    done.send_signal(signal.SIGINT)
    assert done.stderr.read() == b"" and done.wait(60) == -signal.SIGINT
    if Path("/dev/full").exists():
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*COMMAND, "ops"], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (
            done.returncode == 1
            and b"standard output: No space left" in done.stderr
            and b"Traceback" not in done.stderr
        )


@pytest.mark.parametrize("damage", ["header length", "shape", "outside", "short"])
def test_damaged_files_of_safetensors(folder, weft, damage):
    write("x.safetensors", {"x": np.ones((2, 4), np.float32), "w": np.ones((4, 3), np.float32)})
    content = Path("x.safetensors").read_bytes()
    changed = {
        "header length": (2**63).to_bytes(8, "little") + content[8:],
        "shape": content.replace(b"[2, 4]", b"[2,-4]").replace(b"[2,4]", b"[-8]"),
        "outside": content[:-4],
        "short": content[:5],
    }[damage]
    assert changed != content
    Path("x.safetensors").write_bytes(changed)
    status, _, err = weft("run", "layer.mlir", "x.safetensors", "-q")
    assert status != 0 and "is no such file as .safetensors should be" in err


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file")
def test_a_file_that_does_not_end(weft):
    status, _, err = weft("run", "/dev/zero")
    assert status != 0 and "neither StableHLO text nor a .weft file" in err
