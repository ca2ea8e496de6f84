"""Copper of graphics: areas with half of their pen, lines with all of it, nothing over a fill of the same net."""

from __future__ import annotations

from math import pi
from pathlib import Path

import pytest

from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.pad_copper import graphics_outside_fills_mm2
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file

STROKE = "(stroke (width 0.2) (type solid))"
SQUARE = "(xy 60 60) (xy 70 60) (xy 70 70) (xy 60 70)"


@pytest.mark.parametrize(
    ("graphic", "mm2"),
    [
        (f"(gr_rect (start 60 60) (end 70 70) {STROKE} (fill no)", 8.0),
        (f"(gr_poly (pts {SQUARE}) {STROKE} (fill yes)", 104.0),
        (f"(gr_circle (center 70 70) (end 75 70) {STROKE} (fill no)", 2 * pi),
        (f"(gr_line (start 60 60) (end 70 60) {STROKE}", 2.0),
    ],
)
@pytest.mark.parametrize("place", [("In1.Cu", "", 1), ("In2.Cu", "GND", 0), ("F.Cu", "GND", 1)])
def test_graphics_count_by_their_pen_and_area(
    tmp_path: Path, graphic: str, mm2: float, place: tuple[str, str, int]
) -> None:
    layer, net, share = place
    file = mini_file(tmp_path, {"size_mm": [60, 40], "copper_layers": 4, "planes": {"In2.Cu": "GND"}})
    text = file.read_text(encoding="utf-8").rstrip().removesuffix(")")
    named = f' (net "{net}")' if net else ""
    file.write_text(f'{text}{graphic} (layer "{layer}"){named}))\n', encoding="utf-8")
    board = read_board(file)

    index = board.layer_index[layer]

    assert graphics_outside_fills_mm2(CopperMap(board), index) == pytest.approx(share * mm2, rel=1e-3)
    assert graphics_outside_fills_mm2(CopperMap(board), 3) == 0.0
