"""Drawn copper is where KiCad has it, whatever it belongs to; everything that is no copper is left out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import shapely

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
    """A pad's own turn counts from the board's axes; its shape has the pad's net; a square anchor is one, too."""
    pad = (
        f'(pad "1" smd custom (at 2 0 {turn}) (size 0.2 0.2) (layers "F.Cu" "F.Mask") (net "A") '
        "(options (clearance outline) (anchor rect)) "
        "(primitives (gr_poly (pts (xy 0 0) (xy 1 0) (xy 0 0.1)) (width 0) (fill yes)) "
        "(gr_bbox (start 0 0) (end 9 9))))"
    )

    found = drawings(tmp_path, PART.format(turn=0, inside=pad))

    assert corners(found)[:2] == [(102, 50), tip]
    assert set(corners(found, 1)) == {(101.9, 49.9), (102.1, 49.9), (102.1, 50.1), (101.9, 50.1)}
    assert found.is_filled.tolist() == [1, 1]
    assert found.pad.tolist() == [0, 0]
    assert found.net.tolist() == [1, 1]


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


PAD = '(pad "1" {kind} {shape} (at 0 0 {turn}) (size 2 1) {hole} (layers {layers}) (net "A") {more})'


def of_pad(tmp_path: Path, shape: str, more: str, turn: int = 0, hole: str = "") -> Drawings:
    """The drawn shapes of one pad at (100, 50)."""
    kind, layers = ("thru_hole", '"*.Cu"') if "drill 0" in hole else ("smd", '"F.Cu"')
    pad = PAD.format(kind=kind, shape=shape, turn=turn, hole=hole, layers=layers, more=more)
    return drawings(tmp_path, PART.format(turn=0, inside=pad))


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ("0.4 0", {(99, 50.7), (101, 50.3), (101, 49.7), (99, 49.3)}),
        ("0 0.4", {(98.8, 50.5), (101.2, 50.5), (100.8, 49.5), (99.2, 49.5)}),
    ],
)
def test_a_slanted_pad_has_the_corners_that_kicad_gives_it(
    tmp_path: Path, delta: str, expected: set[tuple[float, float]]
) -> None:
    """Expected are the polygons of KiCad 10.0.6 (`PAD.TransformShapeToPolygon`)."""
    assert set(corners(of_pad(tmp_path, "trapezoid", f"(rect_delta {delta})"))) == expected


def test_a_chamfered_pad_lacks_its_corners_and_moves_with_its_offset(tmp_path: Path) -> None:
    """0.2 of its narrow side, 1 mm; the other corners are square where the ratio of the radius is 0."""
    cut = "(roundrect_rratio 0) (chamfer_ratio 0.2) (chamfer top_left bottom_right)"

    found = of_pad(tmp_path, "roundrect", cut, hole="(drill (offset 0.5 0))")

    assert set(corners(found)) == {
        (99.5, 49.7),
        (99.7, 49.5),
        (101.5, 49.5),
        (101.5, 50.3),
        (101.3, 50.5),
        (99.5, 50.5),
    }


def test_the_other_corners_of_a_chamfered_pad_are_round(tmp_path: Path) -> None:
    """Radius 0.25 mm: its middle is 0.25 mm from both sides."""
    found = of_pad(tmp_path, "roundrect", "(roundrect_rratio 0.25) (chamfer_ratio 0.2) (chamfer top_left)", turn=90)

    x, y = (column[found.start[0] : found.start[1]] for column in (found.x_mm, found.y_mm))
    in_corner = [(a, b) for a, b in zip(x, y, strict=True) if a > 100.25 and b > 50.75]
    assert len(in_corner) > 6
    assert [((a - 100.25) ** 2 + (b - 50.75) ** 2) ** 0.5 for a, b in in_corner] == pytest.approx(
        [0.25] * len(in_corner)
    )


