"""Which boards read a file: as their own, by the names in their settings, or by a link that leads to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from drc_rules.settings import FILE_NAME
from drc_rules.settings.named_files import named_by_settings
from stackup_lib.core.files.file_names import composed

OF_BOARD = (".kicad_pcb", ".kicad_pro", ".kicad_dru")
MOST_LINKS = 40
"""Links that are followed for one file, as Linux does."""


def boards_reading(boards: Iterable[Path], is_meant: Callable[[Path], bool]) -> Iterator[Path]:
    """Yield the boards whose check reads a file that is meant, or reaches one of its files by a link that is meant.

    Args:
        boards: paths of boards.
        is_meant: tells it of a path whose folder has no links.
    """
    by_settings: dict[Path, bool] = {}
    for board in boards:
        settings = board.with_name(FILE_NAME)
        if settings not in by_settings:
            named = (place for file in named_by_settings(settings) for place in (file.place, file.real))
            by_settings[settings] = _is_any_meant((settings, *named), is_meant)
        if by_settings[settings] or _is_any_meant((board.with_suffix(suffix) for suffix in OF_BOARD), is_meant):
            yield board


def _is_any_meant(files: Iterable[Path], is_meant: Callable[[Path], bool]) -> bool:
    return any(is_meant(step) for file in files for step in reached_through(file))


def reached_through(path: Path) -> Iterator[Path]:
    """Yield every link on the way to a file, of the file or of a folder, then the file, which need not be there.

    The folder of each has no links.
    """
    whole = Path.cwd() / path
    here, left, links = Path(whole.anchor), list(whole.parts[:0:-1]), 0
    while left:
        part = left.pop()
        here = here.parent if part == os.pardir else here / part
        if links < MOST_LINKS and here.is_symlink():
            links += 1
            yield here
            target = here.parent / here.readlink()
            here, left = Path(target.anchor), [*left, *target.parts[:0:-1]]
    yield here


def file_key(path: Path) -> str:
    """Return what two spellings of a file have in common: settings may name it in other case than git."""
    return composed(path.as_posix()).casefold()
