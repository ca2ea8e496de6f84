"""Which layers a hole serves: where the pads of vias meet, one goes on from the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.vias.plated_holes import plated_holes
from tests.support.mini import mini_board

SIX = "F.Cu 0.035\n" + "".join(f"prepreg 0.2\nIn{k}.Cu 0.0175\n" for k in range(1, 5)) + "prepreg 0.2\nB.Cu 0.035\n"


@pytest.mark.parametrize(
    ("off_mm", "joined"),
    [
        pytest.param((0.0, 0.0), True, id="stacked"),
        pytest.param((0.3, 0.0), True, id="pads overlap to the right"),
        pytest.param((-0.2, -0.2), True, id="pads overlap up and left"),
        pytest.param((0.4, 0.0), False, id="pads apart"),
        pytest.param((0.0, -0.4), False, id="pads apart, above"),
        pytest.param((10.0, 0.0), False, id="elsewhere"),
    ],
)
def test_a_buried_via_goes_on_where_the_pad_of_a_microvia_meets_its_own(
    tmp_path: Path, off_mm: tuple[float, float], *, joined: bool
) -> None:
    """From In1.Cu to In3.Cu with a pad of 0.4 mm, left on In3.Cu; the microvia's pad is 0.3 mm wide: 0.35 mm reach."""
    x, y = 21.3, 13.7
    micro = {"kind": "micro", "span": ["F.Cu", "In1.Cu"], "at_mm": [x + off_mm[0], y + off_mm[1]]}
    buried = {"kind": "blind", "span": ["In1.Cu", "In3.Cu"], "at_mm": [x, y]}
    rows = [
        {"net": "A", **micro, "drill_mm": 0.1, "size_mm": 0.3},
        {"net": "A", **buried, "drill_mm": 0.2, "size_mm": 0.4},
    ]
    track = {"net": "A", "layer": "In3.Cu", "width_mm": 0.1, "path_mm": [[x, y], [x + 5, y + 3]]}
    mini = MiniBoard.model_validate({"size_mm": (60, 40), "stackup": SIX, "vias": rows, "tracks": [track]})
    board = read_board(write(mini, tmp_path, "board"))
    holes = plated_holes(board, np.array([board.nets.index("A")]))

    (found,) = (hole for hole in holes if (hole.top, hole.bottom) == (1, 3))
    assert found.used == ((1, 3) if joined else (3,))


@pytest.mark.parametrize(("start_x", "width_mm", "used"), [(20.3, 0.3, (0, 2)), (20.3, 0.1, (0,)), (20.0, 0.1, (0, 2))])
def test_a_track_uses_the_layer_where_its_copper_touches_the_land(
    tmp_path: Path, start_x: float, width_mm: float, used: tuple[int, ...]
) -> None:
    """A land of 0.45 mm reaches to 0.225 mm; a track of 0.3 mm that ends 0.3 mm away reaches back to 0.15 mm."""
    board = written(
        tmp_path,
        vias=[{"net": "/A", "at_mm": [20, 10], "size_mm": 0.45}],
        tracks=[
            {"net": "/A", "layer": "F.Cu", "path_mm": [[5, 10], [20, 10]]},
            {"net": "/A", "layer": "In2.Cu", "width_mm": width_mm, "path_mm": [[start_x, 10], [30, 10]]},
        ],
    )

    (hole,) = plated_holes(board, np.array([board.net_index["/A"]]))

    assert hole.used == used


@pytest.mark.parametrize(("y", "used"), [(10.5, (0, 3)), (10.6, (0,))])
def test_a_long_pad_uses_the_layer_where_it_touches_the_land(tmp_path: Path, y: float, used: tuple[int, ...]) -> None:
    """Half of its 0.6 mm and of the land's 0.45 mm are 0.525 mm; it reaches 1.5 mm along."""
    pad = {"number": "1", "net": "/A", "size_mm": [3, 0.6]}
    board = written(
        tmp_path,
        vias=[{"net": "/A", "at_mm": [20, 10], "size_mm": 0.45}],
        tracks=[{"net": "/A", "layer": "F.Cu", "path_mm": [[5, 10], [20, 10]]}],
        parts=[{"reference": "C1", "side": "back", "at_mm": [20, y], "pads": [pad]}],
    )

    (hole,) = plated_holes(board, np.array([board.net_index["/A"]]))

    assert hole.used == used


@pytest.mark.parametrize(("shift", "used"), [(1.0, (0, 1)), (0.0, ())])
def test_a_pin_is_used_where_a_track_ends_on_its_shifted_pad(
    tmp_path: Path, shift: float, used: tuple[int, ...]
) -> None:
    """A pad of 1.6 by 1 mm whose middle lies 1 mm off the hole reaches to 1.8 mm."""
    pad = {"number": "1", "net": "/A", "kind": "through", "shape": "rect", "size_mm": [1.6, 1], "drill_mm": 0.5}
    board = written(
        tmp_path,
        parts=[{"reference": "J1", "at_mm": [20, 10], "pads": [{**pad, "shift_mm": [shift, 0]}]}],
        tracks=[{"net": "/A", "layer": "In1.Cu", "path_mm": [[21.6, 10], [30, 10]]}],
    )

    (hole,) = plated_holes(board, np.array([board.net_index["/A"]]))

    assert hole.used == used


def written(folder: Path, **board: object) -> Board:
    """A board of four layers."""
    return mini_board(folder, {"size_mm": [60, 40], "copper_layers": 4, **board})
