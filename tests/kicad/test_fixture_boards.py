"""A real KiCad opens our boards without complaint and finds in them what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from fixtures import make_boards
from fixtures.miniboard import build

pytestmark = pytest.mark.kicad

NAMES = make_boards.board_names()
WITHOUT_RULES = {"clearance", "track_width", "drill_out_of_range"}
"""What KiCad's own defaults (0.2 mm, 0.3 mm holes) say of a board whose project, and so its rules, is missing."""

EVERY_TOKEN = {
    "size_mm": [80, 60],
    "copper_layers": 6,
    "stackup": """
        mask 0.02 color="#11223344"
        F.Cu 0.035
        prepreg 0.1 locked "2116" dk=4.1 df=0.018 color="FR4 natural"
        prepreg+ 0.05 "1080" dk=3.9 df=0.017
        In1.Cu 0.0175
        core 0.5 "FR4" dk=4.3 df=0.02
        In2.Cu 0.0175
        prepreg 0.1 "2116" dk=4.1 df=0.018
        In3.Cu 0.0175
        core 0.5 "FR4" dk=4.3 df=0.02
        In4.Cu 0.0175
        prepreg 0.15 "2116" dk=4.1 df=0.018
        B.Cu 0.035
        mask 0.02
    """,
    "finish": "ENIG",
    "impedance_controlled": True,
    "edge_connector": "bevelled",
    "edge_plating": True,
    "planes": {"In1.Cu": "GND", "In4.Cu": "GND", "In2.Cu": "+5V"},
    "text_variables": {"ZZ": "x y", "AA": "1"},
    "net_classes": [{"name": "FAST", "patterns": ["/F*"], "nets": ["P"], "track_width_mm": 0.1}],
    "vias": [
        {
            "net": "GND",
            "at_mm": [10, 10],
            "size_mm": 0.6,
            "drill_mm": 0.3,
            "backdrill": {"size_mm": 0.45, "from": "F.Cu", "must_cut": "In1.Cu"},
            "tertiary": {"size_mm": 0.46, "from": "B.Cu", "must_cut": "In4.Cu"},
        },
        {"net": "GND", "at_mm": [12, 10], "kind": "blind", "span": ["F.Cu", "In2.Cu"], "tented": True, "capped": True},
        {"net": "GND", "at_mm": [13, 10], "covered": "front", "plugged": False, "filled": True},
        {"net": "+5V", "at_mm": [14, 10], "kind": "buried", "span": ["In1.Cu", "In3.Cu"], "remove_unused": True},
        {"net": "+5V", "at_mm": [16, 10], "kind": "micro", "span": ["F.Cu", "In1.Cu"], "size_mm": 0.3, "drill_mm": 0.1},
        {"net": "+5V", "at_mm": [18, 10], "grid": [3, 2], "pitch_mm": 0.8},
        {"at_mm": [30, 10]},
    ],
    "zones": [
        {"net": "+3V3", "layer": "In2.Cu", "rect_mm": [0.5, 0.5, 25, 59.5]},
        {"net": "GND", "layer": "B.Cu", "rect_mm": [30, 30, 60, 50], "filled": False},
        {"net": "GND", "layer": "F.Cu", "rect_mm": [5, 5, 75, 55]},
    ],
    "tracks": [{"net": "A", "layer": "F.Cu", "path_mm": [[40, 40], [45, 45], [60, 45]]}],
    "pairs": [{"nets": ["P", "N"], "layer": "F.Cu", "path_mm": [[40, 20], [45, 25], [60, 25], [60, 35]]}],
    "parts": [
        {
            "reference": "U1",
            "value": "chip",
            "at_mm": [40, 40],
            "side": "back",
            "pads": [
                {"number": "10", "net": "A"},
                {
                    "number": "2",
                    "net": "GND",
                    "at_mm": [2, 0],
                    "kind": "through",
                    "size_mm": [1, 1],
                    "shape": "oval",
                    "backdrill": {"size_mm": 0.5, "from": "B.Cu", "must_cut": "In4.Cu"},
                },
                {"number": "3", "at_mm": [4, 0], "kind": "non_plated", "size_mm": [1, 1], "drill_mm": 1.0},
                {"number": "4", "net": "A", "at_mm": [6, 0], "shape": "roundrect"},
            ],
        },
        {"reference": "J1", "at_mm": [20, 40], "pads": [{"number": "1", "kind": "connector", "size_mm": [0.7, 3]}]},
    ],
}