@pytest.mark.parametrize(
    ("stated", "corner_mm"), [("", 0.25), ("(roundrect_rratio 0)", 0.0), ("(roundrect_rratio 0.1)", 0.1)]
)
def test_a_round_corner_without_a_ratio_has_kicads_own(tmp_path: Path, stated: str, corner_mm: float) -> None:
    """KiCad takes a quarter of the narrow side, 1 mm, where another program wrote no ratio."""
    pad = PAD.format(kind="smd", shape="roundrect", turn=0, hole="", layers='"F.Cu"', more=stated)
    path = tmp_path / "ratio.kicad_pcb"
    path.write_text(BOARD.format(items=PART.format(turn=0, inside=pad), version=20260206), encoding="utf-8")

    assert read_board(path).pads.corner_mm.tolist() == [corner_mm]


def test_a_pad_with_other_shapes_on_other_layers_has_each_on_its_own(tmp_path: Path) -> None:
    """The pad's own shape is that of the layers which the padstack does not name."""
    stack = (
        "(padstack (mode front_inner_back) "
        '(layer "Inner" (shape circle) (size 0.8 0.8)) (layer "B.Cu" (shape rect) (size 3 1) (offset 0.5 0)))'
    )

    found = of_pad(tmp_path, "rect", stack, hole="(drill 0.4)")

    assert found.layers.tolist() == [1, 2, 4]
    assert found.width_mm.tolist() == [0.0, 0.8, 0.0]
    assert set(corners(found, 2)) == {(99, 49.5), (102, 49.5), (102, 50.5), (99, 50.5)}


def test_a_pad_that_is_taken_away_where_it_joins_nothing_is_drawn_outside_alone(tmp_path: Path) -> None:
    """Whether KiCad keeps it inside hangs on what is routed to it."""
    found = of_pad(tmp_path, "trapezoid", "(rect_delta 0 0.4) (remove_unused_layers yes)", hole="(drill 0.4)")

    assert found.layers.tolist() == [0b101]


@pytest.mark.parametrize(("radius", "to_corner"), [(2, 2 * (math.sqrt(2) - 1)), (9, 3 * (math.sqrt(2) - 1)), (0, 0)])
def test_corners_of_a_rectangle_may_be_round(tmp_path: Path, radius: float, to_corner: float) -> None:
    """A radius takes r (sqrt 2 - 1) off each corner; it is no more than half of the shorter side, as in KiCad 10."""
    rect = f"(gr_rect (start 20 16) (end 10 10) (radius {radius}) (stroke (width 0) (type solid)) (fill yes) {{}})"
    part = PART.format(turn=0, inside=rect.format('(layer "F.Cu")').replace("gr_rect", "fp_rect"))

    found = drawings(tmp_path, rect.format('(layer "F.Cu") (net "GND")') + part)

    for row, (x0, y0) in enumerate([(0, 0), (100, 50)]):
        shape = shapely.Polygon(corners(found, row))
        assert shape.is_valid
        assert shape.bounds == (x0 + 10, y0 + 10, x0 + 20, y0 + 16)
        away = [shape.distance(shapely.Point(x0 + x, y0 + y)) for x in (10, 20) for y in (10, 16)]
        assert away == pytest.approx([to_corner] * 4, abs=2e-3)


def test_the_round_corner_of_a_board_is_its_edge(tmp_path: Path) -> None:
    """The way from one straight side to the next is along the arc."""
    edge = (
        '(gr_rect (start 0 0) (end 40 30) (radius 6) (stroke (width 0.05) (type solid)) (fill no) (layer "Edge.Cuts"))'
    )
    path = tmp_path / "round.kicad_pcb"
    path.write_text(BOARD.format(items=edge, version=20260206), encoding="utf-8")

    outline = read_board(path).outline

    assert outline.size_mm == (40, 30)
    assert np.hypot(outline.x_mm, outline.y_mm).min() == pytest.approx(6 * (math.sqrt(2) - 1), abs=2e-3)
