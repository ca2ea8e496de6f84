"""For how long tracks lie over or under those of another layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board
from stackup_lib.copper.broadside import met_mm
from stackup_lib.copper.coupling import pieces_of
from tests.support.mini import mini_board

REACH_MM = 0.2


def crossed(folder: Path, *others: dict[str, object]) -> Board:
    """A track of 0.1 mm on In1 from x = 10 to x = 40, and others on In2."""
    mine = {"net": "/A", "layer": "In1.Cu", "path_mm": [[10, 20], [40, 20]], "width_mm": 0.1}
    tracks = [mine, *({"net": "/B", "layer": "In2.Cu", "width_mm": 0.2, **other} for other in others)]
    return mini_board(folder, {"copper_layers": 4, "tracks": tracks})


def met(board: Board, *partners: str) -> float:
    mine = pieces_of(board, np.flatnonzero(board.tracks.layer == 1))
    return float(met_mm(board, mine, 2, REACH_MM, [board.net_index[name] for name in partners]).sum())


def test_a_crossing_is_as_long_as_both_widths_and_the_reach_allow(tmp_path: Path) -> None:
    """Middles no farther apart than 0.2 + 0.05 + 0.1 = 0.35 mm: 0.7 mm at right angles, sqrt(2) of that at 45."""
    square = crossed(tmp_path / "square", {"path_mm": [[25.3, 10], [25.3, 30]]})
    slanting = crossed(tmp_path / "slanting", {"path_mm": [[15, 10], [35, 30]]})

    assert met(square) == pytest.approx(0.7, abs=1e-6)
    assert met(slanting) == pytest.approx(0.7 * 2**0.5, abs=1e-6)


def test_tracks_beside_one_another_meet_only_within_reach(tmp_path: Path) -> None:
    """0.34 mm between middles for 5 mm, with round ends of sqrt(0.35^2 - 0.34^2) = 0.083 mm; 0.36 mm is too far."""
    near = crossed(tmp_path / "near", {"path_mm": [[20, 20.34], [25, 20.34]]})
    far = crossed(tmp_path / "far", {"path_mm": [[20, 20.36], [25, 20.36]]})

    assert met(near) == pytest.approx(5 + 2 * 0.083, abs=0.01)
    assert met(far) == 0.0


def test_two_tracks_over_the_same_stretch_count_once(tmp_path: Path) -> None:
    """Both run along the whole of it."""
    board = crossed(tmp_path, {"path_mm": [[5, 20], [45, 20]]}, {"net": "/C", "path_mm": [[5, 20.1], [45, 20.1]]})

    assert met(board) == pytest.approx(30.0)


def test_partners_do_not_count(tmp_path: Path) -> None:
    """Of the two tracks on the neighbour one is the complement."""
    board = crossed(tmp_path, {"path_mm": [[15, 10], [15, 30]]}, {"net": "/P", "path_mm": [[5, 20], [45, 20]]})

    assert met(board, "/P") == pytest.approx(0.7, abs=1e-6)
    assert met(board, "/P", "/B") == 0.0
