"""What the user excluded from KiCad's own check of the edge is no finding of FAB018; the rest is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.report.findings import Finding
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file

NONE = "00000000-0000-0000-0000-000000000000"
BOARD: dict[str, object] = {
    "size_mm": [60, 40],
    "parts": [
        {
            "reference": "J1",
            "at_mm": [0.4, 20],
            "pads": [
                {"number": "1", "net": "/A", "size_mm": [1, 1]},
                {"number": "2", "net": "/B", "at_mm": [2, 0], "size_mm": [1, 1]},
            ],
        }
    ],
}
TRACK = {"tracks": [{"net": "/C", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 0.2], [50, 0.2]]}]}
ZONE: dict[str, object] = {
    "size_mm": [60, 40],
    "zones": [{"net": "GND", "layer": "B.Cu", "rect_mm": [30, 0.1, 50, 20]}],
}


def exclude(path: Path, check: str, *uuids: str) -> None:
    """Write an exclusion into the project as KiCad does: the line on Edge.Cuts, and the copper."""
    rows = ["|".join([check, "50000000", "70000000", NONE[:-1] + "7", uuid]) for uuid in uuids]
    project = json.loads(path.with_suffix(".kicad_pro").read_text(encoding="utf-8"))
    project["board"]["design_settings"]["drc_exclusions"] = [[row, "agreed with the fab"] for row in rows]
    path.with_suffix(".kicad_pro").write_text(json.dumps(project), encoding="utf-8")


def findings(path: Path) -> list[Finding]:
    return [one for one in check_board(path).findings if one.code == "FAB018"]


def test_an_excluded_pad_over_the_edge_is_quiet_and_a_track_there_is_not(tmp_path: Path) -> None:
    path = mini_file(tmp_path, BOARD | TRACK)
    (before,) = [one for one in findings(path) if one.severity.value == "warning" and "reaches" in one.title]
    assert "/A on F.Cu" in before.title

    exclude(path, "copper_edge_clearance", str(read_board(path).pads.uuid[0]))

    assert [one.title.split(":")[1] for one in findings(path)] == [
        " /C on F.Cu (also for standard fabs)",
    ]


@pytest.mark.parametrize("check", ["clearance", "copper_edge_clearance"])
def test_an_exclusion_of_another_check_or_item_changes_nothing(tmp_path: Path, check: str) -> None:
    path = mini_file(tmp_path, BOARD)
    before = findings(path)

    exclude(path, check, str(read_board(path).pads.uuid[0 if check == "clearance" else 1]))

    assert before
    assert findings(path) == before


def test_a_zone_that_is_excluded_at_one_place_is_reported_elsewhere(tmp_path: Path) -> None:
    """A fill has no id, and one place of a plane says nothing about the others."""
    path = mini_file(tmp_path, ZONE)

    exclude(path, "copper_edge_clearance", str(read_board(path).zones.uuid[0]))

    assert ["GND on B.Cu" in one.title for one in findings(path)] == [True]
