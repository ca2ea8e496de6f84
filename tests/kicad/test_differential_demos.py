"""Our facts against a real KiCad's, value by value, for KiCad's demo boards: mismatch zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from tests.support.kicad.demo_names import demo_names
from tests.support.kicad.kicad_facts import PARTS, compare
from tests.support.kicad.kicad_python import kicads_facts

CopyBoard = Callable[[Path], Path]


@pytest.mark.pcbnew
@pytest.mark.demo
@pytest.mark.parametrize("name", demo_names())
def test_demo_boards_hold_what_kicad_finds(name: str, demo_boards: Path, copy_board: CopyBoard) -> None:
    """Layers, stackup, tracks and their lengths, vias, pads, zones, fills and net classes are KiCad's own."""
    board = copy_board(demo_boards / name)
    found = compare(read_board(board), kicads_facts(board))
    assert found.mismatches == []
    assert set(found.values) >= PARTS
