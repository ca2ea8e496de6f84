"""Many boards in one call: the memory of one is free before the next is read."""

from __future__ import annotations

import gc
import weakref

import pytest

from drc_rules.engine import check as engine
from drc_rules.engine.check import CheckUp
from drc_rules.facts.declared import Overrides
from stackwright.commands.check import command as module
from stackwright.commands.check.request import CheckRequest
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
