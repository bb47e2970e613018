"""The interpreter of bytecode does what Python does, for programs of every kind: ``python tests/python/test_bytecode.py`` runs it too.

Nothing here needs the package's native part, so each Python from 3.10 on can run it.
"""

from __future__ import annotations

import copy
import importlib
import sys
import types
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
try:
    from weftwork.bytecode.machine import Machine, Stop
except ImportError:
    # Without the native part the folder of the interpreter alone is the package.
    package = types.ModuleType("weftwork")
    package.__path__ = [str(HERE.parents[1] / "python" / "weftwork")]
    sys.modules["weftwork"] = package
    Machine, Stop = (
        getattr(importlib.import_module("weftwork.bytecode.machine"), name) for name in ("Machine", "Stop")
    )
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

for module in sorted(path.stem for path in (HERE / "bytecode_programs").glob("[a-z]*.py")):
    importlib.import_module(f"bytecode_programs.{module}")
PROGRAMS = sys.modules["bytecode_programs"].PROGRAMS
chain = sys.modules["bytecode_programs"].chain


def outcome(call: Any, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a call gives or raises; each call has arguments of its own."""
    try:
        return "value", call(function, *copy.deepcopy((args, kwargs)))
    except Stop:
        raise
    except BaseException as error:
        return "raised", chain(error)


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return repr(a) == repr(b)
    return a == b


def check(number: int) -> None:
    function, args, kwargs = PROGRAMS[number]
    wanted = outcome(lambda f, a, k: f(*a, **k), function, args, kwargs)
    machine = Machine()
    found = outcome(machine.call, function, args, kwargs)
    assert same(found, wanted), f"{function.__name__}{args}: {difference(found, wanted)}"
    assert machine.frame is None
    assert machine.depth == 0


def difference(found: Any, wanted: Any, where: str = "") -> str:
    """Where two results differ first."""
    if isinstance(found, (list, tuple)) and type(found) is type(wanted) and len(found) == len(wanted):
        for at, (a, b) in enumerate(zip(found, wanted)):
            if not same(a, b):
                return difference(a, b, f"{where}[{at}]")
    return f"at {where or 'the top'}: {found!r}, Python gives {wanted!r}"


def pytest_generate_tests(metafunc: Any) -> None:
    if "number" in metafunc.fixturenames:
        names = [
            f"{function.__module__.rpartition('.')[2]}-{function.__name__}-{i}"
            for i, (function, _, _) in enumerate(PROGRAMS)
        ]
        metafunc.parametrize("number", range(len(PROGRAMS)), ids=names)


def test_program(number: int) -> None:
    check(number)


def stops(function: Any, *args: Any) -> bool:
    machine = Machine()
    try:
        machine.call(function, args, {})
    except Stop:
        return machine.frame is None and machine.depth == 0
    return False


def test_deep_recursion_stops() -> None:
    def deep(n: int) -> int:
        return n and deep(n - 1) + 1

    assert stops(deep, 10_000)
    assert Machine().call(deep, (60,), {}) == 60


def test_asynchronous_code_stops() -> None:
    newer = sys.modules["bytecode_programs.newer"]
    assert stops(newer.coroutine)
    assert stops(newer.asynchronous_generator)
    assert stops(lambda: newer.coroutine())


def test_frames_of_python_stop() -> None:
    assert stops(lambda: sys._getframe())


def test_nothing_of_the_program_runs_after_a_stop() -> None:
    log: list[str] = []

    def tidy() -> Any:
        try:
            yield 1
        finally:
            log.append("finally")

    def program() -> Any:
        held = tidy()
        next(held)
        try:
            sys._getframe()
        except BaseException:
            log.append("caught")
        finally:
            log.append("finally")

    assert stops(program)
    assert log == []


def test_a_generator_goes_on_after_its_call() -> None:
    def numbers(n: int) -> Any:
        total = 0
        while total < n:
            total += (yield total) or 1

    made = Machine().call(numbers, (10,), {})
    assert [next(made), made.send(3), next(made)] == [0, 3, 4]
    assert list(made) == [5, 6, 7, 8, 9]


def main() -> None:
    failures = 0
    tests = [value for name, value in globals().items() if name.startswith("test_") and name != "test_program"]
    for name, run in [(str(n), lambda n=n: check(n)) for n in range(len(PROGRAMS))] + [(t.__name__, t) for t in tests]:
        try:
            run()
        except BaseException as error:
            failures += 1
            print(f"FAILED {name}: {type(error).__name__}: {str(error)[:700]}")
    print(f"{sys.version.split()[0]}: {len(PROGRAMS)} programs, {failures} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
