"""A `"?"` in the settings of a board that fits: what it leaves open is not known, and what the table states counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import Verdict
from drc_rules.settings.config import parse_config

BOARD = Path(__file__).parents[2] / "fixtures/boards/inference_pcie_gen5_fit/inference_pcie_gen5_fit.kicad_pcb"
SETTINGS = BOARD.with_name("stackwright.toml").read_text(encoding="utf-8")
LINKS = '\nnet_classes = ["85Ohm-diff_PCIE"]\n'


def judged(*changes: tuple[str, str], more: str = "") -> Report:
    text = SETTINGS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return check_board(BOARD, config=parse_config(text + more), tables=False)


def applying(report: Report) -> set[str]:
    """The clauses that apply."""
    return {one.clause.id for one in report.verdicts if one.verdict is not Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize(
    "change",
    [
        ("current_a = 6.25", 'current_a = "?"'),
        ('from = ["J2"]', 'from = ["?"]'),
        ('to = ["U1"]', 'to = ["?"]'),
        ("voltage_v = 12", 'voltage_v = "?"'),
        ('net = "+12V"', 'net = "?"'),
    ],
)
def test_a_rail_with_an_open_end_current_voltage_or_net_is_not_proven(change: tuple[str, str]) -> None:
    """Never a requirement less, and no rule comes to grief."""
    whole, open_ = judged(), judged(change)

    assert whole.headline is Headline.FIT
    assert open_.headline is Headline.NOT_PROVEN
    assert applying(open_) >= applying(whole)
    assert not open_.crashes


@pytest.mark.parametrize(
    ("changes", "more", "code"),
    [
        ((("current_a = 6.25", 'current_a = 200\nripple_pct = "?"'),), "", "PDN002"),
        ((), f'\n[[impedance]]{LINKS}ohm = 100\nkind = "differential"\ntolerance_pct = "?"\n', "IMP002"),
        ((), f'\n[[backdrill]]{LINKS}from = "F.Cu"\nmust_cut = "In12.Cu"\nsize_mm = "?"\n', "VIA005"),
    ],
)
def test_what_a_table_states_counts_with_an_optional_key_open(
    changes: tuple[tuple[str, str], ...], more: str, code: str
) -> None:
    """200 A, 100 ohm and a drill through the signal layers fail with the open key as without it."""
    report = judged(*changes, more=more)

    assert report.headline is Headline.NOT_FIT
    assert code in {one.code for one in report.findings}


def test_a_table_that_is_not_counted_is_told() -> None:
    """A rail of which nothing is stated, with its number; without an open key nothing is said."""
    report, quiet = judged(more='\n[[rail]]\nnet = "?"\nvoltage_v = "?"\ncore = true\n'), judged()

    assert '[[rail]] 2 is not counted: net = "?"' in report.notes
    assert report.headline is Headline.FIT
    assert not any("not counted" in one for one in quiet.notes)


def test_a_rail_that_names_no_net_yet_is_told() -> None:
    """What it states shows that it is there."""
    report, quiet = judged(('net = "+12V"', 'net = "?"')), judged()

    assert "[[rail]] 1 names no net yet" in report.notes
    assert not any("names no net" in one for one in quiet.notes)
