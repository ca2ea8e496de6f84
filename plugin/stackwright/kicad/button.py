"""What the button in KiCad does: check the live board, set markers, show the report and keep it in touch with KiCad."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Protocol

from stackup_lib.core.errors import StackwrightError
from stackwright.kicad.choices import Choices
from stackwright.kicad.live import PLUGIN, connect, is_there, reconnect
from stackwright.kicad.open_board import Canvas
from stackwright.kicad.server import LiveServer
from stackwright.kicad.session import Session
from stackwright.kicad.single import noted, running_session
from stackwright.run.browser import open_in_browser, opener
from stackwright.run.limits import SINGLE_THREAD
from stackwright.text.output import complain

DONE, FAILED = 0, 2

SILENCE_S = 180
"""A page that is still there asks more often than this; browsers let pages in the background ask once a minute."""

RELOADING_S = 5
"""A page that says goodbye may only be reloading."""

FAREWELL_S = 90
"""How long the server outlives KiCad, to tell the page."""


class ButtonBoard(Canvas, Protocol):
    """What a click needs of a live board."""

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
    for name in SINGLE_THREAD:
        os.environ.setdefault(name, "1")
    live = connect()
    if not opener():
        return press(live)
    url = running_session(live.path)
    if url is not None:
        open_in_browser(url)
        return DONE
    return serve(live)


def serve(live: ButtonBoard) -> int:
    """Show the page at once, check the board, and serve until the page or KiCad has gone.

    Where no browser opens, the report is made as a file and the click says where it lies.

    Raises:
        StackwrightError: the check could not be made.
    """
    session = Session(live.path, reconnect, Choices.of(live.path))
    try:
        server = LiveServer(session)
    except OSError:  # no loopback, or no port is free
        return press(live)
    server.start()
    with server, noted(live.path, server):
        session.check()
        try:
            open_in_browser(server.opening_url())
            wait(session)
        except StackwrightError:
            session.stop()
            return press(live)
        finally:
            session.stop()
            server.shutdown()
    return DONE


def wait(session: Session) -> None:
    """Return when the page has gone, or some time after KiCad has."""
    gone_at: float | None = None
    while True:
        time.sleep(1)
        now = time.monotonic()
        if now - session.heard_at > SILENCE_S:
            return
        if session.left_at is not None and now - session.left_at > RELOADING_S:
            return
        session.bridge.has_ended = session.gone or not is_there()
        gone_at = gone_at or now if session.gone else None
        if gone_at is not None and now - gone_at > FAREWELL_S:
            return


def press(live: ButtonBoard) -> int:
    """Check a live board; a report is shown even when KiCad takes no markers, and the other way round.

    Raises:
        StackwrightError: the check could not be made.
    """
    from drc_rules.facts.declared import Overrides
    from stackwright.commands.check.command import check_one
    from stackwright.commands.check.request import CheckRequest
    from stackwright.kicad.markers import markers_of, replace
    from stackwright.kicad.report_file import write_report

    outcome, _ = check_one(live.path, CheckRequest(Overrides(profile=_profile(live.path))), live=live.content())
    page = write_report(outcome)
    problems = []
    try:
        replace(live, live.path, markers_of(outcome.report.findings), live.settings_folder(PLUGIN))
    except StackwrightError as error:
        problems.append(StackwrightError("no markers were set", f"{error.where} {error.what}", error.next_step))
    try:
        open_in_browser(page)
    except StackwrightError as error:
        problems.append(error)
    for problem in problems:
        complain(problem)
    return FAILED if problems else DONE


def _profile(board: Path) -> str | None:
    return Choices.of(board).profile
