"""A board without parts or copper is fit for nothing, however good its stackup is."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, find_config
from drc_rules.facts.declared import Overrides
from drc_rules.report.model import Headline, Report
from drc_rules.stackup_design.fitness import fitness_of
from stackup_lib.kicad import read_board
from stackwright.cli.app import run
from stackwright.commands.fit.page import page_of
from stackwright.commands.fit.scorecard import scorecard
from stackwright.reporters.next_step import next_step
from stackwright.reporters.text import summary

RESISTOR = """  (footprint "R" (layer "F.Cu") (uuid "{k}0000000-0000-4000-8000-000000000000") (at {x} 50)
    (pad "1" smd rect (at 0 0) (size 1 1) (layers "F.Cu" "F.Mask") (net {net} "{name}")
      (uuid "{k}0000000-0000-4000-8000-000000000001")))
"""
TRACK = """  (segment (start 40 50) (end 60 50) (width 0.25) (layer "F.Cu") (net 1)
    (uuid "90000000-0000-4000-8000-000000000000"))
"""
PLANE = """  (zone (net 1) (net_name "A") (layer "{layer}") (uuid "{k}0000000-0000-4000-8000-000000000002")
    (hatch edge 0.5) (connect_pads (clearance 0.2)) (min_thickness 0.2)
    (fill yes (thermal_gap 0.5) (thermal_bridge_width 0.5))
    (polygon (pts (xy 30 40) (xy 70 40) (xy 70 60) (xy 30 60)))
    (filled_polygon (layer "{layer}") (pts (xy 30 40) (xy 70 40) (xy 70 60) (xy 30 60))))
"""
PLANES = PLANE.format(layer="In1.Cu", k=7) + PLANE.format(layer="In2.Cu", k=8)


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `new` writes for a workload that asks nothing of any net."""
    target = tmp_path_factory.mktemp("new") / "card.kicad_pcb"
    assert run(["new", "--profile", "edge", "--form", "jetson-carrier", str(target)]) == 0
    return target


def with_items(new: Path, tmp_path: Path, *, joined: bool, track: str = "") -> Path:
    """The same with two resistors whose pads are of one net, or of two."""
    nets = '  (net 0 "")\n  (net 1 "A")\n  (net 2 "B")\n'
    second = (1, "A") if joined else (2, "B")
    parts = [RESISTOR.format(k=k, x=x, net=n, name=a) for k, x, (n, a) in ((1, 40, (1, "A")), (2, 60, second))]
    text = new.read_text(encoding="utf-8").rstrip().removesuffix(")")
    path = tmp_path / new.name
    path.write_text(text + nets + "".join(parts) + track + ")\n", encoding="utf-8")
    for name in ("card.kicad_pro", "stackwright.toml"):
        (tmp_path / name).write_bytes((new.parent / name).read_bytes())
    return path


def said(report: Report) -> tuple[Headline, str]:
    return report.headline, report.headline_why


def test_a_new_board_is_not_proven_and_is_not_sent_to_the_fab(new: Path) -> None:
    report = check_board(new)
    assert said(report) == (Headline.NOT_PROVEN, "nothing is placed or routed")
    assert next_step(report) == "in KiCad, place the parts and route the board, then check it again"
    assert "nothing is placed or routed" in summary(report).plain


def test_new_says_what_check_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "card.kicad_pcb"
    assert run(["new", "--profile", "edge", "--form", "jetson-carrier", str(target)]) == 0
    assert "\ncheck  not proven: nothing is placed or routed\n" in capsys.readouterr().out


def test_fit_says_the_same_in_every_row(new: Path) -> None:
    found = fitness_of(read_board(new), find_config(new), profiles=("edge", "inference-pcie"))
    assert all(row.headline is not Headline.FIT for row in found.rows)
    edge = next(row for row in found.rows if row.profile == "edge")
    assert (edge.headline, edge.why) == (Headline.NOT_PROVEN, "nothing is placed or routed")
    text = page_of(found, found.rows, {}, board=new, asked=False).text()
    assert text.startswith("FIT FOR NONE")
    assert "only guessed" not in text
    assert next(one for one in scorecard(found, {}) if one.profile == "edge").next_step == "finish the layout"


def test_parts_that_nothing_joins_are_not_proven(new: Path, tmp_path: Path) -> None:
    report = check_board(with_items(new, tmp_path, joined=True))
    assert said(report) == (Headline.NOT_PROVEN, "nothing is routed")
    assert next_step(report) == "in KiCad, route the board, then check it again"


def test_a_routed_board_is_fit(new: Path, tmp_path: Path) -> None:
    assert check_board(with_items(new, tmp_path, joined=True, track=TRACK + PLANES)).headline is Headline.FIT


def test_parts_without_anything_to_join_need_no_track(new: Path, tmp_path: Path) -> None:
    assert check_board(with_items(new, tmp_path, joined=False)).headline is Headline.FIT


def test_a_routed_board_without_its_planes_is_not_proven_to_have_enough_layers(new: Path, tmp_path: Path) -> None:
    report = check_board(with_items(new, tmp_path, joined=True, track=TRACK))
    assert (report.headline, report.headline_why) == (
        Headline.NOT_PROVEN,
        "1 mandatory requirement not proven: copper layers >= 4 (edge)",
    )
    assert any("draw the planes of the empty layers" in line for line in report.proofs)


def test_a_board_with_nets_that_are_not_routed_is_not_fit(new: Path, tmp_path: Path) -> None:
    """One track of another net makes no finished board of it."""
    other = TRACK.replace("(net 1)", "(net 2)").replace("(start 40 50) (end 60 50)", "(start 40 55) (end 60 55)")
    planes = PLANES.replace('(net 1) (net_name "A")', '(net 2) (net_name "B")')
    report = check_board(with_items(new, tmp_path, joined=True, track=other + planes))
    assert report.headline is Headline.NOT_PROVEN
    assert report.headline_why.startswith("1 of 1 net not routed")
    assert report.proofs[0] == "# in KiCad, route the board, then check it again"


def test_an_error_counts_more_than_a_missing_layout(new: Path) -> None:
    assert check_board(new, overrides=Overrides(profile="training")).headline is Headline.NOT_FIT
