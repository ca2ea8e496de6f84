"""What rests on a row that cannot be is not judged, and says which row to correct."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.facts.row_faults import df_is_possible, dk_is_possible, limit_of, unstackable
from drc_rules.report.model import Report
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from drc_rules.requirements.profiles.profile import load_profile
from stackup_lib.kicad import read_board
from stackup_lib.materials import catalogue, inner_copper_mm, neighbouring_foils
from stackup_lib.materials.copper import stated_foils
from tests.support.mini import mini_file

PAIR = ("/PCIE_TX0_P", "/PCIE_TX0_N")
GOOD = """
mask 0.015 dk=3.5
F.Cu 0.035
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
In1.Cu 0.015
core 0.13 "370HR" dk=4.0 df=0.02
In2.Cu 0.015
prepreg 0.13 "370HR 2116" dk=4.0 df=0.02
In3.Cu 0.015
core 0.5 "370HR" dk=4.0 df=0.02
In4.Cu 0.015
prepreg 0.1 "370HR 2116" dk=4.0 df=0.02
B.Cu 0.035
mask 0.015 dk=3.5
"""
LOSS_CASES = Path("fixtures/rules/loss/excess_link_loss.toml")
CONFIG = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
F_CU, IN2 = ("F.Cu", 0.1, 0.2), ("In2.Cu", 0.08, 0.2)
"""Pairs that are off target: on a row that cannot be, that is not counted yet."""

UPPER = 'F.Cu 0.035\nprepreg 0.1 "370HR 2116" dk=4.0'
FAULTS = {
    "dk": (F_CU, UPPER, UPPER.replace("dk=4.0", "dk=42"), "Dk of dielectric 1 (42"),
    "mask": (F_CU, "mask 0.015 dk=3.5\nF.Cu", "mask 0.3 dk=3.5\nF.Cu", "thickness of F.Mask (0.3 mm"),
    "mask dk": (F_CU, "mask 0.015 dk=3.5\nF.Cu", "mask 0.015 dk=35\nF.Cu", "Dk of F.Mask (35"),
    "two sheets": (IN2, "prepreg 0.13", "prepreg 0.42", "thickness of dielectric 3 (0.42 mm of prepreg"),
    "prepreg": (IN2, "prepreg 0.13", "prepreg 1.3", "thickness of dielectric 3 (1.3 mm of prepreg"),
    "cores": (IN2, 'prepreg 0.13 "370HR 2116"', 'core 0.13 "370HR"', "(cores with no prepreg between them)"),
    "foil": (IN2, "In2.Cu 0.015", "In2.Cu 0.025", "copper thickness of In2.Cu (25 um"),
}


def check(folder: Path, stackup: str, routed: tuple[str, float, float], **more: object) -> Report:
    """A pair on one layer, between planes."""
    layer, width, gap = routed
    line = {"nets": PAIR, "layer": layer, "path_mm": [[5, 10], [60, 10]], "width_mm": width, "gap_mm": gap}
    made = {
        "size_mm": [80, 40],
        "planes": {"In1.Cu": "GND", "In3.Cu": "GND", "In4.Cu": "GND"},
        "stackup": stackup,
        "config": CONFIG,
        "pairs": [line],
    }
    return check_board(mini_file(folder, {**made, **more}))


def verdict(report: Report, clause: str) -> ClauseVerdict:
    return next(one for one in report.verdicts if one.clause.id == clause)


@pytest.mark.parametrize("fault", FAULTS)
def test_an_impedance_on_a_row_that_cannot_be_is_not_judged(fault: str, tmp_path: Path) -> None:
    """The same pair is an error on the good stackup; on the faulty one the row is named, not the width."""
    routed, good, bad, fact = FAULTS[fault]
    assert GOOD.count(good) == 1
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()

    before = verdict(check(tmp_path / "good", GOOD, routed), "board.impedance.routed")
    report = check(tmp_path / "bad", GOOD.replace(good, bad), routed)
    after = verdict(report, "board.impedance.routed")

    assert before.verdict is Verdict.FAILED
    assert after.verdict is Verdict.NOT_VERIFIABLE
    assert [missing.fact for missing in after.missing if fact in missing.fact]
    assert all("Correct" in missing.how_to_give for missing in after.missing)
    assert not [found for found in report.findings if found.code == "IMP002"]
    named = [found for found in report.findings if found.code in {f"STK{n:03}" for n in range(12, 18)}]
    assert [found.severity.value for found in named] == ["info" if fault == "foil" else "warning"]
    assert "width" not in named[0].fix


@pytest.mark.parametrize("fault", FAULTS)
def test_lines_that_do_not_touch_the_row_are_judged_as_before(fault: str, tmp_path: Path) -> None:
    """A slip in one row takes nothing from the rest of the board."""
    routed, good, bad, _ = FAULTS[fault]
    other = IN2 if routed is F_CU else ("B.Cu", 0.1, 0.2)

    report = check(tmp_path, GOOD.replace(good, bad), other)

    if fault == "cores":  # dielectric 2 to 4 are one run of cores; B.Cu runs over dielectric 5 alone
        assert verdict(report, "board.stackup.can_be_pressed").verdict is Verdict.FAILED
    assert verdict(report, "board.impedance.routed").verdict is Verdict.FAILED


@pytest.mark.parametrize("sheet_mm", [0.401, 0.42, 0.6, 0.8, 0.801])
def test_no_width_is_advised_on_a_prepreg_thicker_than_a_sheet(sheet_mm: float, tmp_path: Path) -> None:
    """From the limit of one sheet on: the row is named once, and no width next to it."""
    report = check(tmp_path, GOOD.replace("prepreg 0.13", f"prepreg {sheet_mm}"), IN2)

    assert [found.code for found in report.findings if found.code in ("STK015", "IMP002")] == ["STK015"]
    assert verdict(report, "board.impedance.routed").verdict is Verdict.NOT_VERIFIABLE


def test_sheets_that_are_entered_one_by_one_are_a_height(tmp_path: Path) -> None:
    """The fix that STK015 names: three sheets of 0.2 mm are 0.6 mm."""
    sheet = '"370HR 7628" dk=4.0 df=0.02'
    sheets = f"prepreg 0.2 {sheet}\nprepreg+ 0.2 {sheet}\nprepreg+ 0.2 {sheet}"
    stackup = GOOD.replace('prepreg 0.13 "370HR 2116" dk=4.0 df=0.02', sheets)

    report = check(tmp_path, stackup, IN2)

    assert not [found for found in report.findings if found.code == "STK015"]
    assert verdict(report, "board.impedance.routed").verdict in (Verdict.FAILED, Verdict.PASSED)


def test_the_only_dielectric_of_two_layers_is_judged_whatever_its_type(tmp_path: Path) -> None:
    """A remark says that it is a core, and its height is the board's."""
    stackup = 'mask 0.015 dk=3.5\nF.Cu 0.035\nprepreg 1.5 "370HR" dk=4.0 df=0.02\nB.Cu 0.035\nmask 0.015 dk=3.5'

    report = check(tmp_path, stackup, F_CU, planes={"B.Cu": "GND"})

    assert [found.code for found in report.findings if found.code in ("STK015", "STK016")] == ["STK016"]
    assert verdict(report, "board.impedance.routed").verdict is Verdict.FAILED


