"""One finding per defect: clauses of several tiers fail, one finding says so, and every report leads there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.engine.one_finding import of_clause
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Report
from drc_rules.report.verdicts import Verdict
from drc_rules.requirements.clauses import Severity
from stackwright.reporters import html, junit
from stackwright.results.checked import Checked
from tests.support.mini import mini_file

STACKUP = 'F.Cu 0.035\ncore 1.53 "370HR"\nB.Cu 0.035\n'
TIERS = "board.fab.hole", "board.fab.hole_advanced", "board.fab.hole_standard"


def checked(folder: Path, pads_mm: list[float], config: str = "") -> Report:
    """Holes of 0.05 mm in pads that leave room for a drill of 0.1 mm less."""
    vias = [
        {"net": "GND", "at_mm": [10 + 5 * k, 10], "drill_mm": 0.05, "size_mm": size} for k, size in enumerate(pads_mm)
    ]
    board = {"size_mm": (60, 40), "stackup": STACKUP, "vias": vias, "config": config}
    return check_board(mini_file(folder, board))


def test_a_hole_that_misses_three_tiers_is_one_finding_of_three_failed_clauses(tmp_path: Path) -> None:
    """0.09 mm drilled: at the best fabs' severity, with the other two named; the verdicts stay as they are."""
    report = checked(tmp_path, [0.19])

    (found,) = (f for f in report.findings if f.code == "FAB001")
    assert (found.clause, found.also, found.severity) == (TIERS[0], TIERS[1:], Severity.ERROR)
    assert found.title.endswith("(also for advanced and standard fabs)")
    verdicts = {v.clause.id: v for v in report.verdicts}
    assert [verdicts[clause].verdict for clause in TIERS] == [Verdict.FAILED] * 3
    assert [of_clause(verdicts[clause], report.findings) for clause in TIERS] == [[found]] * 3


def test_holes_that_miss_different_tiers_are_each_told_once(tmp_path: Path) -> None:
    """0.09, 0.12 and 0.15 mm drilled: three findings of one hole each."""
    report = checked(tmp_path, [0.19, 0.22, 0.45])

    found = [f for f in report.findings if f.code == "FAB001"]
    assert [(f.clause, len(f.places)) for f in found] == [(clause, 1) for clause in TIERS]
    assert len({place.uuid for f in found for place in f.places}) == 3


def test_every_failed_clause_has_a_finding_that_speaks_for_it(tmp_path: Path) -> None:
    """Its own, or that of a stricter tier; whatever rule decides it."""
    report = checked(tmp_path, [0.19])

    failed = [v for v in report.verdicts if v.verdict is Verdict.FAILED]
    assert len(failed) > len({f.clause for f in report.findings})
    assert all(of_clause(verdict, report.findings) for verdict in failed)


def test_an_accepted_finding_leaves_none_of_its_milder_twins(tmp_path: Path) -> None:
    """One key takes the whole defect out of the count."""
    key = next(f.key for f in checked(tmp_path / "a", [0.19]).findings if f.code == "FAB001")
    config = f'[[suppress]]\nkey = "{key}"\nreason = "the fab drills it"\nowner = "me"\n'

    report = checked(tmp_path / "b", [0.19], config)

    assert [one.finding.key for one in report.accepted] == [key]
    assert not [f for f in report.findings if f.code == "FAB001"]


@pytest.mark.parametrize("clause", TIERS)
def test_reports_lead_from_each_failed_clause_to_the_finding(tmp_path: Path, clause: str) -> None:
    """JUnit names it in the clause's test case, the web page links to it."""
    report = checked(tmp_path, [0.19])
    outcome = [Checked(report, None, "")]

    cases = junit.render(outcome).split("<testcase ")
    case = next(one for one in cases if f"{clause}: " in one)
    assert "drill 0.09 mm" in case
    # only the clause of the best fabs is of severity error, and only it counts as failed in the headline
    told = '<skipped message="{}, below what fails the check: told by FAB001, board.fab.hole: drill 0.09 mm'
    severity = next(v.clause.severity for v in report.verdicts if v.clause.id == clause)
    assert ("<failure " if severity is Severity.ERROR else told.format(severity.value)) in case
    assert (severity is Severity.ERROR) == (clause == TIERS[0])
    page = re.sub(r"</?bdi[^>]*>", "", html.render(outcome))
    row = next(one for one in page.split("</tr>") if f">{clause}, " in one)
    assert re.search(r'<a href="#f-[^"]*">0\.09 mm</a>', row), row[-1500:]


