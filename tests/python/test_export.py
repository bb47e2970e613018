"""Programs exported as object files with C headers: compiled into C programs that link nothing else, and compared with NumPy."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf
from weftwork import _core

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is missing")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_POSIX_C_SOURCE=200809L", "-g"]

# Reads arguments from files, calls, writes results: CALL is the call and what comes before it.
MAIN = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
@INCLUDES@

static void* content(const char* path) {
  FILE* file = fopen(path, "rb");
  long size;
  void* bytes = NULL;
  if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) exit(90);
  rewind(file);
  if (posix_memalign(&bytes, 64, (size_t)size + 1) != 0 || fread(bytes, 1, (size_t)size, file) != (size_t)size) exit(91);
  fclose(file);
  return bytes;
}

static void keep(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(92);
}

typedef struct part {
  void (*body)(void** args, int64_t begin, int64_t end);
  void** args;
  int64_t begin, end;
} part;

static void* run_part(void* data) {
  part* p = data;
  if (p->begin < p->end) p->body(p->args, p->begin, p->end);
  return NULL;
}

/* Three threads for each loop, of small stacks. */
static void on_threads(void* context, int64_t count, void (*body)(void** args, int64_t begin, int64_t end), void** args) {
  pthread_t threads[3];
  part parts[3];
  pthread_attr_t small;
  int i;
  if (pthread_attr_init(&small) != 0 || pthread_attr_setstacksize(&small, 131072) != 0) exit(94);
  ++*(int*)context;
  for (i = 0; i < 3; ++i) {
    parts[i].body = body, parts[i].args = args, parts[i].begin = count * i / 3, parts[i].end = count * (i + 1) / 3;
    if (pthread_create(&threads[i], &small, run_part, &parts[i]) != 0) exit(93);
  }
  for (i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  pthread_attr_destroy(&small);
}

int main(void) {
  int loops = 0;
  weft_pool pool = {on_threads, NULL, 3};
  pool.context = &loops;
@CALL@
  printf("%d\\n", loops);
  return 0;
}
"""


