"""The via that KiCad places on a net, by the net classes and design rules of a small board."""

from __future__ import annotations

from pathlib import Path

from stackup_lib.kicad import read_board
from stackup_lib.kicad.design_rules.rules_file import parse_design_rules
from stackup_lib.kicad.design_rules.via_settings import ViaSettings
from stackup_lib.nets.design_vias import ConfiguredVia, configured_via
from tests.support.mini import mini_file

TRACK = {"net": "/CLK", "layer": "F.Cu", "path_mm": [[10, 10], [50, 10]]}
SETTINGS = ViaSettings(least_diameter_mm=0.2, least_drill_mm=0.1, least_ring_mm=0.05)


def board_with(folder: Path, *classes: dict[str, object], design_rules: str | None = None) -> Path:
    data = {"stackup": "default", "tracks": [TRACK], "net_classes": classes, "design_rules": design_rules}
    return mini_file(folder, data, "card")


def via(folder: Path, rules: str, *classes: dict[str, object]) -> ConfiguredVia:
    board = read_board(board_with(folder, *classes))
    return configured_via(board, "/CLK", parse_design_rules("(version 1)\n" + rules), SETTINGS, in_pair=False)