class Cli(Protocol):
    """The `kicad_cli` fixture."""

    def __call__(self, *arguments: str | Path) -> object: ...


CopyBoard = Callable[[Path], Path]


def committed(name: str) -> Path:
    return make_boards.BOARDS / name / f"{name}.kicad_pcb"


def violations(cli: Cli, board: Path) -> list[str]:
    """Return the types of everything that the design rule check says, warnings included."""
    report = board.with_suffix(".json")
    cli("pcb", "drc", "--format", "json", "--severity-all", "--output", report, board)
    said = json.loads(report.read_text(encoding="utf-8"))
    return [item["type"] for key in ("violations", "unconnected_items") for item in said[key]]


@pytest.mark.parametrize("name", NAMES)
def test_kicad_saves_a_fixture_board_back_unchanged(name: str, kicad_cli: Cli, copy_board: CopyBoard) -> None:
    """KiCad understood every token and has nothing to add: its own save gives the same bytes."""
    copy = copy_board(committed(name))
    kicad_cli("pcb", "upgrade", "--force", copy)
    assert copy.read_text(encoding="utf-8") == committed(name).read_text(encoding="utf-8")


def test_kicad_saves_every_token_of_a_mini_board_back_unchanged(kicad_cli: Cli, tmp_path: Path) -> None:
    """The same for a board with all that the shorthand can say."""
    path = build(EVERY_TOKEN, tmp_path, "every_token")
    before = path.read_text(encoding="utf-8")
    kicad_cli("pcb", "upgrade", "--force", path)
    assert path.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", NAMES)
def test_kicads_design_rule_check_finds_nothing(name: str, kicad_cli: Cli, copy_board: CopyBoard) -> None:
    """No short, clearance, dangling track or unconnected pad; without its project a board falls to KiCad's defaults."""
    found = set(violations(kicad_cli, copy_board(committed(name))))
    assert found == (WITHOUT_RULES if name == "missing_project" else set())


def test_kicads_design_rule_check_would_find_a_fault(kicad_cli: Cli, tmp_path: Path) -> None:
    """The check above can fail: a track over another net's pad is a short, a fill near a via is too close."""
    pads = [{"number": "1", "net": "A"}, {"number": "2", "net": "B", "at_mm": [-3, 0]}]
    parts = [{"reference": "J1", "at_mm": [5, 5], "pads": pads}]
    through = [{"net": "B", "layer": "F.Cu", "path_mm": [[2, 5], [8, 5]]}]
    short = build({"size_mm": [10, 10], "parts": parts, "tracks": through}, tmp_path, "short")
    assert "shorting_items" in violations(kicad_cli, short)

    vias = [{"net": "A", "at_mm": [5, 5]}]
    near = build({"size_mm": [10, 10], "parts": parts, "vias": vias, "planes": {"B.Cu": "B"}}, tmp_path, "near")
    assert "clearance" not in violations(kicad_cli, near)
    corner, nearer = "(xy 54.525 54.525)", "(xy 54.9 54.525)"
    text = near.read_text(encoding="utf-8")
    assert corner in text
    near.write_text(text.replace(corner, nearer), encoding="utf-8")
    assert "clearance" in violations(kicad_cli, near)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("training_b200_fit", ("3.5376 mm", 219, "585.0000 mm", "417.0000 mm")),
        ("inference_pcie_gen5_fit", ("1.5704 mm", 124, "167.6500 mm", "111.1500 mm")),
        ("edge_jetson_carrier_fit", ("1.5880 mm", 40, "100.0000 mm", "80.0000 mm")),
        ("no_stackup", ("1.6000 mm", 40, "100.0000 mm", "80.0000 mm")),
    ],
)
def test_kicads_statistics_agree(
    name: str, said: tuple[str, int, str, str], kicad_cli: Cli, copy_board: CopyBoard
) -> None:
    """Thickness, number of vias and size that KiCad reports are those of the recipe."""
    copy = copy_board(committed(name))
    report = copy.with_suffix(".json")
    kicad_cli("pcb", "export", "stats", "--format", "json", "--output", report, copy)
    stats = json.loads(report.read_text(encoding="utf-8"))
    board, vias = stats["board"], stats["vias"]
    assert (board["board_thickness"], vias["through"], board["width"], board["height"]) == said
    assert vias["blind"] == vias["buried"] == vias["micro"] == 0
