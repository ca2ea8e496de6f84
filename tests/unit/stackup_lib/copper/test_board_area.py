"""What a board's outline encloses: chains of lines, cut-outs, several boards, and outlines that leave it open."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.board import Outline
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.cuts.board_area import SLIT_MM, are_outside, board_area, slits
from stackup_lib.copper.cuts.cut_gaps import cut_gaps
from stackup_lib.copper.cuts.gap_rows import OUTSIDE
from stackup_lib.kicad import read_board

Line = list[tuple[float, float]]


def box(x: float, y: float, width: float, height: float) -> Line:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]


def outline(*lines: Line) -> Outline:
    points = np.array([point for line in lines for point in line], dtype=np.float64).reshape(-1, 2)
    start = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    return Outline(start=start, x_mm=points[:, 0], y_mm=points[:, 1], footprint=np.full(len(lines), -1))


BOARD = box(0, 0, 60, 40)
SIDES: list[Line] = [[(0, 0), (60, 0)], [(60, 40), (60, 0)], [(60, 40), (0, 40)], [(0, 40.004), (0, 0)]]


def in_short_lines(x: float, y: float, width: float, height: float, step: float) -> list[Line]:
    """A box with rounded corners as a panel is written: each line by itself, in no order, the curves in short lines."""
    corners = [(x + width - 1, y + 1), (x + 1, y + 1), (x + 1, y + height - 1), (x + width - 1, y + height - 1)]
    steps = int(np.pi / 2 / step)
    angles = [np.linspace(k * np.pi / 2, (k + 1) * np.pi / 2, steps + 1) for k in range(4)]
    points = [
        (round(cx + float(np.cos(a)), 6), round(cy - float(np.sin(a)), 6))
        for (cx, cy), quarter in zip(corners, angles, strict=True)
        for a in quarter
    ]
    lines: list[Line] = [[a, b] for a, b in zip(points, [*points[1:], points[0]], strict=True)]
    return [*lines[1::2], *lines[::2]]


def is_outside(of: Outline, x: float, y: float) -> bool | None:
    area = board_area(of)
    return None if area is None else bool(are_outside(area, np.array([complex(x, y)]))[0])


@pytest.mark.parametrize(
    ("lines", "at", "expected"),
    [
        ([BOARD], (5, 5), False),
        ([BOARD], (5, -0.4), True),
        ([BOARD], (5, 0), False),  # on the edge
        ([BOARD], (5, -0.005), False),  # nearer to it than chords of an arc may be
        (SIDES, (5, 5), False),  # lines in any order and direction, an end 4 um off
        (SIDES, (70, 5), True),
        (in_short_lines(0, 0, 60, 40, 0.006), (5, 5), False),  # as a panel's milled curves, shorter than a gap
        (in_short_lines(0, 0, 60, 40, 0.006), (0.1, 0.1), True),
        (in_short_lines(0, 0, 60, 40, 0.0095), (5, 5), False),  # these were read as a ring of one line, and raised
        ([BOARD, *in_short_lines(10, 10, 5, 5, 0.012)], (12, 12), True),
        ([*SIDES, [(0, 0), (0.003, 0.003)]], (5, 5), False),  # a speck at a corner is no third line
        (in_short_lines(0, 0, 60, 40, 0.006)[1:], (70, 5), True),  # one of them missing is no gap
        ([BOARD, BOARD], (5, 5), False),  # drawn twice
        ([BOARD, box(10, 10, 5, 5)], (12, 12), True),  # in a cut-out
        ([BOARD, box(10, 10, 5, 5)], (20, 12), False),
        ([BOARD, box(5, 5, 20, 20), box(10, 10, 5, 5)], (12, 12), False),  # a board in a cut-out
        ([BOARD, box(70, 0, 20, 20)], (75, 5), False),  # a second board
        ([BOARD, box(70, 0, 20, 20)], (65, 5), True),
        ([BOARD, [(10, 10), (20, 10)]], (70, 5), True),  # a line within is a slot
        ([BOARD, [(58, 20), (62, 20)]], (70, 5), None),  # one that leads out leaves it open what is board
        (SIDES[:3], (70, 5), None),  # a side is missing
        ([*SIDES, [(0, 0), (-5, -5)]], (70, 5), None),  # three lines meet at a corner
        ([], (5, 5), None),
        ([[(5, 5)]], (5, 5), None),
        ([[(5, 5), (9, 5), (5, 5)]], (5, 5), None),  # out and back encloses nothing
    ],
)
def test_a_point_is_outside_only_where_closed_chains_leave_no_doubt(
    lines: list[Line], at: tuple[float, float], expected: bool | None
) -> None:
    """None: the outline is open, so it is not known."""
    assert is_outside(outline(*lines), *at) is expected


def test_a_ring_that_crosses_itself_encloses_both_of_its_parts() -> None:
    """An 8 drawn in one line."""
    eight = outline([(0, 0), (10, 10), (10, 0), (0, 10), (0, 0)])

    assert is_outside(eight, 1, 5) is False
    assert is_outside(eight, 9, 5) is False
    assert is_outside(eight, 5, 1) is True


@pytest.mark.parametrize(
    ("vias", "outside"),
    [
        ([(30, 30), (50, 30)], set()),  # most of the copper is in it: the ring is a frame around the board
        ([(3, 3), (50, 30)], {"N1"}),  # no more than half: it is a cut-out
    ],
)
def test_what_holds_most_of_the_copper_is_no_cut_out(
    vias: list[tuple[float, float]], outside: set[str], tmp_path: Path
) -> None:
    """A panel's frame around the board's own outline, and the same lines around a hole."""
    drawn = [{"net": f"N{k}", "at_mm": list(at), "drill_mm": 0.3, "size_mm": 0.6} for k, at in enumerate(vias)]
    mini = MiniBoard.model_validate({"size_mm": [60, 40], "stackup": "default", "copper_layers": 2, "vias": drawn})
    board = read_board(write(mini, tmp_path, "board"))
    x, y = float(board.outline.x_mm.min()), float(board.outline.y_mm.min())
    rings = outline(box(x, y, 60, 40), box(x + 5, y + 5, 50, 30))

    found = cut_gaps(CopperMap(dataclasses.replace(board, outline=rings)))

    assert {board.nets[net] for net in found.net[found.cut == OUTSIDE].tolist()} == outside


@pytest.mark.parametrize(
    ("lines", "length_mm"),
    [
        ([BOARD], 0),
        ([BOARD, box(10, 10, 5, 5)], 0),
        ([BOARD, [(10, 10), (10, 20)]], 10),
        ([BOARD, [(10, 10), (10, 20)], [(10, 20), (16, 20)], [(30, 5), (33, 9)]], 21),  # an elbow, and another one
        ([BOARD, [(10, 10), (10, 20)], [(10, 20), (10, 10)]], 10),  # drawn twice: a ring around nothing
        ([BOARD, [(10, 10), (10.001, 10)]], 0),  # a speck
    ],
)
def test_slots_drawn_as_one_line_are_what_encloses_nothing(lines: list[Line], length_mm: float) -> None:
    """Each hardly wider than a line, with its ends round."""
    assert slits(outline(*lines)).area == pytest.approx(2 * SLIT_MM * length_mm, abs=1e-4)
