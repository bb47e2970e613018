"""Every public name says what it is."""

import inspect

import pytest

import weftwork as wf


def test_every_public_name_exists():
    assert [name for name in wf.__all__ if not hasattr(wf, name)] == []


@pytest.mark.parametrize("name", [n for n in wf.__all__ if not n.startswith("__")])
def test_every_public_name_has_a_sentence(name):
    thing = getattr(wf, name, None)
    if inspect.isclass(thing) or callable(thing) or inspect.ismodule(thing):
        assert (thing.__doc__ or "").strip(), f"weftwork.{name} has no docstring"
