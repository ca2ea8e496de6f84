"""Declared copper that the stackup's row cannot be is told; copper that is thinned, rounded or plated is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board
from drc_rules.settings.config import parse_config
from tests.support.mini import mini_context, mini_file

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


@pytest.mark.parametrize(("per_side", "noted"), [(0, 1), (1, 1), (2, 0)])
def test_foil_of_a_build_up_may_be_plated_before_its_microvias_are_drawn(
    per_side: int, noted: int, tmp_path: Path
) -> None:
    """Of two build-ups the inner one is pressed, drilled and plated first; of one the inner layer stays bare."""
    board = BOARD.replace("In2.Cu 0.030", "In2.Cu 0.035")
    settings = OZ.format("In2.Cu", 0.5) + (f"[goals]\nbuild_ups = {per_side}\n" if per_side else "")
    assert len(notes(tmp_path, settings, board)) == noted


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


THIN = BOARD.replace("F.Cu 0.035", "F.Cu {}").replace("B.Cu 0.018", "B.Cu {}")
VIA = 'vias = [{ net = "/A", at_mm = [10, 10], drill_mm = 0.3 }]\n'
LESS = "less than the plating of the holes alone (18 um or more)"


def plating_notes(folder: Path, settings: str, rows_mm: tuple[float, float], vias: str = VIA) -> list[str]:
    """What the report notes of outer copper that is thinner than its plating."""
    board = tomllib.loads(vias + THIN.format(*rows_mm))
    report = check_board(mini_file(folder, board), config=parse_config(settings))
    return [note for note in report.notes if "plating" in note]


@pytest.mark.parametrize("um", [9, 15, 17.5])
def test_finished_copper_thinner_than_the_plating_of_the_holes_is_told(um: float, tmp_path: Path) -> None:
    """It is foil at most; lines are judged with plated copper too, as where nothing is declared."""
    found = plating_notes(tmp_path, OUTER.format(um), (0.035, 0.035))
    assert len(found) == 1
    assert found[0].startswith(f"stackwright.toml, [process]: outer_copper_um is {um:g} um, {LESS}: give foil")


@pytest.mark.parametrize("um", [18, 20, 25, 35])
def test_finished_copper_that_plating_gives_is_quiet(um: float, tmp_path: Path) -> None:
    assert plating_notes(tmp_path, OUTER.format(um), (0.035, 0.035)) == []


def test_outer_rows_of_thinner_foil_than_half_an_ounce_are_told(tmp_path: Path) -> None:
    found = plating_notes(tmp_path, "", (0.009, 0.015))
    assert [note.split(":")[0] for note in found] == ["F.Cu", "B.Cu"]
    assert found[0].startswith(f"F.Cu: the stackup states 9 um of copper, {LESS}: lines are judged for plated copper")


@pytest.mark.parametrize(
    ("settings", "rows_mm", "vias"),
    [
        ("", (0.017, 0.018), VIA),
        ("", (0.0175, 0.035), VIA),
        ("", (0.009, 0.009), ""),
        (OUTER.format(9), (0.009, 0.009), ""),
        (OUTER.format(30), (0.009, 0.009), VIA),
        ('[process]\npreset = "jlcpcb"\n', (0.012, 0.012), VIA),
    ],
    ids=["half an ounce", "half and one", "no holes", "no holes, declared", "finished declared", "a preset"],
)
def test_foil_of_usual_stackups_and_boards_without_plated_holes_are_quiet(
    settings: str, rows_mm: tuple[float, float], vias: str, tmp_path: Path
) -> None:
    assert plating_notes(tmp_path, settings, rows_mm, vias) == []


def test_finished_copper_that_cannot_be_is_not_taken_as_stated(tmp_path: Path) -> None:
    """Neither lines nor rails rest on it as on a number of the fab."""
    board = tomllib.loads(VIA + THIN.format(0.035, 0.035))
    for um, is_stated in ((9, False), (25, True)):
        folder = tmp_path / str(um)
        folder.mkdir()
        copper = mini_context(folder, board, OUTER.format(um)).process.outer_copper_mm(0)
        assert copper is not None
        assert (copper.value, copper.is_stated) == (um / 1000, is_stated)