def test_what_kicad_intends_is_not_judged_on_such_a_row_either(tmp_path: Path) -> None:
    """IMP003 asks the same stackup."""
    stackup = GOOD.replace(UPPER, UPPER.replace("dk=4.0", "dk=42"))
    fast = {"name": "FAST", "patterns": ["/PCIE_*"], "diff_pair_width_mm": 0.1, "diff_pair_gap_mm": 0.2}

    found = verdict(check(tmp_path, stackup, F_CU, net_classes=[fast]), "board.impedance.intended")

    assert found.verdict is Verdict.NOT_VERIFIABLE
    assert [missing for missing in found.missing if "Dk of dielectric 1 (42" in missing.fact]


@pytest.mark.parametrize("df", ["0.91", "0.0001"])
def test_a_loss_on_a_df_that_cannot_be_is_not_judged(df: str, tmp_path: Path) -> None:
    """Whatever the laminate's sheet says: one of the two statements is wrong."""
    card = tomllib.loads(LOSS_CASES.read_text(encoding="utf-8"))["base"]["short"]
    bad = card["stackup"].replace("dk=3.4", f"dk=3.4 df={df}")
    (tmp_path / "good").mkdir()

    good = check_board(mini_file(tmp_path / "good", card))
    report = check_board(mini_file(tmp_path, {**card, "stackup": bad}))
    found = verdict(report, "board.loss.share")

    assert verdict(good, "board.loss.share").verdict is Verdict.PASSED
    assert found.verdict is Verdict.NOT_VERIFIABLE
    assert [missing for missing in found.missing if f"Df of dielectric 1 ({df}" in missing.fact]
    assert [row for row in report.losses if f"Df of dielectric 1 ({df}" in row.problem]


