"""The holes of KiCad's demo boards against the table that KiCad exports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from tests.conftest import KicadCli
from tests.support.kicad.demo_names import demo_names

CopyBoard = Callable[[Path], Path]


@pytest.mark.kicad
@pytest.mark.demo
@pytest.mark.parametrize("name", demo_names(most_bytes=10_000_000))
def test_drilled_holes_are_kicads_own(
    name: str, demo_boards: Path, copy_board: CopyBoard, kicad_cli: KicadCli, tmp_path: Path
) -> None:
    """Holes by size, form, plating and source: the table that `pcb export stats` prints."""
    path = copy_board(demo_boards / name)
    out = tmp_path / "stats.json"
    kicad_cli("pcb", "export", "stats", "--format", "json", "-o", out, path)
    theirs: dict[tuple[object, ...], int] = {}
    for row in json.loads(out.read_text(encoding="utf-8"))["drill_holes"]:
        sizes = (float(row[side].removesuffix(" mm")) for side in ("x_size", "y_size"))
        key = row["source"], *(round(size, 4) for size in sizes), row["plated"]
        theirs[key] = theirs.get(key, 0) + row["count"]
    board = read_board(path)
    ours: dict[tuple[object, ...], int] = {}
    for drill in board.vias.drill_mm.tolist():
        key = "Via", round(drill, 4), round(drill, 4), True
        ours[key] = ours.get(key, 0) + 1
    pads = board.pads
    for x, y, kind in zip(pads.drill_x_mm.tolist(), pads.drill_y_mm.tolist(), pads.kind.tolist(), strict=True):
        if x > 0:
            key = "Pad", round(x, 4), round(y, 4), kind == 1
            ours[key] = ours.get(key, 0) + 1
    assert ours == theirs
