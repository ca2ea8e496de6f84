"""Lengths of tracks next to hatched fills, whatever the file holds of these."""

from __future__ import annotations

from pathlib import Path

import pytest

from drc_rules.analysis.lines.hatched_planes import hatched_mm
from drc_rules.engine.check import prepare
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from stackup_lib.kicad import read_board

BOARD = """(kicad_pcb (version 20260206) (generator "pcbnew") (general (thickness 1.6))
(layers (0 "F.Cu" signal) (4 "In1.Cu" signal) (6 "In2.Cu" signal) (2 "B.Cu" signal) (25 "Edge.Cuts" user))
{items})"""
ZONE = """(zone (net "GND") (layer "{layer}") (fill yes {mode}) (polygon (pts {outline}))
(filled_polygon (layer "{layer}") (pts {fill})))"""
TRACK = '(segment (start 1 1) (end 9 1) (width 0.1) (layer "F.Cu") (net "A"))'
HATCH = "(mode hatch) (hatch_thickness 1) (hatch_gap 1.5)"
WHOLE = "(xy 0 0) (xy 10 0) (xy 10 10) (xy 0 10)"
HALF = "(xy 5 0) (xy 10 0) (xy 10 10) (xy 5 10)"


def lengths(folder: Path, *items: str) -> dict[tuple[int, int], float]:
    path = folder / "b.kicad_pcb"
    path.write_text(BOARD.format(items=" ".join([TRACK, *items])), encoding="utf-8")
    return dict(hatched_mm(prepare(read_board(path), parse_config(""), Overrides())[0]))


def zone(layer: str, outline: str, *, mode: str = "", fill: str = "") -> str:
    return ZONE.format(layer=layer, mode=mode, outline=outline, fill=fill or outline)


def test_a_mesh_counts_where_no_solid_fill_is_nearer(tmp_path: Path) -> None:
    """Of 8 mm over a mesh on In2, 4 mm have solid copper on In1 between, or 4 mm solid copper on In2 itself."""
    mesh = zone("In2.Cu", WHOLE, mode=HATCH)

    assert lengths(tmp_path, mesh) == {(0, 1): pytest.approx(8)}
    assert lengths(tmp_path, mesh, zone("In1.Cu", HALF)) == {(0, 1): pytest.approx(4)}
    assert lengths(tmp_path, mesh, zone("In2.Cu", HALF)) == {(0, 1): pytest.approx(4)}
    assert lengths(tmp_path, zone("In1.Cu", WHOLE)) == {}


@pytest.mark.parametrize("outline", ["", "(xy 0 0) (xy 9 9)", "(xy 1 1) (xy 1 1) (xy 1 1)"])
def test_an_outline_without_an_area_holds_no_mesh(tmp_path: Path, outline: str) -> None:
    mesh = zone("In1.Cu", outline, mode=HATCH, fill=WHOLE)

    assert lengths(tmp_path, mesh, zone("In1.Cu", WHOLE)) == {}
