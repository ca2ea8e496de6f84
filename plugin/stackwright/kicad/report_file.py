"""The report as a file outside the project."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from stackwright.kicad.errors import KicadError
from stackwright.reporters import html, json_
from stackwright.results.checked import Checked
from stackwright.text.output import write_file

MOST_NAME = 50
"""Characters of a board's name in the names of its files in the cache; one takes up to four bytes."""


def write_report(outcome: Checked) -> Path:
    """Write the report as HTML, and as JSON beside it, into the user's cache; the last one of each board is kept.

    Raises:
        OutputError: the folder cannot be written.
    """
    board = Path(outcome.report.board.path)
    folder = cache_folder() / "reports"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise KicadError(str(folder), f"cannot be made ({error.strerror})", "make it writable") from error
    name = name_of(board)
    write_file(folder / f"{name}.json", json_.render([outcome]))
    page = folder / f"{name}.html"
    write_file(page, html.render([outcome]))
    return page


def name_of(board: Path) -> str:
    """Return a name for a board's files in the cache: its own, and what tells it from others of that name.

    Long names are cut, for file systems take 255 bytes; so is what follows a dot: `aux.x` is a device to Windows.
    """
    known = hashlib.sha256(os.fsencode(board)).hexdigest()[:8]
    return f"{board.stem.partition('.')[0][:MOST_NAME]}-{known}"


def cache_folder() -> Path:
    """Return the folder of this user for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "stackwright"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "stackwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "stackwright"
