"""Programs with state, plain and jitted: each statement gives the same result and leaves the same state."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.state.__main__ import Campaign, requests
from tests.state.pool import Worker

DRAWN = 400


def options(**given):
    standard = {"wrapper": "jit", "examples": 2, "whole": False, "save": False, "cases": None, "seed": "ci", "first": 0}
    return argparse.Namespace(**{**standard, **given})


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [pytest.param(options(cases=[]), id="cases"), pytest.param(options(count=DRAWN), id="drawn")]
)
def test_programs_with_state_run_as_under_python(given, monkeypatch, capsys):
    monkeypatch.delenv("WEFT_STRICT", raising=False)
    campaign = Campaign(*requests(given))
    campaign.work(Worker(given.wrapper))
    if campaign.failures:
        campaign.report(given)
        pytest.fail(capsys.readouterr().out, pytrace=False)
    assert campaign.done == campaign.total
    # It would prove nothing if all ran plainly.
    assert campaign.ways["compiled"] > campaign.done // 10
