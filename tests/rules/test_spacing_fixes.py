"""Fixes of FAB013 and FAB018: drawn copper is moved, fills keep a clearance, and no rule of the board is lowered."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from tests.support.mini import mini_file

STACKUP = """
F.Cu 0.035
prepreg 0.1 "370HR"
In1.Cu 0.035
core 0.6 "370HR"
In2.Cu 0.035
prepreg 0.1 "370HR"
B.Cu 0.035
"""
BASE = {"size_mm": [60, 40], "stackup": STACKUP}

TRACK = {"tracks": [{"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": [[5, 0.2], [50, 0.2]]}]}
PLANE = {"zones": [{"net": "GND", "layer": "B.Cu", "rect_mm": [0.1, 5, 20, 20]}]}
PAD = {
    "parts": [{"reference": "R1", "at_mm": [20, 0.4], "pads": [{"number": "1", "net": "/A", "size_mm": [0.7, 0.6]}]}]
}


def edge_rule(value_mm: float | str) -> dict[str, object]:
    return {"constraints_mm": {"min_copper_edge_clearance": value_mm}}


def fix_of(folder: Path, code: str, board: dict[str, object], config: str = "") -> str:
    """Check a board and return the fix of its only finding of a rule."""
    path = mini_file(folder, BASE | board | {"config": config or None})
    (found,) = [one for one in check_board(path).findings if one.code == code]
    return found.fix


@pytest.mark.parametrize(
    ("board", "fix"),
    [
        (TRACK, "Move these tracks to 0.25 mm from the edge"),
        (
            TRACK | edge_rule("none"),
            "Move these tracks to 0.25 mm (at least 0.127 mm, for advanced fabs) from the edge",
        ),
        (TRACK | edge_rule(0.5), "Move these tracks to 0.5 mm from the edge"),
        (PAD, "Move these pads to 0.25 mm from the edge"),
        (
            PLANE | edge_rule(0.0),
            "Set a copper to edge clearance of 0.25 mm (at least 0.127 mm, for advanced fabs) in Board Setup, "
            "then refill the zones",
        ),
        (PLANE, "Set a copper to edge clearance of 0.25 mm in Board Setup, then refill the zones"),
        (
            PLANE | edge_rule(0.5),
            "Refill the zones: Board Setup states 0.5 mm; a custom rule that asks less must ask 0.25 mm",
        ),
        (
            TRACK | PLANE,
            "Move these tracks to 0.25 mm from the edge; "
            "set a copper to edge clearance of 0.25 mm in Board Setup, then refill the zones",
        ),
    ],
)
def test_at_the_edge_drawn_copper_is_moved_and_a_clearance_is_set_for_fills_alone(
    tmp_path: Path, board: dict[str, object], fix: str
) -> None:
    assert fix_of(tmp_path, "FAB018", board) == fix


def test_a_track_behind_a_fill_of_its_net_is_moved_as_well(tmp_path: Path) -> None:
    """Of each net and layer the title tells the nearest piece alone."""
    ground = {
        "tracks": [{"net": "GND", "layer": "B.Cu", "width_mm": 0.2, "path_mm": [[0.2, 6], [0.2, 19]]}],
        "zones": [{"net": "GND", "layer": "B.Cu", "rect_mm": [0.06, 5, 20, 20]}],
    }

    assert fix_of(tmp_path, "FAB018", ground).startswith("Move these tracks to 0.25 mm from the edge; set a copper")


def test_what_the_own_fab_states_is_all_that_is_asked(tmp_path: Path) -> None:
    fix = fix_of(tmp_path, "FAB018", PLANE | edge_rule(0.0), "[fab]\nedge_to_copper_mm = 0.4\n")

    assert fix == "Set a copper to edge clearance of 0.4 mm in Board Setup, then refill the zones"


def tracks(layer: str, apart_mm: float) -> dict[str, object]:
    rows = [("/A", 10.0), ("/B", 10.1 + apart_mm)]
    return {
        "tracks": [{"net": net, "layer": layer, "width_mm": 0.1, "path_mm": [[5, y], [25, y]]} for net, y in rows],
    }


def plane_near_track(layer: str, apart_mm: float) -> dict[str, object]:
    track = {"net": "/A", "layer": layer, "width_mm": 0.1, "path_mm": [[5, 4.95 - apart_mm], [25, 4.95 - apart_mm]]}
    return {
        "tracks": [track],
        "zones": [{"net": "GND", "layer": layer, "rect_mm": [5, 5, 30, 20], "clearance_mm": 0.05}],
    }


def default_class(clearance_mm: float) -> dict[str, object]:
    return {"net_classes": [{"name": "Default", "clearance_mm": clearance_mm}]}


PADS_OF_ONE_PART = {
    "parts": [
        {
            "reference": "U1",
            "at_mm": [20, 10],
            "pads": [
                {"number": "1", "net": "/A", "size_mm": [0.5, 0.5]},
                {"number": "2", "net": "/B", "at_mm": [0.58, 0], "size_mm": [0.5, 0.5]},
            ],
        }
    ]
}


@pytest.mark.parametrize(
    ("board", "fix"),
    [
        (tracks("F.Cu", 0.08) | default_class(0.2), "Move these tracks on F.Cu 0.2 mm apart"),
        (tracks("F.Cu", 0.08) | default_class(0.05), "Move these tracks on F.Cu 0.1 mm apart"),
        (
            tracks("F.Cu", 0.06) | default_class(0.05),
            "Move these tracks on F.Cu 0.1 mm (at least 0.075 mm, for advanced fabs) apart",
        ),
        (tracks("In1.Cu", 0.1), "Move these tracks on In1.Cu 0.127 mm apart; or use lighter copper on In1.Cu"),
        (
            plane_near_track("F.Cu", 0.08) | default_class(0.05),
            "Raise the clearance of these nets to 0.1 mm on F.Cu in KiCad's design rules, then refill the zones",
        ),
        (
            plane_near_track("F.Cu", 0.08) | default_class(0.2),
            "Refill the zones: these nets have 0.2 mm; a custom rule that asks less must ask 0.1 mm",
        ),
        (tracks("F.Cu", 0.08) | {"without_project": True}, "Move these tracks on F.Cu 0.1 mm apart"),
        (PADS_OF_ONE_PART, "Widen the gaps between pads in the footprint of U1"),
    ],
)
def test_between_nets_drawn_copper_is_moved_and_no_class_is_lowered(
    tmp_path: Path, board: dict[str, object], fix: str
) -> None:
    assert fix_of(tmp_path, "FAB013", board) == fix
