"""Small boards as data: written into a folder, read, and with their facts gathered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import parse_config
from fixtures.miniboard import MiniBoard, write
from stackup_lib.board.board import Board
from stackup_lib.kicad import read_board


def mini_file(folder: Path, data: Mapping[str, object], name: str = "board") -> Path:
    """Write the board that `MiniBoard` makes of `data`, with its project and settings; return the path of the board."""
    return write(MiniBoard.model_validate(data), folder, name)


def mini_board(folder: Path, data: Mapping[str, object]) -> Board:
    """Write a board and read it."""
    return read_board(mini_file(folder, data))


def mini_context(
    folder: Path, data: Mapping[str, object], config: str = "", overrides: Overrides | None = None
) -> Context:
    """Write a board, read it, and gather its facts with the settings of a text."""
    return prepare(mini_board(folder, data), parse_config(config), overrides or Overrides())[0]
