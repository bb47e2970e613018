"""What every Python test has: the package of this tree when none is installed."""

import gc
import importlib.util
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("weftwork") is None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

# Every pass must leave a legal graph; read when the first program is compiled.
os.environ.setdefault("WEFT_VERIFY", "1")
# What is tested is what is compiled now; tests/python/test_cache.py has folders of its own.
os.environ.setdefault("WEFT_CACHE", "off")
# What a test compiles must be one program; tests of what runs plainly say strict=False.
os.environ.setdefault("WEFT_STRICT", "1")

if "asan" in os.environ.get("LD_PRELOAD", ""):

    def refused_fork() -> int:
        pytest.skip(
            "a child that is forked beside other threads can wait for ever in the allocator of GCC 12's AddressSanitizer"
        )

    os.fork = refused_fork


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", type=int, default=1, metavar="N", help="of each test function the first case and every N-th after it"
    )
    parser.addoption("--third", type=int, metavar="N", help="of the test functions one third, which depends on N")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share: int = config.getoption("share")
    third: int | None = config.getoption("third")
    cases: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        function = item.nodeid.partition("[")[0]
        is_other = third is not None and zlib.crc32(function.encode()) % 3 != third % 3
        (dropped if cases[function] % share or is_other else kept).append(item)
        cases[function] += 1
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


@pytest.fixture(autouse=True)
def own_numbers(request: pytest.FixtureRequest) -> None:
    """A test draws the same numbers from its module's generator, whichever tests ran before it."""
    generator = getattr(request.module, "RNG", None)
    if generator is not None:
        fresh = type(generator.bit_generator)(zlib.crc32(request.node.nodeid.encode()))
        generator.bit_generator.state = fresh.state


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in pieces is compiled when it is met, and runs so at each call: nothing is measured, and nothing waits."""
    monkeypatch.setenv("WEFT_TRIALS", "0")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that its workers share, where what takes long to build is built once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def few_objects() -> Iterator[None]:
    """Garbage is looked for among what a module's tests make, not among what all modules hold, which takes half a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(params=["native", "avx512", "avx2", "x86-64"])
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of CPU that this one can stand for, as what is compiled is made for."""
    import numpy as np

    import weftwork as wf

    monkeypatch.setenv("WEFT_TARGET", request.param)
    try:
        wf.jit(np.negative)(np.ones(3, np.float32))
    except ValueError:
        pytest.skip(f"this CPU lacks {request.param}")
    return str(request.param)


@pytest.fixture
def fresh_torch() -> Iterator[None]:
    """torch knows no compiled graph, and draws from the same numbers in each test."""
    import torch

    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
