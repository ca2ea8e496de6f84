"""Reading a whole file, with the disk's refusals as one line."""

from __future__ import annotations

from pathlib import Path

from stackup_lib.errors import BoardFileError


def read_bytes(path: Path) -> bytes:
    """Return a file's content; raises `BoardFileError` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = f"cannot be read ({error.strerror or 'error'})"
        raise BoardFileError(str(path), reason, "check the path and its rights") from error
