"""How far a void in a plane goes on to both sides of the track that crosses it."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.return_path.plane_gaps import Gap, ReturnPath
from stackup_lib.return_path.slot_length import STEP_MM, detour_mm
from tests.support.mini import mini_board

HALVES = ((1.0, 1.0, 39.75, 70.0), (40.25, 1.0, 99.0, 70.0))
"""Two halves of a plane with a slot of 0.5 mm between them, around x = 40."""


def crossing(folder: Path, path: str, *bridges: tuple[float, float, float, float]) -> tuple[CopperMap, Gap]:
    """Return the fills and the one gap of a track over the slot; bridges are pieces of plane that close it in part."""
    zones = "".join(
        f'[[zones]]\nnet = "GND"\nlayer = "In1.Cu"\nrect_mm = {list(rect)}\nclearance_mm = 0\n'
        for rect in (*HALVES, *bridges)
    )
    text = f'copper_layers = 4\n[[tracks]]\nnet = "/D"\nlayer = "F.Cu"\nwidth_mm = 0.15\npath_mm = {path}\n{zones}'
    board = mini_board(folder, tomllib.loads(text))
    copper = CopperMap(board)
    (gap,) = ReturnPath(copper).gaps((board.tracks.layer == 0).nonzero()[0], 1, 0.1)
    return copper, gap


def test_a_slot_counts_to_the_end_that_is_nearer(tmp_path: Path) -> None:
    """Bridges begin 3 mm to one side of the track and 5 mm to the other: the current goes around the former."""
    bridges = ((38.0, 2.0, 42.0, 32.0), (38.0, 40.0, 42.0, 69.0))
    copper, gap = crossing(tmp_path, "[[20, 35], [60, 35]]", *bridges)

    found = detour_mm(copper, gap, 20.0)

    assert 3.0 - STEP_MM <= found <= 3.0 / math.cos(math.radians(5)) + 2 * STEP_MM


def test_void_is_followed_no_farther_than_asked(tmp_path: Path) -> None:
    """The slot cuts the plane from edge to edge, 34 mm to both sides."""
    copper, gap = crossing(tmp_path, "[[20, 35], [60, 35]]")

    assert detour_mm(copper, gap, 4.05) == pytest.approx(4.05)


def test_a_slot_that_is_crossed_at_an_angle_is_followed_along_itself(tmp_path: Path) -> None:
    """At 45 degrees square to the track is not along the slot."""
    copper, gap = crossing(tmp_path, "[[20, 15], [60, 55]]")

    assert detour_mm(copper, gap, 4.0) == pytest.approx(4.0)


@pytest.mark.parametrize("slant_deg", [2.5, 42.5, 62.5, 70.0, 80.0])
def test_no_angle_hides_a_narrow_slot(tmp_path: Path, slant_deg: float) -> None:
    """Measured from square to the slot; beyond 80 degrees the track is over it for longer than it would be followed."""
    along = 30 * complex(math.cos(math.radians(slant_deg)), math.sin(math.radians(slant_deg)))
    ends = [40 - along.real, 35 - along.imag], [40 + along.real, 35 + along.imag]
    copper, gap = crossing(tmp_path, str([[round(value, 4) for value in end] for end in ends]))

    assert detour_mm(copper, gap, 4.0) == pytest.approx(4.0)


def test_a_slant_crossing_of_a_slot_that_ends_soon_stays_short(tmp_path: Path) -> None:
    """At 60 degrees, bridges 1 mm along the slot from the track's middle: that far, and half of the slot across."""
    bridges = ((38.0, 2.0, 42.0, 34.0), (38.0, 36.0, 42.0, 69.0))
    copper, gap = crossing(tmp_path, "[[25, 9.0192], [55, 60.9808]]", *bridges)

    assert 1.0 - STEP_MM <= detour_mm(copper, gap, 10.0) <= math.hypot(1.0, 0.25) + STEP_MM


def test_a_short_void_ends_soon(tmp_path: Path) -> None:
    """Bridges leave 1 mm of the slot open, the track in its middle."""
    bridges = ((38.0, 2.0, 42.0, 34.5), (38.0, 35.5, 42.0, 69.0))
    copper, gap = crossing(tmp_path, "[[20, 35], [60, 35]]", *bridges)

    assert detour_mm(copper, gap, 10.0) == pytest.approx(0.5, abs=2 * STEP_MM)
