"""Boards of a folder that a check leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stackwright.run.paths import MOST_NAMED, boards_in_backups
from stackwright.text.output import remark
from stackwright.text.words import count, some


def tell_left_out(typed: Sequence[Path]) -> None:
    """Say which boards of folders are not checked because they lie in folders of backups."""
    if left := boards_in_backups(typed):
        names = some(map(str, left), MOST_NAMED)
        remark(f"{count(len(left), 'board')} in folders of backups not checked (name one to check it): {names}")
