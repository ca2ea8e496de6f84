"""Reading a whole file, with the disk's refusals as one line."""

from __future__ import annotations

from pathlib import Path

from stackup_lib.core.errors import BoardFileError
from stackup_lib.core.files.plain_file import read_board_bytes


def read_bytes(path: Path) -> bytes:
    """Return a file's content; raises `BoardFileError` when it cannot be read."""
    try:
        return read_board_bytes(path)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or 'error'})"
        raise BoardFileError(str(path), reason, "check the path and its rights") from error
