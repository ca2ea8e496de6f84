"""The check as a Python program calls it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from drc_rules.engine.check import check_board
from drc_rules.settings.config import load_config
from stackup_lib.kicad import read_board
from tests.support.boards import BOARDS

CARD = BOARDS / "inference_pcie_gen5_fit" / "inference_pcie_gen5_fit.kicad_pcb"


def test_a_board_may_be_given_as_text() -> None:
    """A path as a string is read like a `Path`."""
    assert read_board(str(CARD)).layer_count == read_board(CARD).layer_count
    assert check_board(str(CARD), tables=False).headline is check_board(CARD, tables=False).headline


def test_the_hash_of_the_file_comes_with_the_tables() -> None:
    """Text does not show it, and hashing a large board takes a while."""
    assert check_board(CARD).board.sha256 == hashlib.sha256(CARD.read_bytes()).hexdigest()
    assert not check_board(CARD, tables=False).board.sha256


def test_notes_on_settings_name_the_file_that_was_read(tmp_path: Path) -> None:
    """Another file than the one next to the board by its path, the usual one by its name."""
    board = shutil.copy(CARD, tmp_path / "card.kicad_pcb")
    text = '[declared.copper."In99.Cu"]\nfoil = "VLP"\n'
    other, usual = tmp_path / "fab.toml", tmp_path / "stackwright.toml"
    for file in (other, usual):
        file.write_text(text, encoding="utf-8")

    by_other = check_board(board, config=load_config(other), tables=False).notes
    by_usual = check_board(board, tables=False).notes

    assert any(note.startswith(f'{other}, [declared.copper."In99.Cu"]: ') for note in by_other)
    assert not any("stackwright.toml, [declared" in note for note in by_other)
    assert any(note.startswith('stackwright.toml, [declared.copper."In99.Cu"]: ') for note in by_usual)
