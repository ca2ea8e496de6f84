"""Ranges in the design rules that `new` writes: KiCad's check takes a neck-down, our impedance check does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.stackup_design.new_plan import neck_mm, plan_of_answer
from drc_rules.stackup_design.plan_file import parse_plan, write_plan
from stackup_lib.board.planned import PlannedRule
from stackup_lib.kicad.write.rules_writer import replace_rules
from stackup_lib.synthesis import suggest
from stackup_lib.synthesis.constructions import DF_GHZ
from stackup_lib.transmission_lines.materials.laminate_models import DK_GHZ
from tests.support.mini import mini_file
from tests.support.synthesis_goals import ALL

CLASS = "85Ohm-diff_PCIE5"
STACKUP = """
mask 0.015 dk=3.5
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
In1.Cu 0.015
core 0.5 "370HR" dk=4.0 df=0.02
In2.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
B.Cu 0.035
mask 0.015 dk=3.5
"""
SOLVED = PlannedRule(
    net_class=CLASS, layer="F.Cu", width_mm=0.175, gap_mm=0.2, neck_mm=0.075, requirement="85 ohm differential"
)


def checked(folder: Path, width_mm: float, gap_mm: float, rule: PlannedRule | None = SOLVED) -> Report:
    """A pair of 55 mm above a plane, routed so, with the rule next to the board."""
    folder.mkdir()
    rules = replace_rules(None, [] if rule is None else [rule]).decode()
    nets = ("/PCIE_TX0_P", "/PCIE_TX0_N")
    line = {"nets": nets, "layer": "F.Cu", "path_mm": [[5, 10], [60, 10]], "width_mm": width_mm, "gap_mm": gap_mm}
    made = {
        "size_mm": [80, 40],
        "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
        "stackup": STACKUP,
        "config": f'[[interface]]\nis = "pcie5"\nnet_classes = ["{CLASS}"]\n',
        "net_classes": [{"name": CLASS, "patterns": ["/PCIE_*"]}],
        "pairs": [line],
        "design_rules": rules or None,
    }
    return check_board(mini_file(folder, made))


def verdict(report: Report, clause: str) -> Verdict:
    return next(one.verdict for one in report.verdicts if one.clause.id == clause)


def test_a_neck_down_that_kicad_takes_is_still_off_impedance(tmp_path: Path) -> None:
    """Routed as solved all is met; a pair of neck-down's width fails, with the rule as without it."""
    good = checked(tmp_path / "solved", 0.175, 0.2)
    narrow = checked(tmp_path / "narrow", 0.075, 0.3)
    without = checked(tmp_path / "without", 0.075, 0.3, None)
    assert verdict(good, "board.impedance.routed") is Verdict.PASSED
    assert verdict(good, "board.impedance.intended") is Verdict.PASSED
    for report in (narrow, without):
        assert verdict(report, "board.impedance.routed") is Verdict.FAILED


def test_the_preferred_width_is_what_is_configured(tmp_path: Path) -> None:
    """Not the least of the range: that would be off target; nor does the solved one hide a wrong one."""
    narrow = checked(tmp_path / "narrow", 0.075, 0.3)
    assert verdict(narrow, "board.impedance.intended") is Verdict.PASSED
    wrong = SOLVED.model_copy(update={"width_mm": 0.075, "gap_mm": 0.3})
    assert verdict(checked(tmp_path / "wrong", 0.175, 0.2, wrong), "board.impedance.intended") is Verdict.FAILED


@pytest.mark.parametrize(("copper_oz", "expected_mm"), [(1 / 3, 0.09), (0.5, 0.09), (1, 0.1), (1.5, 0.178), (9, 0.3)])
def test_heavier_copper_takes_wider_neck_downs(copper_oz: float, expected_mm: float) -> None:
    """As advanced fabs etch it; between two weights as the heavier one, past the table as its last."""
    assert neck_mm(copper_oz) == expected_mm


@pytest.mark.parametrize("name", ["edge", "card", "baseboard"])
def test_a_suggestions_rules_hold_their_solved_sizes_in_a_range(name: str) -> None:
    """No rule forbids its own line; the class has the least gap, because KiCad takes it as clearance of the pair."""
    one = suggest(ALL[name]).ranked[0]
    plan = plan_of_answer(one, ALL[name], {})
    weights = {row.name: row.copper_oz for row in one.candidate.rows}
    assert plan.rule
    for rule in plan.rule:
        least, most = rule.width_range_mm
        assert least == min(rule.width_mm, neck_mm(weights[rule.layer] or 0.0))
        assert most == rule.width_mm
    for net_class in plan.net_class:
        gaps = [rule.gap_mm for rule in plan.rule if rule.net_class == net_class.name and rule.gap_mm is not None]
        assert net_class.diff_pair_gap_mm == min(gaps, default=None)


def test_a_plan_states_the_frequency_of_each_dk_and_df() -> None:
    """Suggestions take Dk at 1 GHz and Df at 10 GHz; a plan that is written and read keeps both."""
    first = suggest(ALL["card"]).ranked[0]

    plan = parse_plan(write_plan(plan_of_answer(first, ALL["card"], {})), "plan")

    rows = [row for row in plan.rows if row.kind in ("core", "prepreg")]
    assert rows and {(row.dk_at_ghz, row.at_ghz) for row in rows} == {(DK_GHZ, DF_GHZ)}
