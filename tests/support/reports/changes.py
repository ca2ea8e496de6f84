"""Fixture boards, checked once, and what lies between two of them."""

from __future__ import annotations

from functools import cache

from drc_rules.engine.board_diff import BoardDiff, board_diff
from drc_rules.engine.check import CheckUp, check_up
from drc_rules.facts.declared import Overrides
from tests.support.boards import board_file

FIT, LOSSY, FEWER = "training_b200_fit", "training_b200_lossy_prepreg", "training_b200_too_few_layers"
LOW_TG = "inference_pcie_low_tg"


@cache
def checked(name: str, profile: str | None = None) -> CheckUp:
    """A fixture board, checked once."""
    return check_up(board_file(name), overrides=Overrides(profile))


@cache
def diff_of(old: str, new: str) -> BoardDiff:
    """What lies between two fixture boards."""
    return board_diff(checked(old), checked(new))
