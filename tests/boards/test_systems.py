"""Every system has a board that is fit for its profile, and a twin that fails what is broken in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from drc_rules.requirements.profiles.profile import profile_names
from fixtures.systems import load_system, make_fit, make_twin, system_names

NAMES = system_names()
PARENTS = {"board"}
"""Profiles that only others extend."""


def failed(report: Report) -> set[str]:
    return {v.clause.id for v in report.verdicts if v.has_rule and v.verdict is Verdict.FAILED}


def undecided(report: Report) -> list[str]:
    return sorted(v.clause.id for v in report.verdicts if v.has_rule and v.verdict is Verdict.NOT_VERIFIABLE)


def test_no_profile_is_without_a_system() -> None:
    """A profile of which no board was ever found fit may be one that none can meet."""
    assert set(profile_names()) - PARENTS == {load_system(name).profile for name in NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_fit_board_of_a_system_is_fit_and_its_twin_is_not(name: str, tmp_path: Path) -> None:
    """No error or warning on the fit board; the twin fails the clauses that decide, and what the change brings."""
    system = load_system(name)

    fit, twin = check_board(make_fit(name, tmp_path / "fit")), check_board(make_twin(name, tmp_path / "twin"))

    assert not fit.crashes and not twin.crashes
    assert fit.profile == twin.profile == system.profile
    assert fit.headline.value == "fit"
    assert [f.title for f in fit.findings if f.severity is not Severity.INFO] == []
    assert undecided(fit) == sorted(system.undecided)
    assert twin.headline.value == "not fit"
    assert failed(twin) - failed(fit) == {*system.fails, *system.also}
