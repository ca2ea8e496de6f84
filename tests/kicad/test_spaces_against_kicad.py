"""What a real KiCad measures between copper of different nets, and what we do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from stackup_lib.copper.clearances import SpaceFinder
from stackup_lib.copper.copper_map import CopperMap
from stackup_lib.copper.hole_to_fill import PostFills
from stackup_lib.kicad import read_board
from tests.conftest import kicad_cli_path
from tests.support.kicad.crowd import crowd
from tests.support.mini import mini_file

pytestmark = pytest.mark.kicad

ASKED_MM = 0.3
RULES = f'(version 1)\n(rule "space" (constraint clearance (min {ASKED_MM}mm)) (severity error))\n'


def test_spaces_are_as_kicad_measures_them(tmp_path: Path) -> None:
    """Every space below 0.3 mm that its check names is ours to a micrometre, and it names all of ours but one."""
    path = mini_file(tmp_path, {"stackup": "default", "copper_layers": 2, **crowd()}, "b")
    path.with_suffix(".kicad_dru").write_text(RULES, encoding="utf-8")
    report = tmp_path / "drc.json"
    command = [
        str(kicad_cli_path()),
        "pcb",
        "drc",
        "--all-track-errors",
        "--format",
        "json",
        "-o",
        str(report),
        str(path),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)

    theirs: dict[tuple[str, ...], float] = {}
    for found in json.loads(report.read_text(encoding="utf-8"))["violations"]:
        actual = re.search(r"actual ([\d.]+) mm", found["description"])
        if found["type"] == "clearance" and actual:
            nets = tuple(sorted(re.findall(r"\[([^\]]*)\]", " ".join(i["description"] for i in found["items"]))))
            theirs[nets] = min(theirs.get(nets, 9.0), float(actual[1]))

    board = read_board(path)
    reach = (ASKED_MM,) * board.layer_count
    finder = SpaceFinder(CopperMap(board), reach, PostFills(CopperMap(board), 0.25, reach))
    ours: dict[tuple[str, ...], float] = {}
    for layer in range(board.layer_count):
        spaces = finder.on(layer)
        for k in range(len(spaces)):
            nets = tuple(sorted(board.nets[int(piece.net[k])] for piece in (spaces.one, spaces.other)))
            ours[nets] = min(ours.get(nets, 9.0), float(spaces.gap_mm[k]))

    assert len(theirs) > 30
    assert theirs.keys() <= ours.keys()
    assert {nets: ours[nets] for nets in theirs} == pytest.approx(theirs, abs=1e-3)
    more = {nets: gap for nets, gap in ours.items() if nets not in theirs and gap < ASKED_MM - 1e-3}
    assert more == {("GND", "VDD"): pytest.approx(0.18)}  # KiCad does not measure between filled zones
