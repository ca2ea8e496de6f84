"""What the button in KiCad does: check the live board, set markers, open the report."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from stackup_lib.errors import StackwrightError
from stackwright.commands.check import Settings, check_one
from stackwright.kicad.live import connect
from stackwright.kicad.markers import Canvas, markers_of, replace
from stackwright.kicad.report_file import show_report, write_report
from stackwright.output import complain

PLUGIN = "org.stackwright.kicad"
"""Identifier of the plugin, as in plugin.json."""

DONE, FAILED = 0, 2


class OpenBoard(Canvas, Protocol):
    """What the button needs of a live board."""

    path: Path

    def content(self) -> bytes:
        """Return the board as it is now."""

    def settings_folder(self, plugin: str) -> Path:
        """Return the folder for what a plugin remembers."""


def run() -> int:
    """Act on a click.

    Raises:
        StackwrightError: the check could not be made.
    """
    return press(connect())


def press(live: OpenBoard) -> int:
    """Check a live board; a report is shown even when KiCad takes no markers, and the other way round.

    Raises:
        StackwrightError: the check could not be made.
    """
    outcome, _ = check_one(live.path, Settings(), live=live.content())
    page = write_report(outcome)
    problems = []
    try:
        replace(live, live.path, markers_of(outcome.report.findings), live.settings_folder(PLUGIN))
    except StackwrightError as error:
        problems.append(StackwrightError("no markers were set", f"{error.where} {error.what}", error.next_step))
    try:
        show_report(page)
    except StackwrightError as error:
        problems.append(error)
    for problem in problems:
        complain(problem)
    return FAILED if problems else DONE
