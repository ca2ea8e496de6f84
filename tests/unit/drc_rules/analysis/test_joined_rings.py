"""The rings of holes in all copper of their net."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from drc_rules.analysis.fabrication.fab_holes import hole_sets
from drc_rules.analysis.fabrication.joined_rings import JoinedRings
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.kicad import read_board
from tests.support.mini import mini_file

PAD = {"number": "1", "net": "GND", "kind": "through", "shape": "circle", "size_mm": [0.36, 0.36], "drill_mm": 0.3}


def test_a_spur_of_no_width_at_the_rim_of_a_fill_is_no_copper(tmp_path: Path) -> None:
    """KiCad 4 and 5 store such spurs; the ring is that in the fill, as without the spur."""
    data = {
        "size_mm": [20, 20],
        "copper_layers": 2,
        "planes": {"F.Cu": "GND", "B.Cu": "GND"},
        "parts": [{"reference": "U1", "at_mm": [1.1, 1.1], "pads": [PAD]}],
    }
    file = mini_file(tmp_path, data)
    plain = _ring_mm(file)
    text, spurs = re.subn(
        r"(\(filled_polygon.*?\(pts\s*)(\(xy ([\d.]+) ([\d.]+)\))",
        lambda m: f"{m[1]}{m[2]} (xy {float(m[3]) - 0.1:g} {m[4]}) {m[2]}",
        file.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    file.write_text(text, encoding="utf-8")
    assert spurs == 2
    assert _ring_mm(file) == plain > 0.03


def _ring_mm(file: Path) -> float:
    board = read_board(file)
    (holes,) = hole_sets(board)
    return float(JoinedRings(CopperMap(board)).of(holes, np.array([0])).ring_mm[0])
