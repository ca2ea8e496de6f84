"""`stackwright init --serve`: the form in the browser, on a machine that needs no KiCad."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.file_names import place_of
from stackwright.kicad.choices import Choices
from stackwright.kicad.form.file_board import FileBoard
from stackwright.kicad.server import LOOPBACK, LiveServer
from stackwright.kicad.session import Session
from stackwright.run.browser import open_in_browser, opener
from stackwright.run.limits import SINGLE_THREAD
from stackwright.run.paths import find_board
from stackwright.text.output import show

if TYPE_CHECKING:
    from stackwright.kicad.open_board import OpenBoard

RELOADING_S = 5
"""A page that says goodbye may only be reloading."""

LOOK_EVERY_S = 0.2


def serve_form(typed: Path, *, profile: str | None = None, open_page: bool = True) -> int:
    """Serve the form of a board until its page or the user ends it; say what was written.

    Args:
        typed: the board, or its folder.
        profile: workload that is filled in.
        open_page: show the page in the browser; else its address is printed.

    Raises:
        StackwrightError: there is no such board, or no port is free.
    """
    from drc_rules.requirements.profiles.profile import load_profile

    for name in SINGLE_THREAD:
        os.environ.setdefault(name, "1")
    board = place_of(find_board(typed))
    if profile:
        load_profile(profile)
    # what a session asks of KiCad beyond the file is refused on this page
    connect = lambda _timeout_s: cast("OpenBoard", FileBoard(board))  # noqa: E731
    session = Session(board, connect, Choices(board, profile, answered=True), has_kicad=False)
    try:
        server = LiveServer(session)
    except OSError as error:
        where = f"the form cannot be served at {LOOPBACK}"
        raise StackwrightError(where, str(error.strerror), "run stackwright init without --serve") from error
    server.start()
    with server:
        session.check()
        try:
            _show_page(server, board, open_page=open_page)
            _wait(session)
        except KeyboardInterrupt:
            show("\n")
        finally:
            session.stop()
            server.shutdown()
    show("".join(f"{line}\n" for line in session.form.lines) or "nothing was written\n")
    return 0


def _show_page(server: LiveServer, board: Path, *, open_page: bool) -> None:
    """Open the page; print its address where no browser is to open it."""
    url = server.opening_url()
    if open_page and opener():
        show(f"the form for {board.name} opens in your browser; End in the page or Ctrl-C here ends it\n")
        open_in_browser(url)
    else:
        show(f"open {url}\nit works once; End in the page or Ctrl-C here ends it\n")


def _wait(session: Session) -> None:
    """Return when the page says that it is done, or has gone."""
    while not session.is_done:
        time.sleep(LOOK_EVERY_S)
        if session.left_at is not None and time.monotonic() - session.left_at > RELOADING_S:
            return
