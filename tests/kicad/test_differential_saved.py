"""Our facts against a real KiCad's for demo boards that KiCad 10 has saved anew: mismatch zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stackup_lib.kicad import read_board
from stackup_lib.kicad.read.reader import NEWEST_VERSION
from tests.conftest import KicadCli
from tests.support.kicad.demo_names import demo_names
from tests.support.kicad.kicad_facts import compare
from tests.support.kicad.kicad_python import kicads_facts

CopyBoard = Callable[[Path], Path]


@pytest.mark.kicad
@pytest.mark.pcbnew
@pytest.mark.demo
@pytest.mark.parametrize("name", demo_names(most_bytes=10_000_000))
def test_demo_boards_that_kicad_10_saved_anew(
    name: str, demo_boards: Path, copy_board: CopyBoard, kicad_cli: KicadCli
) -> None:
    """The same in the spelling of KiCad 10: nets by name, teardrops without identity, new tokens."""
    board = copy_board(demo_boards / name)
    kicad_cli("pcb", "upgrade", board)
    read = read_board(board)
    assert read.format_version == NEWEST_VERSION
    assert compare(read, kicads_facts(board)).mismatches == []
