"""A board without KiCad: its file, for the page of `stackwright init --serve`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from stackup_lib.core.files.plain_file import read_board_bytes
from stackwright.kicad.errors import KicadError


class FileBoard:
    """The board as its file has it; a session without KiCad needs no more."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def hang_up(self) -> None:
        """Nothing is on its way to a file."""

    def content(self) -> bytes:
        """Return what the file says.

        Raises:
            KicadError: it cannot be read.
        """
        try:
            return read_board_bytes(self.path)
        except OSError as error:
            raise KicadError(str(self.path), f"cannot be read ({error.strerror})", "put it back") from error

    def digest(self) -> str:
        """Return a fingerprint of it."""
        return hashlib.sha256(self.content()).hexdigest()

    quick_digest = digest
