"""A slash in a label stands in the file as `{slash}`: both spellings choose the net, wherever a user names one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from drc_rules.engine.check import check_board, prepare
from drc_rules.facts.declared import Overrides
from drc_rules.requirements.interfaces.names import normalise
from drc_rules.settings.config import parse_config
from drc_rules.settings.net_selection import chosen_nets
from stackup_lib.board.board import Board
from tests.support.mini import mini_board

BOARD = """
size_mm = [60, 40]
stackup = \"\"\"
F.Cu 0.035
core 1.5 "370HR" dk=4.0
B.Cu 0.035
\"\"\"
tracks = [
    { net = "+3V3{slash}AUX", layer = "F.Cu", path_mm = [[5, 30], [40, 30]], width_mm = 0.3 },
    { net = "/A/B", layer = "F.Cu", path_mm = [[5, 20], [40, 20]], width_mm = 0.3 },
    { net = "/A{slash}B", layer = "F.Cu", path_mm = [[5, 10], [40, 10]], width_mm = 0.3 },
]
"""
RAIL = '[[rail]]\nnet = "{}"\nvoltage_v = 3.3\n'


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return mini_board(tmp_path, tomllib.loads(BOARD))


@pytest.mark.parametrize(
    ("typed", "net"),
    [
        ("+3V3/AUX", "+3V3{slash}AUX"),
        ("+3V3{slash}AUX", "+3V3{slash}AUX"),
        ("/A/B", "/A/B"),
        ("/A{slash}B", "/A{slash}B"),
        ("/A/C", None),
        ("", ""),
    ],
)
def test_a_net_is_found_by_either_spelling_and_the_files_goes_first(typed: str, net: str | None, board: Board) -> None:
    found = board.net_named(typed)

    assert (None if found is None else board.nets[found]) == net


@pytest.mark.parametrize(
    ("pattern", "nets"),
    [
        ("+3V3/*", {"+3V3{slash}AUX"}),
        ("+3V3{slash}*", {"+3V3{slash}AUX"}),
        ("/A/?", {"/A/B", "/A{slash}B"}),
        ("/A{slash}?", {"/A{slash}B"}),
    ],
)
def test_patterns_choose_by_either_spelling(pattern: str, nets: set[str], board: Board) -> None:
    """`/A/B` is what KiCad shows of two nets here, so it means both."""
    assert {board.nets[net] for net in chosen_nets(board, (), [pattern])} == nets


@pytest.mark.parametrize("spelling", ["+3V3/AUX", "+3V3{slash}AUX"])
def test_a_rail_has_the_net_of_the_file_whatever_its_spelling(spelling: str, board: Board) -> None:
    config = parse_config(RAIL.format(spelling))

    (row,) = prepare(board, config, Overrides())[0].declarations.config.rail

    assert row.net == "+3V3{slash}AUX"


def test_one_net_in_two_spellings_is_declared_twice(board: Board) -> None:
    assert board.path is not None
    config = parse_config(RAIL.format("+3V3/AUX") + RAIL.format("+3V3{slash}AUX"))

    assert any("is declared twice" in note for note in check_board(board.path, config=config).notes)


def test_the_slash_of_a_label_does_not_tell_a_sheet_and_reads_as_a_slash() -> None:
    """What stands before it is of the name, and its word `slash` is of none."""
    assert normalise("/USB/SDI{slash}TX0_P") == "SDI/TX0_P"
    assert normalise("Net-(U1-~{SUSPEND{slash}}RI)") == "NET-(U1-_SUSPEND/RI)"
