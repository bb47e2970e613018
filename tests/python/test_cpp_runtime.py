"""The runtime library as a C++ or C program uses it: installed, found, linked, run; without compiler and Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import needs_torch
import numpy as np
import pytest

import weftwork as wf
from weftwork import _core

ROOT = Path(__file__).parents[2]
BUILD = Path(_core.__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.skipif(not (BUILD / "lib").exists(), reason="the shared libraries were not built"),
    pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake"),
]


def run(*command, check=True, **environment):
    """Output of a program that runs without this process's preloaded libraries."""
    clean = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(
        [str(c) for c in command],
        text=True,
        capture_output=True,
        env={**clean, "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1", **environment},
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout if check else done


def sanitizer():
    found = re.search(r"^WEFT_SANITIZE:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found.group(1) if found else ""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def examples(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    flags = f"-fsanitize={sanitizer()}" if sanitizer() else ""
    options = [
        f"-DCMAKE_PREFIX_PATH={installed}",
        f"-DCMAKE_CXX_FLAGS={flags} -Wall -Wextra -Wconversion -Werror",
        f"-DCMAKE_C_FLAGS={flags}",
    ]
    run("cmake", "-S", ROOT / "examples/cpp", "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *options)
    run("cmake", "--build", folder, "-j", "2", "--target", "serve", "run_c")
    return folder


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "tanh.weft"
    wf.compile(lambda x: np.tanh(x + 1) @ np.ones((4, 3), np.float32), np.zeros((5, 4), np.float32)).save(path)
    return path


def test_eight_threads_run_one_program(examples, program):
    runs = 10000 if sanitizer() else 100000
    assert f"{runs} runs from 8 threads, 0 differ" in run(examples / "serve", program, runs)


def test_eight_threads_run_a_program_that_packs_its_weights(examples, tmp_path):
    weights = np.ones((4096, 300), np.float32)
    path = tmp_path / "large.weft"
    wf.compile(lambda x: np.tanh(x @ weights) @ weights.T, np.zeros((9, 4096), np.float32)).save(path)
    assert "200 runs from 8 threads, 0 differ" in run(examples / "serve", path, 200)


def test_memory_stays_flat(examples, program):
    def peak(runs):
        pid = os.posix_spawn(examples / "serve", ["serve", str(program), str(runs)], {"ASAN_OPTIONS": "detect_leaks=0"})
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        return usage.ru_maxrss

    if sanitizer():
        pytest.skip("a sanitizer keeps what was freed")
    assert peak(200000) - peak(2000) < 1024  # KiB


def test_the_library_is_small_and_needs_no_compiler(installed):
    library = next((installed / "lib").glob("libweft_runtime.so.*"))
    needed = run("readelf", "-d", library)
    assert not re.search(r"LLVM|python", needed)
    if not sanitizer():
        assert library.stat().st_size < 1.5e6
    names = run("nm", "-DC", "--defined-only", library).splitlines()
    foreign = [n for n in names if not re.search(r"weft|std::| [uVW] |typeinfo", n)]
    assert not foreign


def test_pkg_config_finds_it(installed, program, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    where = {"PKG_CONFIG_PATH": str(installed / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "weftwork-runtime", **where).split()
    extra = [f"-fsanitize={sanitizer()}"] if sanitizer() else []
    run("g++", "-O1", *extra, ROOT / "examples/cpp/serve.cpp", "-o", tmp_path / "serve", *flags)
    assert "0 differ" in run(tmp_path / "serve", program, 100, LD_LIBRARY_PATH=str(installed / "lib"))


def test_a_process_ends_while_a_run_is_pending(installed, tmp_path):
    def slow(x, y):
        for _ in range(8):
            x = np.tanh(x @ y)
        return x

    wf.compile(slow, *(np.zeros((1000, 1000), np.float32) for _ in range(2))).save(tmp_path / "slow.weft")
    source = """
        #include <weft/runtime.h>
        #include <unistd.h>
        int main(int, char** arguments) {
          auto program = weft::Executable::load(arguments[1]);
          auto square = weft::Buffer::zeros(weft::DType::f32, {1000, 1000});
          for (int i = 0; i < 50; ++i) program.run_async({square, square});
          usleep(20000);
        }"""
    (tmp_path / "ends.cpp").write_text(source)
    extra = [f"-fsanitize={sanitizer()}"] if sanitizer() else []
    link = [f"-I{installed}/include", f"-L{installed}/lib", "-lweft_runtime", f"-Wl,-rpath,{installed}/lib"]
    run("g++", "-std=c++20", *extra, tmp_path / "ends.cpp", "-o", tmp_path / "ends", *link)
    for _ in range(3):
        run(tmp_path / "ends", tmp_path / "slow.weft", WEFT_THREADS="2")


def test_c_runs_it(examples, program):
    out = run(examples / "run_c", program)
    expected = np.tanh(np.ones(4, np.float32)).sum()
    assert "input x: f32 of rank 2" in out
    assert float(out.split()[-1]) == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def pages(installed, tmp_path_factory):
    """The programs of docs/runtime.md, by their language."""
    folder = tmp_path_factory.mktemp("pages")
    page = (ROOT / "docs/runtime.md").read_text()
    for name, compiler in (("cpp", ("g++", "-std=c++20")), ("c", ("gcc", "-std=c99"))):
        [source] = re.findall(rf"```{name}\n(.*?)```", page, re.DOTALL)
        path = folder / f"page.{name}"
        path.write_text(source)
        run(*compiler, "-Wall", "-Wextra", "-Werror", *linked(installed), path, "-o", folder / name, *linked(installed))
    return folder


def linked(installed):
    extra = [f"-fsanitize={sanitizer()}"] if sanitizer() else []
    return [*extra, f"-I{installed}/include", f"-L{installed}/lib", "-lweft_runtime", f"-Wl,-rpath,{installed}/lib"]


def test_the_page_says_what_compiles(pages, program):
    assert "half of the runs" in run(pages / "cpp", program)
    assert "has 1 inputs" in run(pages / "c", program)


KEEPING = """
import shutil, weftwork as wf
save, kept = wf.Executable.save, []
def save_here(executable, path, **options):
    save(executable, path, **options)
    kept.append(f"{stem}{len(kept)}.weft")
    shutil.copy(path, kept[-1])
wf.Executable.save = save_here
"""


def saved_by(page, folder, **variables):
    """The files that the Python blocks of a page save."""
    folder = folder / page.stem
    folder.mkdir()
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    script = folder / f"page_{page.stem}.py"  # not the name of a package that a block imports
    script.write_text("\n".join([f"stem = {page.stem!r}", KEEPING, *blocks]))
    subprocess.run(
        [sys.executable, script], cwd=folder, check=True, capture_output=True, env={**os.environ, **variables}
    )
    return sorted(folder.glob(f"{page.stem}[0-9]*.weft"))


def compiled_by_the_commands(folder):
    """The files that `weft compile` makes on its page."""
    page = (ROOT / "docs/command.md").read_text()
    for name, text in re.findall(r"^```mlir (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(text)
    for command in re.findall(r"^\$ weft (compile .*)", page, re.MULTILINE):
        subprocess.run(
            [sys.executable, "-m", "weftwork", *command.split()], cwd=folder, check=True, capture_output=True
        )
    return sorted(folder.glob("*.weft"))


@pytest.mark.slow
def test_every_example_runs_every_file_of_the_docs(examples, pages, tmp_path, shared_folder):
    wf.compile(lambda x, y: x + y[::-1], wf.spec(("n", 3), np.float32), wf.spec(("n", 3), np.float32)).save(
        tmp_path / "symbolic.weft"
    )
    wf.compile(lambda x, y: (x * 2, y.sum()), np.ones((0, 3)), np.ones(4, np.int16)).save(tmp_path / "whole.weft")
    files = compiled_by_the_commands(tmp_path)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if (
            (page.stem != "torch" or needs_torch.is_usable())
            and ".save(" in page.read_text()
            and "```python" in page.read_text()
        ):
            # The page of torch builds its device, which may lie there.
            place = {"WEFT_CACHE": str(shared_folder)} if page.stem == "torch" else {}
            files += saved_by(page, tmp_path, **place)
    # Among them some with symbolic extents.
    assert (
        len(files) >= 5
        and sum(any(isinstance(d, wf.Dim) for i in wf.load(f).inputs for d in i.shape) for f in files) >= 2
    )
    for file in files:
        for command in (
            [examples / "serve", file, 100],
            [examples / "run_c", file],
            [pages / "cpp", file],
            [pages / "c", file],
        ):
            done = run(*command, check=False)
            assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_the_examples_take_symbolic_extents(examples, tmp_path):
    path = tmp_path / "symbolic.weft"
    wf.compile(lambda x: x * 2, wf.spec((wf.Dim("rows", 1, 5, 40), 4), np.float32)).save(path)
    assert "output 0: f32, 80 bytes" in run(examples / "run_c", path)
    assert "output 0: f32, 112 bytes" in run(examples / "run_c", path, "rows=7")
    assert "0 differ" in run(examples / "serve", path, 10, "rows=40")
    for program in (examples / "run_c", examples / "serve"):
        # A program that ends by an error frees nothing.
        done = run(program, path, "rows=41", check=False, ASAN_OPTIONS="detect_leaks=0")
        assert done.returncode == 1
        assert re.fullmatch(r"extent 'rows' .*must be from 1 to 40, got 41  \[extent_range\]\n", done.stderr)


def test_misuse_in_c_is_a_status_and_a_message(installed, program, tmp_path):
    extra = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    run("gcc", *extra, ROOT / "tests/runtime/misuse.c", "-o", tmp_path / "misuse", *linked(installed))
    symbolic = tmp_path / "symbolic.weft"
    wf.compile(lambda x: x * 2, wf.spec((wf.Dim("rows", 1, 5, 40), 4), np.float32)).save(symbolic)
    assert "0 of" in run(tmp_path / "misuse", program, symbolic)


def test_no_library_names_a_folder_of_the_build(installed):
    if sanitizer():
        pytest.skip("a sanitizer tells where things are made")
    for library in (installed / "lib").glob("libweft*.so.*"):
        assert str(ROOT).encode() not in library.read_bytes(), library
    assert str(ROOT).encode() not in Path(_core.__file__).read_bytes()


def test_linear_algebra_is_loaded_when_it_is_needed(examples, installed, tmp_path):
    path = tmp_path / "inverse.weft"
    wf.compile(lambda a: np.linalg.inv(a + np.eye(4)), np.zeros((4, 4))).save(path)
    assert "0 differ" in run(examples / "serve", path, 100)
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in (installed / "lib").glob("libweft_runtime*"):
        shutil.copy(name, alone, follow_symlinks=False)
    done = run(examples / "serve", path, 100, check=False, LD_LIBRARY_PATH=str(alone))
    # The runpath of what cmake built comes after LD_LIBRARY_PATH.
    assert done.returncode == 1
    assert (
        "libweft_linalg" in done.stderr
        and "cannot open shared object file" in done.stderr
        and "[linalg_library]" in done.stderr
    )


def test_errors_are_one_line(examples, tmp_path):
    path = tmp_path / "broken.weft"
    path.write_bytes(b"not a program")
    done = run(examples / "serve", path, check=False)
    assert done.returncode == 1
    assert "executable file" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_threads_are_clean(program):
    """The same under ThreadSanitizer, which `./dev ci` builds."""
    folder = ROOT / "build/tsan"
    if not (folder / "tests/serve").exists() or sys.gettrace():
        pytest.skip("build/tsan is not built: ./dev build --tsan serve")
    assert "0 differ" in run(folder / "tests/serve", program, 20000, TSAN_OPTIONS="halt_on_error=1")
