"""Drawn copper is where KiCad has it, whatever it belongs to; everything that is no copper is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackup_lib.board.board import Drawings
from stackup_lib.kicad import read_board

BOARD = """(kicad_pcb (version {version}) (generator "pcbnew") (general (thickness 1.6))
(layers (0 "F.Cu" signal) (4 "In1.Cu" signal) (2 "B.Cu" signal) (25 "Edge.Cuts" user) (5 "F.SilkS" user))
{items})"""

PART = '(footprint "F" (layer "F.Cu") (at 100 50 {turn}) {inside})'


def drawings(tmp_path: Path, items: str, version: int = 20260206) -> Drawings:
    """Read the drawings of a board with these items."""
    path = tmp_path / "drawn.kicad_pcb"
    path.write_text(BOARD.format(items=items, version=version), encoding="utf-8")
    return read_board(path).drawings


def corners(found: Drawings, row: int = 0) -> list[tuple[float, float]]:
    """Corners of one shape, to a micrometre."""
    part = slice(found.start[row], found.start[row + 1])
    return [(round(x, 3) + 0.0, round(y, 3) + 0.0) for x, y in zip(found.x_mm[part], found.y_mm[part], strict=True)]


def test_a_line_of_the_board_has_its_layer_net_and_pen(tmp_path: Path) -> None:
    """The net may have no other copper."""
    line = '(gr_line (start 1 2) (end 3 4) (stroke (width 0.2) (type solid)) (layer "In1.Cu") (net "GND"))'
    silk = '(gr_line (start 1 2) (end 3 4) (stroke (width 0.2) (type solid)) (layer "F.SilkS"))'

    found = drawings(tmp_path, silk + line)

    assert len(found) == 1
    assert corners(found) == [(1, 2), (3, 4)]
    assert found.layers.tolist() == [2]
    assert found.width_mm.tolist() == [0.2]
    assert found.net.tolist() == [1]
    assert found.footprint.tolist() == [-1]


@pytest.mark.parametrize(("turn", "end"), [(0, (101, 50)), (90, (100, 49)), (180, (99, 50)), (-90, (100, 51))])
def test_what_a_footprint_draws_turns_with_it(tmp_path: Path, turn: int, end: tuple[float, float]) -> None:
    """KiCad turns against the clock; y points down."""
    line = '(fp_line (start 0 0) (end 1 0) (stroke (width 0.2) (type solid)) (layer "F.Cu"))'

    found = drawings(tmp_path, PART.format(turn=turn, inside=line))

    assert corners(found) == [(100, 50), end]
    assert found.footprint.tolist() == [0]
    assert found.pad.tolist() == [-1]


@pytest.mark.parametrize(("turn", "tip"), [(0, (103, 50)), (90, (102, 49))])
def test_the_shape_of_a_custom_pad_turns_with_the_pad(tmp_path: Path, turn: int, tip: tuple[float, float]) -> None:
    """A pad's own turn counts from the board's axes; its shape has the pad's net."""
    pad = (
        f'(pad "1" smd custom (at 2 0 {turn}) (size 0.2 0.2) (layers "F.Cu" "F.Mask") (net "A") '
        "(options (clearance outline) (anchor rect)) "
        "(primitives (gr_poly (pts (xy 0 0) (xy 1 0) (xy 0 0.1)) (width 0) (fill yes)) "
        "(gr_bbox (start 0 0) (end 9 9))))"
    )

    found = drawings(tmp_path, PART.format(turn=0, inside=pad))

    assert len(found) == 1
    assert corners(found)[:2] == [(102, 50), tip]
    assert found.is_filled.tolist() == [1]
    assert found.pad.tolist() == [0]
    assert found.net.tolist() == [1]


@pytest.mark.parametrize(
    ("shape", "filled"),
    [
        ("(gr_poly (pts (xy 0 0) (xy 1 0) (xy 0 1)) (width 0.1) (layer F.Cu))", 1),
        ("(gr_poly (pts (xy 0 0) (xy 1 0) (xy 0 1)) (stroke (width 0.1)) (fill none) (layer F.Cu))", 0),
        ("(gr_poly (pts (xy 0 0) (xy 1 0) (xy 0 1)) (stroke (width 0.1)) (fill solid) (layer F.Cu))", 1),
        ("(gr_circle (center 0 0) (end 1 0) (stroke (width 0.1)) (fill no) (layer F.Cu))", 0),
        ("(gr_circle (center 0 0) (end 1 0) (width 0) (layer F.Cu))", 1),
        ("(gr_rect (start 0 0) (end 1 1) (stroke (width 0.1)) (fill yes) (layer F.Cu))", 1),
        ("(gr_arc (start 0 0) (mid 1 1) (end 2 0) (stroke (width 0.1)) (layer F.Cu))", 0),
    ],
)
def test_what_is_an_area(tmp_path: Path, shape: str, filled: int) -> None:
    """KiCad 5 wrote no fill: its polygons are areas, and its circles without a line."""
    assert drawings(tmp_path, shape).is_filled.tolist() == [filled]