def run(*words):
    """The command's output; it runs without the sanitizers of this process."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout


class Program:
    """A folder with exported functions and a C program that calls them."""

    def __init__(self, folder):
        self.folder, self.objects, self.includes, self.calls, self.outputs = folder, [], [], [], []

    def export(self, name, function, *specs, target=None):
        executable = wf.compile(function, *specs, target=target)
        files = executable.export(self.folder, name)
        self.objects.append(files.object)
        self.includes.append(f'#include "{name}.h"')
        self.library = files.library
        return executable

    def call(self, name, arguments, results, *, extents=(), pool="&pool", code="WEFT_OK"):
        """Adds a call; `results`: empty arrays, whose values run() fills."""
        words, after = [pool, *map(str, extents)], []
        lines = [f"    if ({name}_signature != {name}_SIGNATURE) return 2;"]
        for array in [*arguments, *results]:
            number = len(self.outputs)
            path = self.folder / f"array{number}"
            path.write_bytes(array.tobytes())
            self.outputs.append((path, array))
            lines.append(f'    void* a{number} = content("{path}");')
            words.append(f"a{number}")
            after += [f'    keep("{path}", a{number}, {array.nbytes});', f"    free(a{number});"]
        lines.append(f"    if ({name}({', '.join(words)}) != {code}) return 1;")
        self.calls.append("  {\n" + "\n".join([*lines, *after]) + "\n  }")

    def run(self, *flags, command=(), compiler="gcc"):
        """Compiles and runs it, and reads back all arrays; how many loops ran on threads."""
        source, binary = self.folder / "main.c", self.folder / "main"
        source.write_text(MAIN.replace("@INCLUDES@", "\n".join(self.includes)).replace("@CALL@", "\n".join(self.calls)))
        run(compiler, *STRICT, *flags, source, *self.objects, self.library, "-o", binary, "-lpthread", "-lm")
        done = run(*command, binary)
        for path, array in self.outputs:
            array[...] = np.frombuffer(path.read_bytes(), array.dtype).reshape(array.shape)
        return int(done)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.mark.parametrize("target", ["native", "avx2", "x86-64"])
def test_gelu_a_product_and_a_network_in_one_program(program, target):
    w1, b1, w2 = random(64, 300, seed=1), random(300, seed=2), random(300, 10, seed=3)
    network = lambda x: np.maximum(x @ w1 + b1, 0) @ w2
    x, rows, a, b = random(512, 1024), random(17, 64), random(96, 200), random(200, 333)
    one = program.export("gelu", gelu, x, target=target)
    two = program.export("product", np.matmul, a, b, target=target)
    three = program.export("network", network, wf.spec(("n", 64), np.float32), target=target)
    results = [
        np.empty_like(x),
        np.empty((96, 333), np.float32),
        np.empty((17, 10), np.float32),
        np.empty((5, 10), np.float32),
    ]
    program.call("gelu", [x], results[:1])
    program.call("product", [a, b], results[1:2])
    program.call("network", [rows], results[2:3], extents=[17])
    program.call("network", [rows[:5]], results[3:], extents=[5], pool="NULL")
    assert program.run() > 0
    for result, executable, arguments, plain in [
        (results[0], one, (x,), gelu),
        (results[1], two, (a, b), np.matmul),
        (results[2], three, (rows,), network),
        (results[3], three, (rows[:5],), network),
    ]:
        np.testing.assert_allclose(result, plain(*arguments), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(result, executable(*arguments), rtol=1e-6, atol=1e-6)
    # What the program gets to see of them.
    symbols = run("nm", "--defined-only", "-g", *program.objects)
    names = {line.split()[-1] for line in symbols.splitlines() if " " in line}
    wanted = {name + end for name in ("gelu", "product", "network") for end in ("", "_signature")}
    assert wanted <= names <= wanted | {"network.constants"} | {f"{name}.constants" for name in ("gelu", "product")}
    needs = run("nm", "-u", *program.objects)
    needed = {line.split()[-1] for line in needs.splitlines() if " U " in line}
    assert (
        {"weft_support_run_2", "weft_support_scratch"}
        <= needed
        <= {
            "weft_support_run_2",
            "weft_support_scratch",
            "memcpy",
            "memset",
            "memmove",
            "tanhf",
            "_GLOBAL_OFFSET_TABLE_",
        }
    )


DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
DTYPES += [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128]


@pytest.mark.parametrize("target", ["native", "avx2", "x86-64"])
def test_every_common_dtype(program, target):
    calls = []
    for dtype in DTYPES:
        name = f"sum_{np.dtype(dtype).name}"
        x = (random(13, 21) * 5).astype(dtype)
        function = lambda x: (x + x[0], np.sum(x, axis=1), x == x[:, :1])
        executable = program.export(name, function, x, target=target)
        results = [np.empty(io.shape, io.dtype) for io in executable.outputs]
        program.call(name, [x], results)
        calls.append((dtype, executable(x), results, function(x)))
    program.run()
    for dtype, expected, results, plain in calls:
        for result, one, other in zip(results, expected, plain, strict=True):
            assert result.tobytes() == one.tobytes(), dtype
            np.testing.assert_allclose(result.astype(np.complex128), other.astype(np.complex128), rtol=0.02, atol=0.05)


def test_arguments_that_are_written_and_odd_names(program):
    def step(x: wf.tensor[wf.mutable, np.float64, ("rows", "int")], y):  # noqa: F821
        x[1:] += y
        return x.sum(axis=1)

    x, y = random(9, 5, dtype=np.float64), random(5, dtype=np.float64)
    program.export("step", step, wf.spec(("rows", "int"), np.float64), wf.spec(("int",), np.float64))
    total, after = np.empty(9), x.copy()
    wanted = step(expected := x.copy(), y)
    program.call("step", [after, y], [total], extents=[9, 5])
    program.call("step", [x.copy(), y], [total.copy()], extents=[-1, 5], code="WEFT_BAD_EXTENT")
    program.run()
    np.testing.assert_allclose(after, expected, rtol=1e-12)
    np.testing.assert_allclose(total, wanted, rtol=1e-12)
    header = (program.folder / "step.h").read_text()
    assert (
        "int64_t int_" in header
        and "double* x" in header
        and "const double* y" in header
        and "read and written" in header
    )


def test_turns_on_threads_and_large_results(program):
    def attention(q, k, v):
        s = np.einsum("htd,hsd->hts", q, k) / 8
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        return np.einsum("hts,hsd->htd", s / s.sum(axis=-1, keepdims=True), v)

    q, k, v = (random(4, 512, 64, seed=i) for i in range(3))
    large = random(600, 600, dtype=np.float32)
    executable = program.export("attention", attention, q, k, v)
    program.export("large", lambda x: x + 1, large)
    result, sum_ = np.empty_like(q), np.empty_like(large)
    program.call("attention", [q, k, v], [result])
    program.call("large", [large], [sum_])
    assert program.run() > 0
    np.testing.assert_allclose(result, attention(q, k, v), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(result, executable(q, k, v), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(sum_, large + 1)
    assert "multiple of 64 bytes" in (program.folder / "large.h").read_text()


def heat(x, turns=40):
    y = x.copy()
    for _ in range(turns):
        y[1:-1, 1:-1] = 0.25 * (y[2:, 1:-1] + y[:-2, 1:-1] + y[1:-1, 2:] + y[1:-1, :-2])
    return y


def settled(x):
    return wf.while_loop(lambda v: np.abs(v).max() > 0.1, lambda v: v * 0.5, x)


def written_rows(x, at):
    y = x.copy()
    y[at] += 1
    return y[at], y


#: Kernels of each shape, small and beyond what a cache holds: those of 24 to 48 MiB are there in two ways, of which a run chooses.
SHAPED = {
    "scaled": (lambda x: x * 2, [random(4 << 20)]),
    "transposed": (lambda x: x.T.copy(), [random(2048, 2048)]),
    "chosen": (lambda x, y: np.where(x > 0, x, y), [random(3 << 20), random(3 << 20, seed=1)]),
    "stencil": (lambda x: x[1:-1] * 2 - x[:-2] - x[2:], [random(4 << 20)]),
    "stencil_2d": (lambda x: heat(x, 1), [random(2000, 2000)]),
    "tiled_loop": (heat, [random(600, 700)]),
    "small_loop": (heat, [random(9, 8)]),
    "row_sums": (lambda x: x.sum(axis=1), [random(3000, 2000)]),
    "column_sums": (lambda x: x.sum(axis=0), [random(3000, 2000)]),
    "whole_sum": (lambda x: (x.sum(), x.max()), [random(4 << 20)]),
    "running": (lambda x: np.cumsum(x, axis=1), [random(500, 4000)]),
    "normed": (
        lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5),
        [random(3000, 1500)],
    ),
    "product": (lambda a, b: a @ b, [random(300, 700), random(700, 500)]),
    "tall_product": (lambda a, b: a @ b, [random(4096, 16), random(16, 24)]),
    "row_product": (lambda a, b: a @ b, [random(1, 3000), random(3000, 2500)]),
    "batched": (lambda a, b: np.einsum("bij,bjk->bik", a, b), [random(20, 40, 50), random(20, 50, 30)]),
    "gathered": (lambda x, at: x[at], [random(5000, 300), np.arange(0, 5000, 3)]),
    "scattered": (written_rows, [random(900, 300), np.arange(0, 900, 7)]),
    "while_loop": (settled, [random(1000)]),
    "pasted": (lambda x, y: np.concatenate([x, y], axis=1), [random(2000, 900), random(2000, 700)]),
}


@pytest.mark.parametrize("sanitized", [False, True], ids=["threads", "asan"])
def test_every_shape_of_kernel(program, sanitized):
    expected = {}
    for name, (function, arguments) in SHAPED.items():
        if sanitized:
            arguments = [a[: max(a.shape[0] // 2, 1)] if a.nbytes > 1 << 25 else a for a in arguments]
        executable = program.export(name, function, *arguments)
        results = [np.empty(io.shape, io.dtype) for io in executable.outputs]
        program.call(name, arguments, results)
        expected[name] = executable(*arguments), results
    program.run(*(["-fsanitize=address,undefined", "-fno-sanitize-recover"] if sanitized else []))
    for name, (wanted, results) in expected.items():
        for one, other in zip(results, wanted if isinstance(wanted, tuple) else [wanted], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("target", ["native", "x86-64"])
def test_memory_is_sound(program, target):
    w = random(64, 65)
    x = random(33, 64)
    program.export("layer", lambda x: gelu(x @ w).cumsum(axis=1), wf.spec(("n", 64), np.float32), target=target)
    program.export("plain", gelu, x, target=target)
    results = [np.empty((33, 65), np.float32), np.empty_like(x)]
    program.call("layer", [x], results[:1], extents=[33])
    program.call("plain", [x], results[1:], pool="NULL")
    if target == "native":
        program.run("-fsanitize=address,undefined", "-fno-sanitize-recover")
    elif shutil.which("valgrind"):  # which knows no AVX-512
        program.run(
            command=["valgrind", "-q", "--error-exitcode=3", "--leak-check=full", "--errors-for-leak-kinds=definite"]
        )
    else:
        program.run()
    np.testing.assert_allclose(results[0], gelu(x @ w).cumsum(axis=1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(results[1], gelu(x), rtol=1e-5, atol=1e-6)
    if shutil.which("g++"):
        check = program.folder / "check.cpp"
        check.write_text(
            '#include "layer.h"\n#include "plain.h"\nint main() { return layer_signature != layer_SIGNATURE; }\n'
        )
        objects = [*program.objects, program.library, "-lpthread", "-lm", "-o", program.folder / "check"]
        run("g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", check, *objects)
        run(program.folder / "check")


def test_what_cannot_be_exported(tmp_path):
    x = np.ones((4, 4))
    twice = wf.compile(lambda x: x * 2, x)
    for name in ("", "2x", "a-b", "while", "class", "_x", "weft_x", "é", "tanh", "expf", "powl", "memcpy"):
        with pytest.raises(wf.errors.ArgumentValueError, match="name of a C function"):
            twice.export(tmp_path, name)
    with pytest.raises(wf.errors.UnsupportedError, match="it calls 'cholesky'"):
        wf.compile(np.linalg.cholesky, x).export(tmp_path, "f")
    with pytest.raises(wf.errors.UnsupportedError, match="it calls 'sort'"):
        wf.compile(np.sort, x).export(tmp_path, "f")
    with pytest.raises(OSError, match="No such file"):
        twice.export(tmp_path / "nowhere", "f")
    assert not list(tmp_path.iterdir())
    # The same from a file.
    twice.save(tmp_path / "f.weft")
    wf.load(tmp_path / "f.weft").export(tmp_path, "f", target="x86-64")
    assert "'x86-64'" in (tmp_path / "f.h").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.h", "f.o", "f.weft"]


def test_no_memory_for_the_blocks_of_a_product_is_an_error(program):
    a, b = random(300, 400), random(400, 500)
    program.export("product", np.matmul, a, b)
    # What begins at a page.
    program.includes.append("""
void* aligned_alloc(size_t unit, size_t size);
void* aligned_alloc(size_t unit, size_t size) {
  void* memory = NULL;
  return unit < 4096 && posix_memalign(&memory, unit, size) == 0 ? memory : NULL;
}""")
    for pool in ("&pool", "NULL"):
        program.call("product", [a, b], [np.empty((300, 500), np.float32)], pool=pool, code="WEFT_NO_MEMORY")
    assert program.run() == 1


def test_threads_may_export_to_one_file(tmp_path):
    path = tmp_path / "same"
    contents = [bytes([i]) * 100_000 for i in range(8)]

    def write(content):
        for _ in range(50):
            _core.write_file(path, content)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, contents))
    assert path.read_bytes() in contents and [each.name for each in tmp_path.iterdir()] == ["same"]
