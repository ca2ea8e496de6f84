"""The report as a file outside the project."""

from __future__ import annotations

from pathlib import Path

from stackwright.kicad.errors import KicadError
from stackwright.reporters import html, json_
from stackwright.results.checked import Checked
from stackwright.run.user_cache import cache_folder, name_of
from stackwright.text.output import write_file


def write_report(outcome: Checked) -> Path:
    """Write the report as HTML, and as JSON next to it, into the user's cache; the last one of each board is kept.

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