def test_drills_that_cannot_be_are_not_told_again_by_the_minimum_of_board_setup(tmp_path: Path) -> None:
    """Two clauses fail, and the finding that explains the numbers speaks for both."""
    vias = [{"net": "GND", "at_mm": [5 + 5 * k, 10 - k], "drill_mm": 0.00001, "size_mm": 0.4} for k in range(3)]
    board = {
        "size_mm": (60, 40),
        "stackup": STACKUP,
        "vias": vias,
        "constraints_mm": {"min_through_hole_diameter": 0.2},
    }
    report = check_board(mini_file(tmp_path, board))

    failed = {v.clause.id for v in report.verdicts if v.verdict is Verdict.FAILED}
    assert {"board.fab.drill_possible", "board.setup.minimums"} <= failed
    assert [f.also for f in report.findings if f.code == "FAB019"] == [("board.setup.minimums",)]
    assert not [f for f in report.findings if f.code == "FAB020"]


def cut(folder: Path, *, ignore: tuple[str, ...] = (), **more: object) -> Report:
    """A via of /A whose hole cuts 0.05 mm into a track of /B on In2, 4 mm from its end."""
    tracks = [{"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[10, 10.15], [24, 10.15], [24, 20]]}]
    board = {
        "size_mm": (60, 40),
        "copper_layers": 4,
        "vias": [{"net": "/A", "at_mm": [20, 10], "drill_mm": 0.2, "size_mm": 0.4}],
        "tracks": tracks,
        **more,
    }
    return check_board(mini_file(folder, board), overrides=Overrides(ignore=ignore))


CUT_TIERS = ("board.fab.hole_to_copper", "board.fab.hole_to_copper_advanced", "board.fab.hole_to_copper_standard")


def test_a_hole_that_cuts_a_track_of_another_net_is_told_once_as_a_short(tmp_path: Path) -> None:
    """FAB015 speaks for all clauses on holes and copper, which fail; each report leads there."""
    report = cut(tmp_path)

    (found,) = (f for f in report.findings if f.code in ("FAB012", "FAB013", "FAB015"))
    assert (found.code, found.objects) == ("FAB015", ("/A", "/B"))
    assert set(CUT_TIERS) <= set(found.also)
    verdicts = {v.clause.id: v for v in report.verdicts}
    assert [verdicts[clause].verdict for clause in CUT_TIERS] == [Verdict.FAILED] * 3
    assert [of_clause(verdicts[clause], report.findings) for clause in CUT_TIERS] == [[found]] * 3


def test_what_else_comes_near_the_hole_that_cuts_is_still_told(tmp_path: Path) -> None:
    """A track of /C 0.06 mm from the same hole is another pair, and so is another hole near /B."""
    near = {"net": "/C", "layer": "In1.Cu", "width_mm": 0.2, "path_mm": [[10, 9.74], [30, 9.74]]}
    tracks = [{"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[10, 10.15], [30, 10.15]]}, near]
    report = cut(tmp_path / "a", tracks=tracks)
    two = [{"net": net, "at_mm": [x, 10], "drill_mm": 0.2, "size_mm": 0.4} for net, x in (("/A", 20), ("/D", 21))]
    adjacent = [{"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[10, 10.15], [20.4, 10.15], [20.4, 12]]}]
    adjacent.append({"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": [[21, 10.27], [21, 12]]})
    other = cut(tmp_path / "b", vias=two, tracks=adjacent)

    (found,) = (f for f in report.findings if f.code == "FAB012")
    assert "0.060 mm, minimum 0.076 mm (best fabs): 1 via, closest to /C on In1.Cu" in found.title
    assert [f.objects for f in report.findings if f.code == "FAB015"] == [("/A", "/B"), ("/A", "/C")]
    assert any(
        "0.070 mm, minimum 0.076 mm (best fabs): 1 of 2 vias" in f.title for f in other.findings if f.code == "FAB012"
    )


def test_a_short_that_is_accepted_takes_its_hole_along(tmp_path: Path) -> None:
    """One key takes the whole defect out of the count."""
    key = next(f.key for f in cut(tmp_path / "a").findings if f.code == "FAB015")
    config = f'[[suppress]]\nkey = "{key}"\nreason = "meant"\nowner = "me"\n'

    report = cut(tmp_path / "b", config=config)

    assert not [f for f in report.findings if f.code in ("FAB012", "FAB015")]


def test_where_shorts_are_not_looked_for_the_hole_is_told_itself(tmp_path: Path) -> None:
    """Once, with the tiers that it misses."""
    report = cut(tmp_path, ignore=("FAB015",))

    (found,) = (f for f in report.findings if f.code == "FAB012")
    assert found.title == (
        "short: a finished hole cuts 0.050 mm into copper, minimum distance 0.076 mm (best fabs): 1 via, /A into /B on "
        "In2.Cu (also for advanced and standard fabs)"
    )
