"""Which layers a hole serves: where the pads of vias meet, one goes on from the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.miniboard import MiniBoard, write
from stackup_lib.kicad import read_board
from stackup_lib.vias.plated_holes import plated_holes

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
