"""A small board with one pair that only its names tell what it is."""

from __future__ import annotations

from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.report.model import Report
from tests.support.mini import mini_file

PAIR = {
    "size_mm": [60, 40],
    "planes": {"In1.Cu": "GND", "In2.Cu": "GND"},
    "stackup": """
F.Cu 0.035
prepreg 0.1 "370HR 2116"
In1.Cu 0.030
core 1.0 "370HR"
In2.Cu 0.030
prepreg 0.1 "370HR 2116"
B.Cu 0.035
""",
    "tracks": [
        {"net": "/FOO_P", "layer": "F.Cu", "path_mm": [[5, 10], [45, 10]], "width_mm": 0.15},
        {"net": "/FOO_N", "layer": "F.Cu", "path_mm": [[5, 10.3], [45, 10.3]], "width_mm": 0.15},
    ],
}


def checked(folder: Path, config: str = "", tracks: list[dict[str, object]] | None = None) -> Report:
    board = {**PAIR, "config": config, **({"tracks": tracks} if tracks is not None else {})}
    return check_board(mini_file(folder, board))


def renamed(one: str, other: str) -> list[dict[str, object]]:
    return [{**track, "net": net} for track, net in zip(PAIR["tracks"], (one, other), strict=True)]  # type: ignore[dict-item]


GUESSED = """
profile = "inference-pcie"
core_on_module = true
[declared]
impedance_tolerance_pct = 5
[[hot_part]]
refs = []
"""
