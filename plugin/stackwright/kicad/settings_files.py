"""Whether the files of a board say something else than before: what a check reads besides it, and its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

from drc_rules.settings import FILE_NAME
from drc_rules.settings.named_files import named_by_settings
from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_board_bytes, read_plain


class SettingsFiles:
    """Looks at settings, what they name, project and design rules of a board; reads them only when touched."""

    def __init__(self, board: Path) -> None:
        self._files = (board.with_name(FILE_NAME), board.with_suffix(".kicad_dru"), board.with_suffix(".kicad_pro"))
        self._named: tuple[Path, ...] = ()
        self._touched: tuple[tuple[float, int], ...] = ()
        self._digest = ""

    def digest(self) -> str:
        """Return a fingerprint of what they say; KiCad's own rewriting of a project does not change it."""
        if self._stamps() != self._touched:
            self._named = tuple(file.real for file in named_by_settings(self._files[0]))
            self._touched = self._stamps()  # first: what is written while they are read is seen at the next look
            said = (_said(file) for file in (*self._files, *self._named))
            self._digest = hashlib.sha256(b"\0".join(said)).hexdigest()
        return self._digest

    def _stamps(self) -> tuple[tuple[float, int], ...]:
        return tuple(_touched(file) for file in (*self._files, *self._named))


class BoardFile:
    """Looks at the board's own file: KiCad shows its own copy, and does not notice when another program writes it."""

    def __init__(self, board: Path) -> None:
        self._file = board
        self._known: set[str] = set()

    @property
    def stamp(self) -> str:
        """Something that is another after the file was written."""
        return repr(_touched(self._file))

    def checked(self, content: bytes) -> None:
        """Take note of the board that KiCad hands over for a check, and of what the file says then."""
        self._known = {hashlib.sha256(content).hexdigest(), self._digest()}

    def is_written(self) -> bool:
        """Return whether the file says what neither it nor KiCad said before; also when it is gone."""
        return bool(self._known) and self._digest() not in self._known

    def know(self, content: bytes) -> None:
        """Take note of what KiCad's next save will write, or its last has written."""
        self._known.add(hashlib.sha256(content).hexdigest())

    def _digest(self) -> str:
        try:
            return hashlib.sha256(read_board_bytes(self._file)).hexdigest()
        except OSError:
            return ""


def _touched(file: Path) -> tuple[float, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0.0, 0
    return stat.st_mtime, stat.st_size


def _said(file: Path) -> bytes:
    try:
        if file.suffix == ".kicad_pro":
            from stackup_lib.kicad.read.project import read_project

            return repr(read_project(file if file.exists() else None, [])).encode()
        return read_plain(file)
    except (OSError, StackwrightError):
        return b""
