"""`stackwright touchstone --eye` tells what the pairs next to a link take of its operating margin."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.miniboard import MiniBoard, write
from tests.support.in_process import run_here
from tests.support.small_boards.crowded import crowded


def told(folder: Path, centres_mm: dict[str, float]) -> str:
    board = write(MiniBoard.model_validate(crowded(centres_mm)), folder, "card")
    found = run_here("touchstone", board, "--eye", "--net", "TX0", "--output", "links", cwd=folder)
    assert found.code == 0
    return found.out


def test_neighbours_are_named_with_what_they_take(tmp_path: Path) -> None:
    """The row of a link has its margin, that of each neighbour its end, length, gap and share, the loudest first."""
    out = told(tmp_path, {"/SFP_RX0": 9.0, "/SFP_TX0": 10.0, "/SFP_TX1": 10.75})
    alone, crowd = out.split("as a channel of 100GBASE-KR4, with the pairs next to it")
    com_db = float(next(row for row in alone.splitlines()[::-1] if "SFP_TX0_P.s4p" in row).split()[1])
    first, second = (row.split() for row in crowd.splitlines() if "/SFP_" in row)
    assert first[0] == "SFP_TX0_P.s4p"
    assert first[2:6] == ["/SFP_TX1_P", "far", "60.0", "0.30"]
    assert second[:4] == ["/SFP_RX0_P", "near", "60.0", "0.55"]
    assert float(first[1]) < com_db - 1
    assert float(first[1]) + float(first[6]) == pytest.approx(com_db, abs=0.3)
    assert "Not in it: crosstalk in connectors, packages and" in crowd


def test_neighbours_that_take_next_to_nothing_share_a_row(tmp_path: Path) -> None:
    """A receiver 0.76 mm away, seven heights: below 0.01 dB. It is counted, and said to be."""
    out = told(tmp_path, {"/SFP_RX0": 8.79, "/SFP_TX0": 10.0, "/SFP_TX1": 10.75}).split("with the pairs next to it")[1]
    assert "/SFP_TX1_P" in out
    assert "/SFP_RX0_P" not in out
    assert "1 more" in out
    assert "< 0.01" in out


def test_names_without_a_direction_are_marked(tmp_path: Path) -> None:
    out = told(tmp_path, {"/SFP_TX0": 10.0, "/SFP_B": 10.75})
    assert "far *" in out.split("with the pairs next to it")[1]


def test_a_link_without_neighbours_is_told_as_before(tmp_path: Path) -> None:
    """Every line but those of the neighbours is the same with a pair near and with one far away."""
    near, far = (told(tmp_path, {"/SFP_TX0": 10.0, "/SFP_TX1": y}) for y in (10.75, 14.0))
    assert "next to it" not in far
    assert near.startswith(far.rstrip("\n"))
