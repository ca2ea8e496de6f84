"""Where text goes: standard output, or a file that is replaced only when the new text is complete."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from stackup_lib.core.errors import StackwrightError
from stackup_lib.core.files.plain_file import read_plain
from stackup_lib.core.files.sole_writer import HeldError, sole_writer
from stackup_lib.core.files.whole_file import is_held, keep_backup, real_path, write_whole
from stackwright.text.streams import reader_has_gone
from stackwright.text.words import clean

STDOUT = Path("-")
SETTINGS = "stackwright.toml"
CLOSE = "close it there (a browser, a viewer, KiCad), or choose another place"


class OutputError(StackwrightError):
    """The report cannot be written."""


def show(text: str) -> None:
    """Print to standard output; a reader that has gone away (`| head`) changes nothing."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        if reader_has_gone(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        raise OutputError("standard output", f"{error.strerror}", "the report is not complete") from error


def complain(error: StackwrightError) -> None:
    """Print an error as one line to the error stream."""
    sys.stderr.write(clean(f"error: {error}") + "\n")


def remark(words: str) -> None:
    """Print what is worth knowing, and no error, as one line to the error stream."""
    sys.stderr.write(clean(f"note: {words}") + "\n")


def check_target(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse a target that cannot be written, or that is a user's file, before any work is done.

    Raises:
        OutputError: see above.
    """
    if target.is_dir():
        raise OutputError(str(target), "is a folder", "give --output a file name")
    try:
        real = real_path(target)
        above = next(folder for folder in real.parents if folder.exists())
    except OSError as error:
        raise _not_written(target, error) from error
    if not above.is_dir():
        raise OutputError(str(above), "is a file, and no folder for the output", "choose another place")
    if any(_is_same(real, given) for given in inputs):
        raise OutputError(str(target), "is an input of this check", "give --output another name")
    if any(_is_for_design(name) for name in (target.name, real.name)):
        raise OutputError(str(target), "is a name for a design file, not for a report", "give --output another name")


ENDINGS = {
    ".html": ("html",),
    ".json": ("json", "sarif", "gitlab", "kicad"),
    ".sarif": ("sarif",),
    ".xml": ("junit",),
}
"""Formats by the ending that other programs know them by; other endings hold any."""


def check_ending(target: Path, format_: str) -> None:
    """Refuse a name whose ending promises another format, as `report.html` does for text.

    Raises:
        OutputError: see above.
    """
    formats = ENDINGS.get(target.suffix.lower(), (format_,))
    if format_ not in formats:
        step = f"give --format {formats[0]} for it, or another name"
        raise OutputError(str(target), f"is no name for the format {format_}", step)


def _is_same(real: Path, given: Path) -> bool:
    """Tell whether two paths lead to one file, under whatever spelling the file system lets pass."""
    with contextlib.suppress(OSError):
        return real.samefile(given)
    return real == given.resolve()


def _is_for_design(name: str) -> bool:
    """Tell whether some file system takes a name for a design file's: in other case, or with blanks and dots behind."""
    plain = name.casefold().rstrip(". ")
    return Path(plain).suffix.startswith(".kicad_") or plain == SETTINGS


def make_folder(folder: Path) -> None:
    """Make a folder for what a command writes where it is not there, and those that it is in.

    Raises:
        OutputError: it cannot be made.
    """
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise OutputError(str(folder), "is a file", "choose another place") from None
    except OSError as error:
        reason = f"cannot be made ({error.strerror})"
        raise OutputError(str(folder), reason, "choose a place that is there and writable") from error


def write_file(target: Path, text: str | bytes, *, replace: bool = True) -> None:
    """Write a file as a whole or not at all; see `write_whole`.

    Raises:
        OutputError: the folder is not writable, the disk is full; there is a file and `replace` is False.
    """
    content = text.encode("utf-8") if isinstance(text, str) else text
    try:
        real = real_path(target)
        make_folder(real.parent)
        if real.exists() and not real.is_file():  # /dev/stdout, a named pipe
            real.write_bytes(content)
        else:
            write_whole(target, content, replace=replace)
    except FileExistsError:
        raise OutputError(str(target), "is there already", "look at it, then move it away or edit it") from None
    except OSError as error:
        raise _not_written(target, error) from error


def former_of(target: Path) -> bytes | None:
    """Return what stands in a file that will be written over with `write_over`; None where there is none.

    Raises:
        OutputError: it cannot be read.
    """
    try:
        real = real_path(target)
        return read_plain(real) if real.is_file() else None
    except OSError as error:
        raise _not_written(target, error) from error


def write_over(target: Path, text: str, *, former: bytes | None, keep: bool = False) -> Path | None:
    """Write a file whose former content was looked at first, one writer at a time.

    Args:
        target: the file.
        text: all of it.
        former: what `former_of` found; another content by now stays, and the caller's work is refused.
        keep: keep the former content next to it.

    Returns:
        Where the former content is kept.

    Raises:
        OutputError: another program has written it in the meantime, or the disk refuses; nothing was written.
    """
    try:
        make_folder(real_path(target).parent)
        with sole_writer([real_path(target).parent]):
            if former_of(target) != former:
                what = "was written by another program meanwhile; nothing was written"
                raise OutputError(str(target), what, "look at it, then run the command again")
            kept = keep_backup(real_path(target), former) if keep and former not in (None, text.encode()) else None
            write_file(target, text, replace=former is not None or target.exists())
    except OSError as error:
        raise _not_written(target, error) from error
    return kept


def _not_written(target: Path, error: OSError) -> OutputError:
    if isinstance(error, HeldError):
        return OutputError(str(target), "was not written: another Stackwright is writing there", "run it again then")
    if is_held(error):
        return OutputError(
            str(target), "cannot be written: another program holds it, or it is no place to write", CLOSE
        )
    return OutputError(str(target), f"cannot be written ({error.strerror})", "choose a place that is writable")
