"""What makes a library call its functions: its doctests, its tests, and examples for libraries that ship neither."""

from __future__ import annotations

import contextlib
import doctest
import hashlib
import inspect
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .catalogue import Library
from .targets import modules_of

try:
    import cloudpickle
except ImportError:
    cloudpickle = None

EACH = 20  # seconds of one doctest or test
ALIKE = 4  # tests that differ in parameters only


class TooLong(BaseException):
    """A test that takes too long; not an Exception, so that tests do not catch it."""


def alarm(*_: Any) -> None:
    raise TooLong


@contextlib.contextmanager
def limited(seconds: float) -> Any:
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def order(name: str) -> str:
    """Tests run in an order without meaning, so that a part of them is a part of everything."""
    return hashlib.md5(name.encode()).hexdigest()


class Finder(doctest.DocTestFinder):
    """Finds the doctests of decorated functions too, which have other globals than their module."""

    def _from_module(self, module: Any, value: Any) -> bool:
        if isinstance(value, property):
            return True
        return getattr(inspect.unwrap(value), "__module__", module.__name__) == module.__name__


def run_doctests(library: Library, recorder: Any, seconds: float) -> None:
    """Runs the doctests of all modules; whether they pass is of no interest."""
    end = time.monotonic() + seconds
    found = []
    for module in modules_of(library):
        with contextlib.suppress(Exception):
            found += [test for test in Finder(exclude_empty=True).find(module, extraglobs={"np": np}) if test.examples]
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in sorted(found, key=lambda test: order(test.name)):
        if time.monotonic() > end:
            break
        np.random.seed(0)
        with contextlib.suppress(Exception, SystemExit, TooLong), limited(EACH), recorder.at_work():
            runner.run(test, out=lambda _: None)
        recorder.save_at_times()


def run_examples(library: Library, recorder: Any) -> None:
    """Runs the functions of examples.py that are written for a library."""
    from . import examples

    for function in getattr(examples, "OF", {}).get(library.name, ()):
        np.random.seed(0)
        with limited(EACH), recorder.at_work():
            function()


class Plugin:
    """Records while pytest runs a test, and ends when the time is over."""

    def __init__(self, recorder: Any, seconds: float, by_value: bool) -> None:
        self.recorder, self.end = recorder, time.monotonic() + seconds
        self.by_value = by_value  # functions of tests that cannot be imported later

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items.sort(key=lambda item: order(item.nodeid))
        alike: dict[str, int] = {}
        kept = []
        for item in items:
            name = item.nodeid.split("[")[0]
            alike[name] = alike.get(name, 0) + 1
            if alike[name] <= ALIKE:
                kept.append(item)
        items[:] = kept
        if self.by_value and cloudpickle is not None:
            for module in {item.module.__name__: item.module for item in items if hasattr(item, "module")}.values():
                cloudpickle.register_pickle_by_value(module)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        np.random.seed(0)
        with limited(EACH), self.recorder.at_work():
            return (yield)

    def pytest_runtest_teardown(self, item: Any) -> None:
        self.recorder.save_at_times()
        if time.monotonic() > self.end:
            item.session.shouldstop = "time is over"


def run_tests(library: Library, folder: Path | None, recorder: Any, seconds: float) -> None:
    """Runs pytest over a folder; whether tests pass is of no interest."""
    if folder is None:
        return
    with contextlib.suppress(ImportError):
        import hypothesis

        hypothesis.settings.register_profile("few", max_examples=10, deadline=None, database=None)
        hypothesis.settings.load_profile("few")
    tests = [sub for sub in (folder / "tests", folder / "test") if sub.is_dir()] or [folder]
    if library.source:
        # Tests in a package of the name `tests` take the place of ours, which is in memory already.
        sys.modules.pop("tests", None)
        sys.path.insert(0, str(folder))
    os.chdir(tests[0] if (tests[0] / "data").is_dir() else folder)
    os.environ["EINOPS_TEST_BACKENDS"] = "numpy"
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "--continue-on-collection-errors", "-c", os.devnull]
    # Not only test_*.py: some packages name their tests otherwise.
    python = ["-o", "python_files=test_*.py *_test.py tests.py", "--tb=line", "--rootdir", str(folder)]
    pytest.main([*quiet, *python, *map(str, tests)], plugins=[Plugin(recorder, seconds, bool(library.source))])
