"""Where a rail's copper faces ground, on boards whose areas are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.kicad import read_board
from stackup_lib.power.over_frequency.fill_pieces import FillPieces
from stackup_lib.power.over_frequency.rail_planes import RailPlanes, rail_planes

STACKUP = """
F.Cu 0.035
core 0.2 "370HR"
In1.Cu 0.035
prepreg 0.1 "370HR"
In2.Cu 0.035
core 0.2 "370HR"
B.Cu 0.035
"""


def planes(folder: Path, zones: list[dict[str, Any]]) -> RailPlanes | None:
    mini = {"size_mm": [50, 40], "stackup": STACKUP, "zones": zones}
    board = read_board(write(MiniBoard.model_validate(mini), folder, "board"))
    return rail_planes(FillPieces(CopperMap(board)), board.net_index["VDD"], board.net_index["GND"])


def zone(net: str, layer: str, rect: list[float]) -> dict[str, Any]:
    return {"net": net, "layer": layer, "rect_mm": rect}


def test_the_overlap_counts_and_its_box(tmp_path: Path) -> None:
    """30 by 20 mm of the rail, of which ground covers the left 20 by 20."""
    found = planes(tmp_path, [zone("VDD", "In2.Cu", [10, 10, 40, 30]), zone("GND", "In1.Cu", [5, 5, 30, 35])])
    assert found is not None
    (pair,) = found.facing
    assert pair.layers == (1, 2)
    assert pair.area_mm2 == pytest.approx(400, rel=0.02)
    left, top, right, bottom = found.box_mm
    assert (right - left, bottom - top) == pytest.approx((20, 20), abs=0.5)


def test_ground_on_both_sides_counts_twice_but_its_area_once(tmp_path: Path) -> None:
    """In1 between F.Cu and In2."""
    both = [zone("GND", layer, [5, 5, 45, 35]) for layer in ("F.Cu", "In2.Cu")]
    found = planes(tmp_path, [zone("VDD", "In1.Cu", [10, 10, 30, 30]), *both])
    assert found is not None
    assert [pair.ground_layer for pair in found.facing] == [0, 2]
    assert found.area_mm2 == pytest.approx(found.facing[0].area_mm2)


def test_copper_of_a_third_net_shields(tmp_path: Path) -> None:
    """Between the rail on F.Cu and ground on In2 half is covered by VCC on In1."""
    zones = [
        zone("VDD", "F.Cu", [10, 10, 30, 30]),
        zone("VCC", "In1.Cu", [5, 5, 20, 35]),
        zone("GND", "In2.Cu", [5, 5, 45, 35]),
    ]
    found = planes(tmp_path, zones)
    assert found is not None
    assert found.area_mm2 == pytest.approx(200, rel=0.04)


def test_pours_of_some_square_millimetres_are_no_planes(tmp_path: Path) -> None:
    """4 by 4 mm, and a rail far from any ground."""
    ground = zone("GND", "In1.Cu", [5, 5, 20, 35])
    assert planes(tmp_path / "a", [zone("VDD", "In2.Cu", [10, 10, 14, 14]), ground]) is None
    assert planes(tmp_path / "b", [zone("VDD", "In2.Cu", [25, 10, 45, 30]), ground]) is None
