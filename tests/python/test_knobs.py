"""Settings: scopes, the environment, and the page that lists them."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import weftwork as wf
from weftwork.knobs import table

ROOT = Path(__file__).parents[2]


def value(name):
    return next(knob.value for knob in table() if knob.name == name)


def test_the_page_is_up_to_date():
    script = str(ROOT / "scripts" / "generate_knobs_page.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_object_opens_a_scope_on_each_thread():
    shared, opened, seen = wf.knobs(threads=3), threading.Event(), []

    def other():
        with shared:
            opened.set()
            closed.wait(60)
            seen.append(wf.num_threads())
        seen.append(wf.num_threads())

    before, closed, thread = wf.num_threads(), threading.Event(), threading.Thread(target=other)
    with shared:
        thread.start()
        assert opened.wait(60)
    assert wf.num_threads() == before
    closed.set()
    thread.join()
    assert seen == [3, before]


def test_scopes_nest_and_put_back_what_was():
    before = wf.num_threads()
    with wf.knobs(threads=3):
        with wf.knobs(threads=2, verify=False):
            assert (wf.num_threads(), value("verify")) == (2, "0")
            with wf.knobs(verify=True):
                assert (wf.num_threads(), value("verify")) == (2, "1")
        assert wf.num_threads() == 3
    assert wf.num_threads() == before
    with pytest.raises(ZeroDivisionError), wf.knobs(threads=1):
        1 / 0  # noqa: B018
    assert wf.num_threads() == before


def test_none_is_the_standard_value_and_a_scope_goes_before_the_environment(monkeypatch):
    monkeypatch.setenv("WEFT_TARGET", "avx2")
    assert value("target") == "avx2"
    with wf.knobs(target=None):
        assert value("target") == "native"
        assert next(knob.source for knob in table() if knob.name == "target") == "scope"


def test_a_scope_is_its_thread_s_own():
    seen = []
    with wf.knobs(threads=1):
        other = threading.Thread(target=lambda: seen.append(wf.num_threads()))
        other.start()
        other.join()
    assert seen == [wf.num_threads()]


def test_scopes_of_one_thread_may_end_in_any_order():
    first, second = wf.knobs(threads=2), wf.knobs(threads=3)
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert wf.num_threads() == 3
    second.__exit__()
    assert wf.num_threads() == wf.num_threads()
    assert next(knob.source for knob in table() if knob.name == "threads") != "scope"


def test_a_scope_ends_on_its_thread_only():
    scope, errors = wf.knobs(threads=2), []

    def leave():
        try:
            scope.__exit__()
        except wf.errors.ExecutionError as error:
            errors.append(str(error))

    with scope:
        other = threading.Thread(target=leave)
        other.start()
        other.join()
        assert wf.num_threads() == 2
    assert "knob_thread" in errors[0]


def test_a_function_can_be_decorated_and_one_scope_entered_twice():
    scope = wf.knobs(threads=2)
    assert scope(wf.num_threads)() == 2
    with scope, scope:
        assert wf.num_threads() == 2
    assert next(knob.source for knob in table() if knob.name == "threads") != "scope"


@pytest.mark.parametrize(
    "values, says",
    [
        ({"verfy": True}, "there is no knob 'verfy', the nearest is 'verify'"),
        ({"jobs": "1"}, "there is no knob 'jobs'"),
        ({"verify": "maybe"}, "'verify' must be 1 or 0 (on or off), got 'maybe'"),
        ({"verify": 2}, "'verify' must be 1 or 0"),
        ({"threads": -1}, "'threads' must be an integer from 0 to 1024, got '-1'"),
        ({"threads": 1025}, "'threads' must be an integer from 0 to 1024"),
        ({"threads": "1x"}, "got '1x'"),
        ({"cache_bytes": ""}, "'cache_bytes' must be an integer from 0, got ''"),
    ],
)
def test_what_does_not_fit_is_an_error(values, says):
    with pytest.raises(wf.errors.ArgumentValueError, match=re.escape(says)):
        wf.knobs(**values)


def test_the_type_of_a_value_is_checked():
    with pytest.raises(wf.errors.ArgumentTypeError, match="takes a bool, an int or a text, got float"):
        wf.knobs(threads=1.5)


def test_programs_are_dumped_and_kept_where_the_scope_says(tmp_path):
    with wf.knobs(dump=tmp_path / "dump", cache="off"):
        wf.jit(lambda x: x * 3)(np.ones(3))
    assert (tmp_path / "dump" / "lambda" / "40.s").stat().st_size > 0
    with wf.knobs(cache=str(tmp_path / "kept")):
        wf.jit(lambda x: x * 5)(np.ones(3))
        assert wf.cache.info().entries == 1
        assert wf.cache.info().directory == str(tmp_path / "kept")


def run(program, **variables):
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)


def test_variables_that_mean_nothing_are_reported_once():
    program = "import numpy as np, weftwork as wf\nfor n in 1, 2: wf.jit(lambda x: x + 1)(np.ones(n))\nprint(wf.num_threads() > 0)"
    done = run(program, WEFT_VERFY="1", WEFT_THREADS="many", WEFT_JOBS="2")
    assert done.stdout == "True\n", done.stderr
    assert done.stderr.count("WEFT_VERFY sets nothing, the nearest that does is WEFT_VERIFY") == 1
    assert done.stderr.count("WEFT_THREADS must be an integer from 0 to 1024, got 'many', which is not used") == 1
    assert "WEFT_JOBS" not in done.stderr


def test_the_environment_is_read_in_one_place():
    readers = [
        path.relative_to(ROOT).as_posix()
        for folder, pattern in (("weft", r"\bgetenv\("), ("python", r"getenv\(|environ\b.*WEFT_"))
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".py") and re.search(pattern, path.read_text())
    ]
    assert readers == ["weft/core/knobs.cpp"]
