"""The package can be imported and knows its version."""

import re

import weftwork


def test_version_is_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", weftwork.__version__)


def test_the_native_module_loads():
    from weftwork import _core

    assert _core.__doc__