def test_the_limits_are_those_of_the_clauses_and_leave_room_for_every_laminate() -> None:
    """One place for each number; nothing in the catalogue comes near a limit."""
    clauses = {clause.kind: clause for clause in load_profile("board").clauses}
    spans = [(one.dk_range_at(1.0).value, one.df_range_at(10.0).value) for one in catalogue().laminates]
    dks = [end for dk, _ in spans if dk for end in (dk.low, dk.high)]
    dfs = [end for _, df in spans if df for end in (df.low, df.high)]

    for kind in ("dk_possible", "df_possible", "mask_thickness", "prepreg_sheet"):
        assert limit_of(kind) == clauses[kind].limit
    assert all(map(dk_is_possible, dks)) and dk_is_possible(0.95 * min(dks)) and dk_is_possible(2 * max(dks))
    assert all(map(df_is_possible, dfs)) and df_is_possible(min(dfs) / 4) and df_is_possible(1.5 * max(dfs))


@pytest.mark.parametrize("um", [5, 9, 12, 15, 15.2, 17, 17.5, 18, 20, 30, 34.3, 35, 36, 40, 61, 70, 80, 105, 140, 210])
def test_foils_that_are_sold_have_a_weight(um: float) -> None:
    """As bought and as finished, from a quarter of an ounce to heavy copper."""
    assert neighbouring_foils(um / 1000) is None


@pytest.mark.parametrize("oz", [0.25, 0.33, 0.5, 1, 2, 3, 4, 5, 6])
def test_inner_copper_that_a_suggestion_has_is_that_of_its_weight(oz: float) -> None:
    """3 oz makes 91.6 um, which was 0.1 um too thin: the check found that a suggested plane matched no foil."""
    assert neighbouring_foils(inner_copper_mm(oz)) is None


@pytest.mark.parametrize("um,adjacent", [(3, (None, 0)), (22, (0, 1)), (25, (0, 1)), (50, (1, 2)), (85, (2, 3))])
def test_copper_between_two_weights_is_neither(um: float, adjacent: tuple[int | None, int]) -> None:
    """25 um may be half an ounce or one."""
    lower, upper = adjacent
    foils = stated_foils()

    assert neighbouring_foils(um / 1000) == (None if lower is None else foils[lower], foils[upper])


@pytest.mark.parametrize("path", sorted(Path("fixtures/boards").glob("*/*.kicad_pcb")), ids=lambda path: path.stem)
def test_the_fixtures_can_be_pressed(path: Path) -> None:
    """They are boards that a fab makes."""
    stackup = read_board(path).stackup

    assert stackup is None or unstackable(stackup) == ()
