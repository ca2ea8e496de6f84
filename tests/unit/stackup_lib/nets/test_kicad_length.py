"""The length that KiCad states for a net: worked out by hand, and as KiCad's own length check measures it."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board
from stackup_lib.nets.links import find_links
from stackup_lib.nets.routing.kicad_length import HEIGHT_SWITCH, KicadLength, kicad_lengths
from stackup_lib.vias.plated_holes import copper_heights_mm
from tests.conftest import KicadCli
from tests.support.mini import mini_board, mini_file

STACKUP = """
F.Cu 0.03
prepreg 0.1 "FR4" dk=4.2
In1.Cu 0.02
core 1.0 "FR4" dk=4.2
In2.Cu 0.02
prepreg 0.1 "FR4" dk=4.2
B.Cu 0.03
"""
DATA: dict[str, object] = {
    "size_mm": (40, 20),
    "stackup": STACKUP,
    "parts": [
        {"reference": "U1", "at_mm": (5, 5), "pads": [{"number": "1", "net": "/A", "size_mm": (2, 2)}]},
        {
            "reference": "J1",
            "at_mm": (25, 5),
            "pads": [{"number": "1", "net": "/A", "size_mm": (1, 1), "layers": ("B.Cu",)}],
        },
    ],
    "tracks": [
        {"net": "/A", "layer": "F.Cu", "width_mm": 0.2, "path_mm": ((5, 5), (5.6, 5), (5.6, 5.8), (5.6, 9), (15, 9))},
        {"net": "/A", "layer": "B.Cu", "width_mm": 0.2, "path_mm": ((15, 9), (25, 9), (25, 5))},
        {"net": "/A", "layer": "In2.Cu", "width_mm": 0.2, "path_mm": ((10, 12), (10, 14))},
    ],
    "vias": [{"net": "/A", "at_mm": (15, 9)}],
}


def length_of(board: Board, net: str) -> KicadLength:
    """Of one net."""
    index = board.net_index[net]
    assert board.stackup is not None
    return kicad_lengths(board, [index], copper_heights_mm(board.stackup))[index]


def test_every_track_counts_with_its_way_inside_a_pad_straight(tmp_path: Path) -> None:
    """0.6 and 1.0 mm along a bend inside the pad are sqrt(0.36 + 1) mm; the loose track counts too."""
    found = length_of(mini_board(tmp_path, DATA), "/A")
    drawn = 0.6 + 4.0 + 9.4 + 10 + 4 + 2
    assert found.tracks_mm == pytest.approx(drawn - 1.6 + math.hypot(0.6, 1.0))


def test_a_via_counts_from_outer_face_to_outer_face(tmp_path: Path) -> None:
    """1.3 mm, and nothing where the project leaves heights out."""
    path = mini_file(tmp_path, DATA)
    assert length_of(read_board(path), "/A").vias_mm == pytest.approx(1.3)
    project = json.loads(path.with_suffix(".kicad_pro").read_text(encoding="utf-8"))
    project.setdefault("board", {}).setdefault("design_settings", {}).setdefault("rules", {})[HEIGHT_SWITCH] = False
    path.with_suffix(".kicad_pro").write_text(json.dumps(project), encoding="utf-8")
    assert length_of(read_board(path), "/A").vias_mm == 0.0


def by_kicad(kicad_cli: KicadCli, board: Path) -> dict[str, float]:
    """What KiCad's length check states per net; it reports at most 199 nets."""
    board.with_suffix(".kicad_dru").write_text("(version 1)\n(rule all (constraint length (min 2000mm)))\n")
    report = board.with_suffix(".json")
    kicad_cli("pcb", "drc", "--format", "json", "--severity-all", "--output", report, board)
    found = {}
    for violation in json.loads(report.read_text(encoding="utf-8"))["violations"]:
        net = re.search(r"\[(.*)\] (?:on|of)", violation["items"][0]["description"])
        actual = re.search(r"actual ([\d.]+) mm", violation["description"])
        if violation["type"] == "length_out_of_range" and net and actual:
            found[net[1]] = float(actual[1])
    return found


@pytest.mark.slow
@pytest.mark.kicad
@pytest.mark.demo
def test_lengths_of_pairs_are_those_of_kicad(kicad_cli: KicadCli, demo_boards: Path, copy_board: partial[Path]) -> None:
    """With vias and pad-to-die lengths: most to a micrometre, all to a thousandth."""
    path = copy_board(demo_boards / "cm5_minima/CM5_MINIMA_3.kicad_pcb")
    board = read_board(path)
    pairs, off = find_links(board).pairs, []
    for net, actual in by_kicad(kicad_cli, path).items():
        index = board.net_index.get(net)
        if index is None or pairs.complement_of(index) is None or not (board.tracks.net == index).any():
            continue
        found = length_of(board, net)
        assert found.total_mm == pytest.approx(actual, rel=1e-3), net
        assert found.vias_mm > 1.0, net
        off.append(abs(found.total_mm - actual))
    assert len(off) >= 30
    assert np.median(off) < 1e-3
    assert sum(mm < 2e-3 for mm in off) >= 0.85 * len(off)
