"""KiCad's editor with a board open, and what the live page needs around it; a file names its board by `board_file`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.kicad.kicad_editor import Editor
from tests.support.kicad.kicad_live import Action, noting_opener, opened_editor

if TYPE_CHECKING:
    from kipy import KiCad


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a short name, which KiCad sees too."""
    with tempfile.TemporaryDirectory(prefix="sw-", ignore_cleanup_errors=True) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures are kept."""
    named = os.environ.get("STACKWRIGHT_PICTURES")
    target = Path(named) if named else tmp_path_factory.mktemp("pictures")
    target.mkdir(parents=True, exist_ok=True)
    return target


@pytest.fixture(scope="module")
def editor(folder: Path, board_file: Path) -> Iterator[Editor]:
    """KiCad's PCB editor with the board open."""
    with opened_editor(folder / "k", board_file) as made:
        yield made


@pytest.fixture(scope="module")
def kicad(editor: Editor) -> KiCad:
    """A second client of the same KiCad."""
    from kipy import KiCad

    return KiCad(socket_path=editor.socket, timeout_ms=60_000)


@pytest.fixture(scope="module")
def opener(folder: Path) -> Path:
    """A browser that only writes down what it was asked to open."""
    return noting_opener(folder)


@pytest.fixture(scope="module")
def action(editor: Editor, folder: Path, opener: Path) -> Iterator[Action]:
    """The running action."""
    made = Action(editor, folder / "cache", opener)
    try:
        yield made
    finally:
        made.end()
