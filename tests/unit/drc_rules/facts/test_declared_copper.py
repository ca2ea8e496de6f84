"""Declared copper that the stackup's row cannot be is told; copper that is thinned, rounded or plated is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.settings.config import parse_config
from tests.support.mini import mini_file

BOARD = """
size_mm = [40, 30]
stackup = \"\"\"
F.Cu 0.035
prepreg 0.1 "370HR 1080"
In1.Cu 0.0152
core 1.2 "370HR"
In2.Cu 0.030
prepreg 0.1 "370HR 1080"
B.Cu 0.018
\"\"\"
"""
OZ = '[declared.copper."{}"]\ncopper_oz = {}\n'
OUTER = "[process]\nouter_copper_um = {}\n"


def notes(folder: Path, settings: str, board: str = BOARD) -> list[str]:
    """What the report notes of declared copper."""
    report = check_board(mini_file(folder, tomllib.loads(board)), config=parse_config(settings))
    return [note for note in report.notes if "copper_" in note]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            OZ.format("In1.Cu", 2),
            'stackwright.toml, [declared.copper."In1.Cu"]: copper_oz is 68.6 um, the stackup states 15.2 um: '
            "copper weight and rails follow copper_oz",
        ),
        (
            OZ.format("In2.Cu", 0.5),
            'stackwright.toml, [declared.copper."In2.Cu"]: copper_oz is 17.1 um, the stackup states 30 um: '
            "copper weight and rails follow copper_oz",
        ),
        (
            OUTER.format(300),
            "stackwright.toml, [process]: outer_copper_um is 300 um, the stackup states 35 um for F.Cu: "
            "lines and rails follow outer_copper_um",
        ),
    ],
    ids=["heavier", "lighter", "ten times"],
)
def test_copper_that_contradicts_the_stackup_is_told(settings: str, said: str, tmp_path: Path) -> None:
    assert notes(tmp_path, settings)[0] == said


@pytest.mark.parametrize(
    "settings",
    [
        OZ.format("In1.Cu", 0.5),
        OZ.format("In1.Cu", 0.33),
        OZ.format("In2.Cu", 1),
        OZ.format("F.Cu", 1),
        OZ.format("F.Cu", 0.5),
        OZ.format("B.Cu", 0.5),
        OUTER.format(43),
        OUTER.format(75),
        "",
    ],
)
def test_copper_as_processed_rounded_or_plated_is_quiet(settings: str, tmp_path: Path) -> None:
    assert notes(tmp_path, settings) == []


def test_a_board_without_thicknesses_contradicts_nothing(tmp_path: Path) -> None:
    assert notes(tmp_path, OZ.format("In1.Cu", 2), "size_mm = [40, 30]\ncopper_layers = 4\n") == []
