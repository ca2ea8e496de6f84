"""Whether the files that a check reads besides the board say something else than before."""

from __future__ import annotations

import hashlib
from pathlib import Path

from drc_rules.config import FILE_NAME
from stackup_lib.errors import StackwrightError
from stackup_lib.kicad.project import read_project


class SettingsFiles:
    """Looks at `stackwright.toml`, the project and the design rules beside a board; reads them only when touched."""

    def __init__(self, board: Path) -> None:
        self._files = (board.with_name(FILE_NAME), board.with_suffix(".kicad_dru"), board.with_suffix(".kicad_pro"))
        self._touched: tuple[tuple[float, int], ...] = ()
        self._digest = ""

    def digest(self) -> str:
        """Return a fingerprint of what they say; KiCad's own rewriting of a project does not change it."""
        touched = tuple(_touched(file) for file in self._files)
        if touched != self._touched:
            self._digest = hashlib.sha256(b"\0".join(_said(file) for file in self._files)).hexdigest()
            self._touched = touched
        return self._digest


def _touched(file: Path) -> tuple[float, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0.0, 0
    return stat.st_mtime, stat.st_size


def _said(file: Path) -> bytes:
    try:
        if file.suffix == ".kicad_pro":
            return repr(read_project(file if file.exists() else None, [])).encode()
        return file.read_bytes()
    except (OSError, StackwrightError):
        return b""
