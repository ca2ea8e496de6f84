"""Where the layout opens the solder mask over tracks."""

from __future__ import annotations

from pathlib import Path

from stackup_lib.kicad import read_board

BOARD = """(kicad_pcb (version 20260206) (generator "pcbnew")
  (layers (0 "F.Cu" signal) (2 "B.Cu" signal) (1 "F.Mask" user) (3 "B.Mask" user))
  {items}
)
"""


def openings(folder: Path, *items: str) -> list[tuple[int, int, float, bool]]:
    """Layer, points, pen and filled or not of every opening."""
    path = folder / "board.kicad_pcb"
    path.write_text(BOARD.format(items="\n".join(items)))
    return [(o.layer, len(o.x_mm), o.width_mm, o.is_filled) for o in read_board(path).mask_openings]


def test_a_track_with_a_mask_layer_is_one_without_mask(tmp_path: Path) -> None:
    """KiCad lists both layers of a track that is left bare; of a plain one the copper layer alone."""
    plain = '(segment (start 0 0) (end 5 0) (width 0.2) (layer "F.Cu") (net "A"))'
    bare = '(segment (start 0 1) (end 5 1) (width 0.2) (layers "F.Cu" "F.Mask") (solder_mask_margin 0.1) (net "A"))'
    arc = '(arc (start 0 2) (mid 1 3) (end 2 2) (width 0.3) (layers "B.Cu" "B.Mask") (net "A"))'

    assert openings(tmp_path, plain, bare, arc) == [(0, 2, 0.2, False), (1, 3, 0.3, False)]


def test_graphics_in_the_mask_open_it(tmp_path: Path) -> None:
    """Areas and lines of the board; text and other layers do not."""
    area = '(gr_rect (start 0 0) (end 5 2) (stroke (width 0.1) (type solid)) (fill yes) (layer "F.Mask"))'
    line = '(gr_line (start 0 5) (end 5 5) (stroke (width 0.4) (type solid)) (layers "B.Cu" "B.Mask"))'
    silk = '(gr_line (start 0 5) (end 5 5) (stroke (width 0.4) (type solid)) (layer "F.SilkS"))'
    text = '(gr_text "F.Mask" (at 1 1) (layer "F.SilkS"))'

    found = openings(tmp_path, area, line, silk, text)

    assert [(layer, width, filled) for layer, _, width, filled in found] == [(0, 0.1, True), (1, 0.4, False)]


def test_the_fills_of_a_zone_in_the_mask_open_it(tmp_path: Path) -> None:
    """As KiCad stores them; its outline alone, and a zone on copper, do not."""
    edge = "(pts (xy 0 0) (xy 9 0) (xy 9 9) (xy 0 9))"
    head = "(hatch edge 0.5) (connect_pads (clearance 0.5)) (min_thickness 0.25)"
    fill = '(filled_polygon (layer "{}") (pts (xy 1 1) (xy 8 1) (xy 8 8)))'
    zone = '(zone (layer "{}") {} (fill yes (thermal_gap 0.5)) (polygon {}) {})'
    filled = zone.format("F.Mask", head, edge, fill.format("F.Mask"))
    empty = zone.format("B.Mask", head, edge, "")
    copper = zone.format("F.Cu", head, edge, fill.format("F.Cu"))

    assert openings(tmp_path, filled, empty, copper) == [(0, 3, 0.0, True)]
