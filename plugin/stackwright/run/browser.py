"""The browser of the user, which shows a page."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackwright.run.programs import opening_command

OPENER = "STACKWRIGHT_OPEN"
"""Environment variable: the command that opens a report; empty to open none."""

OPENING_S = 5
"""An opener that has not complained by then has done its work, or is the browser itself."""

KICADS_OWN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "KICAD_API_TOKEN")
"""Variables that KiCad sets for plugins, and that would mislead a browser or are not its business."""


class BrowserError(StackwrightError):
    """No browser could be opened."""


def open_in_browser(page: Path | str) -> None:
    """Show a page, a file or an address, in the user's browser.

    Raises:
        BrowserError: that cannot be done; says where the report is.
    """
    command = opener()
    if not command:
        return
    environment = {key: value for key, value in os.environ.items() if key not in KICADS_OWN}
    where = (str(page), "is the report, but no browser could be opened")
    try:
        opening = subprocess.Popen(  # noqa: S603 - the user's own choice of a program, no shell
            [*command, str(page)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        failed = opening.wait(OPENING_S) != 0
    except subprocess.TimeoutExpired:
        return
    except OSError as error:
        raise BrowserError(*where, f"open it yourself ({command[0]}: {error.strerror})") from error
    if failed:
        raise BrowserError(*where, f"open it yourself ({command[0]} failed)")


def opener() -> list[str]:
    """Return the program that opens a file for this user; empty where nothing is to be opened."""
    return opening_command(os.environ.get(OPENER))
