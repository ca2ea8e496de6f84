"""Rails and ground through stacked vias, and over tracks on layers without a fill."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.miniboard import build
from stackup_lib.kicad.read.reader import read_board
from tests.support.small_boards.ground_return import elements_v, fill, pin, solved

FOUR = """
F.Cu    0.035
prepreg 0.20  "2116" dk=4.2 df=0.02
In1.Cu  0.035
core    1.00  "FR4" dk=4.2 df=0.02
In2.Cu  0.035
prepreg 0.20  "2116" dk=4.2 df=0.02
B.Cu    0.035
"""

PARTS = [pin("U1", 10, 20), pin("J1", 40, 20)]


@pytest.mark.parametrize("apart_mm", [0.0, 0.3])
def test_stacked_vias_join_on_a_layer_without_other_copper(tmp_path: Path, apart_mm: float) -> None:
    """Blind and buried vias one on the other, or with pads that overlap, conduct as one blind via to In2 does."""
    ends = {
        "size_mm": [60, 40],
        "stackup": FOUR,
        "zones": [fill("In2.Cu", 5, 10, 45, 30)],
        "parts": PARTS,
    }
    far = {"net": "GND", "at_mm": [40, 20]}
    near = {"net": "GND", "at_mm": [10, 20]}
    one = {**near, "kind": "blind", "span": ["F.Cu", "In2.Cu"]}
    two = [
        {**near, "kind": "blind", "span": ["F.Cu", "In1.Cu"]},
        {"net": "GND", "at_mm": [10 + apart_mm, 20], "kind": "buried", "span": ["In1.Cu", "In2.Cu"]},
    ]
    whole, stacked = (
        read_board(build({**ends, "vias": [*vias, far]}, tmp_path / name, "ground"))
        for name, vias in (("whole", [one]), ("stacked", two))
    )
    assert solved(stacked).joined == (True,)
    assert solved(stacked).drop_v[0][0] == pytest.approx(solved(whole).drop_v[0][0], rel=0.03)
    assert elements_v(stacked) == pytest.approx(elements_v(whole), rel=0.05)  # overlapping pads are a neck


def test_vias_that_do_not_meet_on_a_layer_stay_apart(tmp_path: Path) -> None:
    ends = {"size_mm": [60, 40], "stackup": FOUR, "zones": [fill("In2.Cu", 5, 10, 45, 30)]}
    vias = [
        {"net": "GND", "at_mm": [10, 20], "kind": "blind", "span": ["F.Cu", "In1.Cu"]},
        {"net": "GND", "at_mm": [10.6, 20], "kind": "buried", "span": ["In1.Cu", "In2.Cu"]},
        {"net": "GND", "at_mm": [40, 20]},
    ]
    board = read_board(build({**ends, "vias": vias, "parts": PARTS}, tmp_path, "a"))
    assert solved(board).joined == (False,)


def test_an_inner_track_joins_vias_without_a_fill_on_its_layer(tmp_path: Path) -> None:
    """30 mm of 1 mm on In1, as by finite elements."""
    track = {"net": "GND", "layer": "In1.Cu", "path_mm": [[10, 20], [40, 20]], "width_mm": 1.0}
    vias = [{"net": "GND", "at_mm": [x, 20]} for x in (10, 40)]
    board = read_board(
        build(
            {
                "size_mm": [60, 40],
                "stackup": FOUR,
                "tracks": [track],
                "vias": vias,
                "zones": [fill("B.Cu", 5, 35, 10, 38)],
                "parts": PARTS,
            },
            tmp_path,
            "a",
        )
    )
    assert solved(board).drop_v[0][0] == pytest.approx(elements_v(board), rel=0.03)
