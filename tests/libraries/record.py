"""Records with which arguments the functions of a library are called while its doctests and its tests run.

A trace function sees every call before it begins, so nothing of the library is replaced.
`python -m tests.libraries.record NAME FOLDER SECONDS WHAT` does it; WHAT is doctests, tests or examples.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import pickle
import subprocess
import sys
import tarfile
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

from . import run_sources
from .catalogue import Library, chosen
from .targets import Target, targets_of

try:
    import cloudpickle as pickler  # functions and classes of a test go by value
except ImportError:
    pickler = pickle

SETS, CALLS = 5, 400  # argument sets that are kept of a function; calls that are looked at
CASE_BYTES, ALL_BYTES = 400_000, 60_000_000
WHATS = ("examples", "doctests", "tests")


def kind_of(value: Any, depth: int = 0) -> Any:
    """Types and shapes of an argument: two sets that agree in them are one."""
    if isinstance(value, np.ndarray):
        return (type(value).__name__, value.dtype.str, value.shape)
    if isinstance(value, (str, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)) and depth < 3:
        return (type(value).__name__, len(value), *(kind_of(v, depth + 1) for v in value[:6]))
    if isinstance(value, dict) and depth < 3:
        return ("dict", *((str(k), kind_of(v, depth + 1)) for k, v in list(value.items())[:12]))
    return (type(value).__qualname__, getattr(value, "shape", None) if depth < 2 else None)


def is_large(value: Any) -> bool:
    """Whether an argument is too large to keep, as far as that is seen without pickling it."""
    size = getattr(value, "nbytes", 0)
    if isinstance(value, (list, tuple)):
        return len(value) > 20_000 or sum(getattr(v, "nbytes", 0) for v in value[:1000]) > CASE_BYTES
    return isinstance(size, int) and size > CASE_BYTES


def arguments(target: Target, local: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The call of a frame that begins: what has its default is left out, what has another one goes by name."""
    function, code = target.function, target.function.__code__
    names = code.co_varnames
    plain, only = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    default_of = dict(zip(names[plain - len(defaults) : plain], defaults)) | (function.__kwdefaults__ or {})
    more = local[names[plain + only]] if code.co_flags & inspect.CO_VARARGS else ()
    place = plain + only + bool(code.co_flags & inspect.CO_VARARGS)
    named = dict(local[names[place]]) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    by_place = plain if more else max(plain - len(defaults), code.co_posonlyargcount)
    args = [local[name] for name in names[:by_place]] + list(more)
    for name in names[by_place : plain + only]:
        if name not in default_of or local[name] is not default_of[name]:
            named[name] = local[name]
    return tuple(args[1:] if target.owner is not None else args), named


class Recorder:
    """The cases that are kept, and the trace function that finds them."""

    def __init__(self, library: Library, file: Path) -> None:
        self.library, self.file = library, file
        self.targets = targets_of(library)
        self.kept: dict[tuple[str, str], dict[Any, bytes]] = {}
        self.calls: dict[tuple[str, str], int] = {}
        self.bytes, self.saved = 0, time.monotonic()

    def __call__(self, frame: types.FrameType, event: str, _: Any) -> None:
        found = self.targets.get(frame.f_code)
        if found is None or event != "call":
            return
        local = frame.f_locals
        target = next((t for t in found if t.matches(local)), None)
        if target is not None:
            # Arguments may be objects whose shape, hash or pickling fails.
            with contextlib.suppress(Exception, RecursionError):
                self.see(target, local)

    def see(self, target: Target, local: dict[str, Any]) -> None:
        name = (target.module, target.qualname)
        kept = self.kept.setdefault(name, {})
        self.calls[name] = self.calls.get(name, 0) + 1
        if len(kept) >= SETS or self.calls[name] > CALLS:
            found = self.targets[target.function.__code__]
            found.remove(target)
            if not found:
                del self.targets[target.function.__code__]
            return
        args, kwargs = arguments(target, local)
        if any(is_large(value) for value in (*args, *kwargs.values())):
            return
        key = (tuple(kind_of(v) for v in args), tuple(sorted((k, kind_of(v)) for k, v in kwargs.items())))
        if key in kept:
            return
        data = pickler.dumps((args, kwargs), protocol=5)
        if len(data) > CASE_BYTES or self.bytes + len(data) > ALL_BYTES:
            return
        pickle.loads(data)
        kept[key] = data
        self.bytes += len(data)

    def save(self) -> None:
        cases = [
            {"library": self.library.name, "module": module, "qualname": qualname, "data": data}
            for (module, qualname), kept in sorted(self.kept.items())
            for data in kept.values()
        ]
        write_pickle(self.file, cases)
        self.saved = time.monotonic()

    def save_at_times(self) -> None:
        """What was found is kept if a test ends the process."""
        if time.monotonic() - self.saved > 20:
            with untraced():
                self.save()

    @contextlib.contextmanager
    def at_work(self) -> Any:
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(None)


@contextlib.contextmanager
def untraced() -> Any:
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)


def write_pickle(file: Path, value: Any) -> None:
    partial = file.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(value, protocol=5))
    partial.replace(file)


def tests_of(library: Library, folder: Path) -> Path | None:
    """The folder with a library's tests: unpacked from its sdist where one is named, else the package itself."""
    if not library.source:
        return Path(__import__(library.package, fromlist=["_"]).__file__).parent
    sources = folder / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    name = library.source.replace("==", "-")
    if not (sources / name).exists():
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", sources]
        if subprocess.run([*pip, library.source]).returncode != 0:
            return None
        with tarfile.open(next(sources.glob(f"{name}*.tar.gz"))) as archive:
            archive.extractall(sources, filter="data")
    return sources / name


def record(library: Library, folder: Path, seconds: float) -> int:
    """Runs what the library has in processes of their own and writes FOLDER/NAME.cases; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    cases: list[dict[str, Any]] = []
    seen: dict[tuple[str, str], int] = {}
    for what in WHATS:
        part = folder / f"{library.name}.{what}"
        part.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "tests.libraries.record",
            library.name,
            str(folder.resolve()),
            str(seconds),
            what,
        ]
        with (folder / f"{library.name}.{what}.log").open("w") as log, contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, timeout=seconds + 90)
        for case in pickle.loads(part.read_bytes()) if part.exists() else []:
            name = (case["module"], case["qualname"])
            seen[name] = seen.get(name, 0) + 1
            if seen[name] <= SETS:
                cases.append({**case, "what": what, "key": hashlib.md5(case["data"]).hexdigest()[:8]})
        part.unlink(missing_ok=True)
    cases.sort(key=lambda case: (case["module"], case["qualname"]))
    write_pickle(folder / f"{library.name}.cases", cases)
    return len(cases)


def main(name: str, folder: str, seconds: str, what: str) -> None:
    """The process that records: one library, one source of calls."""
    (library,) = chosen([name])
    recorder = Recorder(library, Path(folder) / f"{name}.{what}")
    if what == "tests":
        with contextlib.suppress(Exception):
            run_sources.run_tests(library, tests_of(library, Path(folder)), recorder, float(seconds))
    elif what == "doctests":
        run_sources.run_doctests(library, recorder, float(seconds))
    else:
        with contextlib.redirect_stdout(io.StringIO()):
            run_sources.run_examples(library, recorder)
    recorder.save()


if __name__ == "__main__":
    main(*sys.argv[1:])
