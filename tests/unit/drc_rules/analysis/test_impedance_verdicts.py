"""A pass means pass: nominal within the tolerance; beyond it by more than is not known fails, and between is open."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, find_config
from drc_rules.explain.explain_trace import trace_clauses
from drc_rules.facts.declared import Overrides
from drc_rules.report.formula import nominal
from drc_rules.report.model import Headline, Report
from drc_rules.report.verdicts import ClauseVerdict, Verdict
from stackup_lib.core.interval import Interval
from stackup_lib.kicad import read_board
from tests.support.boards import BOARDS, board_file
from tests.support.mini import mini_file
from tests.support.stackups import SIX_LAYERS

pytestmark = pytest.mark.slow

ROUTED, INTENDED = "board.impedance.routed", "board.impedance.intended"
KINDS = {"routed_impedance", "intended_impedance", "link_loss", "link_loss_assumed"}

AT = """
[[impedance]]
ohm = {ohm}
kind = "differential"
tolerance_pct = 5
net_classes = ["85Ohm-diff_PCIE"]
"""

SETTLED = """
[process]
inner_etch_taper_um = 15.2
"""
DK = """
[declared.dielectric."{row}"]
dk = {dk}
at_ghz = 10
"""
ROWS = {"dielectric 2": 3.35, "dielectric 3": 3.23, "dielectric 13": 3.23, "dielectric 14": 3.35}


def checked(folder: Path, settings: str) -> Report:
    """The fixture whose pairs are routed at 87.8 ohm, with more settings."""
    board = folder / "board"
    shutil.copytree(BOARDS / "inference_pcie_gen5_fit", board)
    toml = board / "stackwright.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + settings, encoding="utf-8")
    return check_board(board / "inference_pcie_gen5_fit.kicad_pcb")


def verdict(report: Report, clause: str) -> ClauseVerdict:
    return next(one for one in report.verdicts if one.clause.id == clause)


def test_a_deviation_beyond_the_tolerance_is_no_pass(tmp_path: Path) -> None:
    """82 ohm +-5 % routed at 87.8 (+7.1 %): neither routed nor intended reads passed, and the board is not fit."""
    report = checked(tmp_path, AT.format(ohm=82))

    assert report.headline is Headline.NOT_PROVEN
    for clause in (ROUTED, INTENDED):
        found = verdict(report, clause)
        assert found.verdict is Verdict.NOT_VERIFIABLE
        assert "87.8 ohm, +7.1 % from 82" in found.missing[0].fact
        assert "etch taper +-1.7 %, Dk +-1.0 % not declared" in found.missing[0].fact
    assert 'inner_etch_taper_um = "?"  # base less top width of a trace, both sides together' in report.proofs
    assert report.proofs.count("[process]") == 1
    for row in ROWS:
        assert f'[declared.dielectric."{row}"]' in report.proofs


def test_declaring_the_named_causes_settles_it(tmp_path: Path) -> None:
    """With taper and Dk as they were assumed, 7.1 % is a failure, and the headline says so."""
    settled = SETTLED + "".join(DK.format(row=row, dk=dk) for row, dk in ROWS.items())
    report = checked(tmp_path, AT.format(ohm=82) + settled)

    assert report.headline is Headline.NOT_FIT
    assert verdict(report, ROUTED).verdict is Verdict.FAILED
    assert verdict(report, ROUTED).missing == ()


def test_a_taper_that_brings_it_within_the_tolerance_passes(tmp_path: Path) -> None:
    """What is declared moves the impedance: upright walls and a Dk of 3.4 bring it within 5 % of 82 ohm."""
    upright = "[process]\ninner_etch_taper_um = 1\n" + "".join(DK.format(row=row, dk=3.4) for row in ROWS)
    report = checked(tmp_path, AT.format(ohm=82) + upright)

    assert verdict(report, ROUTED).verdict is Verdict.PASSED
    assert report.headline is Headline.FIT


def test_beyond_tolerance_and_all_that_is_not_known_fails(tmp_path: Path) -> None:
    """78 ohm: +12.6 % is out of reach of 2.8 % of uncertainty, declared or not."""
    report = checked(tmp_path, AT.format(ohm=78))

    assert report.headline is Headline.NOT_FIT
    assert verdict(report, ROUTED).verdict is Verdict.FAILED
    assert any(
        f.code == "IMP002" and "impedance 88 ohm differential, +13 % from 78 ohm" in f.title for f in report.findings
    )


def test_the_same_board_at_its_own_target_stays_fit(tmp_path: Path) -> None:
    """85 ohm: +3.3 % is within 5 %, whatever is not declared."""
    report = checked(tmp_path, AT.format(ohm=85))

    assert report.headline is Headline.FIT
    assert verdict(report, ROUTED).verdict is Verdict.PASSED


def passed_numbers(board: Path) -> Iterator[tuple[str, str, dict[str, float | Interval]]]:
    """Rule, what was judged, and the numbers, of everything that passed."""
    told = trace_clauses(read_board(board), find_config(board, None), Overrides(), lambda clause: clause.kind in KINDS)
    for answer in told.answers:
        for one in answer.objects:
            for working in one.steps if one.verdict is Verdict.PASSED else ():
                yield answer.rule.code if answer.rule else "", working.what, working.numbers


def test_no_passed_line_prints_a_nominal_value_beyond_its_limit() -> None:
    """Over all fixture boards: impedances within their tolerance, losses within their share."""
    seen = dict.fromkeys(("IMP002", "IMP003", "LOS001"), 0)
    for board in sorted(BOARDS.glob("*/*.kicad_pcb")):
        for code, what, numbers in passed_numbers(board):
            seen[code] += 1
            if code == "LOS001":
                loss, share = numbers["A"], numbers["A_max"]
                assert isinstance(loss, Interval) and isinstance(share, float)
                assert loss.nominal <= share, f"{board.stem}: {what}"
            else:
                ohm, target, tolerance = (nominal(numbers[key]) for key in ("Z", "Z_0", "p_tol"))
                assert abs(ohm / target - 1) <= tolerance / 100 + 1e-9, f"{board.stem}: {what}"
    assert all(seen.values()), seen


@pytest.mark.parametrize("board", ["inference_pcie_gen5_fit", "edge_jetson_carrier_fit", "training_b200_fit"])
def test_boards_within_tolerance_stay_fit(board: str) -> None:
    """Nothing is reported for a board whose lines nominally meet their targets."""
    report = check_board(board_file(board))

    assert report.headline is Headline.FIT
    assert verdict(report, ROUTED).verdict is Verdict.PASSED


@pytest.mark.parametrize(("length_mm", "has_gap"), [(1.0, False), (40.0, True)])
def test_a_gap_that_nobody_looks_at_is_not_shown_as_one_that_holds(
    tmp_path: Path, length_mm: float, has_gap: bool
) -> None:
    """PCIe Gen5 forgives 1 mm at each end of a net: of a pair that short no gap is judged."""
    nets = ["/PCIE_TX0_P", "/PCIE_TX0_N"]
    row = {"nets": nets, "layer": "F.Cu", "path_mm": [[5, 10], [5 + length_mm, 10]], "width_mm": 0.174, "gap_mm": 0.15}
    config = '[[interface]]\nis = "pcie5"\nnets = ["/PCIE_*"]\n'
    keys = {"size_mm": (80, 40), "planes": {"In1.Cu": "GND"}, "stackup": SIX_LAYERS, "pairs": [row], "config": config}
    board = mini_file(tmp_path, keys)
    told = trace_clauses(read_board(board), find_config(board, None), Overrides(), lambda c: c.kind == "pair_coupling")
    shown = [working for a in told.answers for one in a.objects for working in one.steps]

    assert shown
    assert all(("s_min" in working.numbers) == has_gap for working in shown)
    assert has_gap or all("no gap is judged" in working.what for working in shown)
