"""Copper in cut-outs: how far it is from their edge, and whose footprint draws them."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Outline
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.cuts.cut_gaps import cut_gaps
from stackup_lib.copper.cuts.gap_rows import EDGE, OUTSIDE
from tests.support.mini import mini_board

RADIUS_MM = 1.6
SQUARE = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
VIAS = [{"net": "GND", "at_mm": [x, 10], "drill_mm": 0.3, "size_mm": 0.6} for x in (40, 45, 50)]


@pytest.mark.parametrize(
    ("off_mm", "size_mm", "depth_mm", "cut"),
    [
        (0.0, 4.66, RADIUS_MM, EDGE),  # goes around the cut-out
        (0.5, 6.0, RADIUS_MM, EDGE),
        (0.5, 3.8, RADIUS_MM, OUTSIDE),  # covers its middle, but not all of it
        (0.0, 2.0, RADIUS_MM, OUTSIDE),  # within it
        (1.0, 0.6, 0.9, OUTSIDE),  # within it, off the middle
        (1.5, 1.0, 0.6, OUTSIDE),  # reaches over its edge
    ],
)
def test_no_copper_is_further_from_the_edge_of_a_round_cut_out_than_its_middle(
    off_mm: float, size_mm: float, depth_mm: float, cut: int, tmp_path: Path
) -> None:
    via = {"net": "/A", "at_mm": [20 + off_mm, 20], "drill_mm": 0.3, "size_mm": size_mm}
    board = mini_board(tmp_path, {"size_mm": [60, 40], "vias": [via, *VIAS]})
    x, y = float(board.outline.x_mm.min()), float(board.outline.y_mm.min())
    turn = np.linspace(0, math.tau, 721)
    outline = Outline(
        start=np.array([0, 5, 726]),
        x_mm=np.concatenate([x + np.array([0, 60, 60, 0, 0]), x + 20 + RADIUS_MM * np.cos(turn)]),
        y_mm=np.concatenate([y + np.array([0, 0, 40, 40, 0]), y + 20 + RADIUS_MM * np.sin(turn)]),
        footprint=np.array([-1, -1]),
    )

    found = cut_gaps(CopperMap(dataclasses.replace(board, outline=outline)))

    least = found.least_of(found.layer)
    assert least.gap_mm.tolist() == pytest.approx([-depth_mm] * board.layer_count, abs=1e-3)
    assert set(least.cut.tolist()) == {cut}
    assert {board.nets[net] for net in found.net.tolist()} == {"/A"}


def test_lines_on_edge_cuts_know_the_footprint_that_draws_them(tmp_path: Path) -> None:
    cut_out = {"layer": "Edge.Cuts", "filled": True, "path_mm": SQUARE}
    parts = [{"reference": "R1", "at_mm": [5, 5]}, {"reference": "J1", "at_mm": [20, 20], "graphics": [cut_out]}]
    board = mini_board(tmp_path, {"size_mm": [60, 40], "parts": parts})

    row = board.footprints.reference.tolist().index("J1")

    own = board.outline.of(row)

    assert board.outline.footprint.tolist() == [-1, row]
    assert own.size_mm == pytest.approx((2, 2))
    assert own.start.tolist() == [0, 5]
    assert board.outline.of(1 - row).size_mm is None


@pytest.mark.parametrize(
    ("pads", "cuts"),
    [
        ([("/A", 0, 0, 4)], set()),  # goes around it
        ([("/A", 0, 0, 2.4)], set()),  # by 0.2 mm
        ([("/A", 0.5, 0, 2)], {EDGE}),  # tears it
        ([("/A", -1, 0, 2.4), ("/A", 1, 0, 2.4)], set()),  # two that go around it together
        ([("/A", -1, 0, 2.4), ("/B", 1, 0, 2.4)], {EDGE}),  # two nets do not
    ],
)
def test_pads_around_a_cut_out_of_their_footprint_are_meant(
    pads: list[tuple[str, float, float, float]], cuts: set[int], tmp_path: Path
) -> None:
    drawn = [
        {"number": str(k), "net": net, "at_mm": [x, y], "shape": "rect", "size_mm": [size, size]}
        for k, (net, x, y, size) in enumerate(pads)
    ]
    cut_out = {"layer": "Edge.Cuts", "filled": True, "path_mm": SQUARE}
    part = {"reference": "H1", "at_mm": [20, 20], "pads": drawn, "graphics": [cut_out]}
    board = mini_board(tmp_path, {"size_mm": [60, 40], "parts": [part], "vias": VIAS})

    assert set(cut_gaps(CopperMap(board)).cut.tolist()) == cuts
