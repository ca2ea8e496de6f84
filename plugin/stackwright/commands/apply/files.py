"""Files of a board: reading one as a whole, with the disk's refusals as one line; and what was written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.plain_file import read_board_bytes
from stackup_lib.kicad.write.file_edit import Written
from stackwright.text.page import Page


def read_bytes(path: Path) -> bytes:
    """Return a file's content; raises `BoardFileError` when it cannot be read."""
    try:
        return read_board_bytes(path)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or 'error'})"
        raise BoardFileError(str(path), reason, "check the path and its rights") from error


def written_block(page: Page, written: Iterable[Written]) -> None:
    """Add a line per file that was written, with where its former content is."""
    for one in written:
        kept = f"; the former content is in {one.backup.name}" if one.backup else ""
        here = Path.cwd()
        shown = one.path.relative_to(here) if one.path.is_relative_to(here) else one.path
        page.verbatim([f"wrote {shown}{kept}"], indent=0)
