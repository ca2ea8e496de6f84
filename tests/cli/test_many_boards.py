"""Many boards in one call: memory is let go between them, and a format that holds one board refuses first."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from drc_rules.engine import check as engine
from drc_rules.engine.check import CheckUp
from drc_rules.facts.declared import Overrides
from stackup_lib.core.errors import StackwrightError
from stackwright.commands.check import command as module
from stackwright.commands.check.request import CheckRequest, ReportRequest
from tests.support.boards import board_file

NAMES = ("default_stackup_of_board_setup", "no_stackup", "default_stackup")


def test_a_large_board_is_let_go_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """It and its results hold each other. Three boards of 85 MB took 690 MB in one process, two thirds garbage."""
    boards: list[weakref.ref[object]] = []
    alive: list[int] = []
    check_up = engine.check_up

    def watched(*arguments: object, **options: object) -> CheckUp:
        alive.append(sum(board() is not None for board in boards))
        made = check_up(*arguments, **options)  # type: ignore[arg-type]
        boards.append(weakref.ref(made.context.board))
        return made

    monkeypatch.setattr(module, "check_up", watched)
    monkeypatch.setattr(module, "LET_GO_BYTES", 0)
    request = CheckRequest(Overrides(), jobs=1)

    gc.disable()
    try:
        answers = list(module.check_all([board_file(name) for name in NAMES], request))
    finally:
        gc.enable()

    assert len(answers) == len(boards) == len(NAMES)
    assert alive == [0, 0, 0]


def test_a_format_of_one_board_refuses_several_before_anything_is_written(tmp_path: Path) -> None:
    """KiCad's report holds one board; nothing has been checked or written by then."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    request = CheckRequest(reports=(ReportRequest("json", first), ReportRequest("kicad", second)))

    with pytest.raises(StackwrightError, match="--format kicad: holds one board, not 3"):
        module.check_boards([board_file(name) for name in NAMES], request)

    assert not first.exists()
    assert not second.exists()


def test_boards_that_cannot_be_read_leave_no_empty_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boards = [tmp_path / f"{name}.kicad_pcb" for name in ("one", "two", "three")]
    for board in boards:
        board.write_text("(kicad_pcb", encoding="utf-8")

    assert module.check_boards(boards, CheckRequest()) == 2

    assert capsys.readouterr().out.startswith("\nBoards\n")
