"""Where text goes: standard output, or a file that is replaced only when the new text is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from stackup_lib.errors import StackwrightError
from stackup_lib.whole_file import real_path, write_whole
from stackwright.words import clean

STDOUT = Path("-")
SETTINGS = "stackwright.toml"


class OutputError(StackwrightError):
    """The report cannot be written."""


def show(text: str) -> None:
    """Print to standard output; a reader that has gone away (`| head`) changes nothing."""
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
    except OSError as error:
        raise OutputError("standard output", f"{error.strerror}", "the report is not complete") from error


def complain(error: StackwrightError) -> None:
    """Print an error as one line to the error stream."""
    sys.stderr.write(clean(f"error: {error}") + "\n")


def check_target(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse a target that cannot be written, or that is somebody's work, before any of ours is done.

    Raises:
        OutputError: see above.
    """
    if target.is_dir():
        raise OutputError(str(target), "is a folder", "give --output a file name")
    if not target.parent.is_dir():
        raise OutputError(str(target), f"there is no folder {target.parent}", "make it first")
    try:
        real = real_path(target)
    except OSError as error:
        raise _not_written(target, error) from error
    if any(real == given.resolve() for given in inputs):
        raise OutputError(str(target), "is an input of this check", "give --output another name")
    if target.suffix.startswith(".kicad_") or target.name == SETTINGS:
        raise OutputError(str(target), "is a name for a design file, not for a report", "give --output another name")


def write_file(target: Path, text: str, *, replace: bool = True) -> None:
    """Write a file as a whole or not at all; see `write_whole`.

    Raises:
        OutputError: the folder is not writable, the disk is full; there is a file and `replace` is False.
    """
    content = text.encode("utf-8")
    try:
        real = real_path(target)
        if real.exists() and not real.is_file():  # /dev/stdout, a named pipe
            real.write_bytes(content)
        else:
            write_whole(target, content, replace=replace)
    except FileExistsError:
        raise OutputError(str(target), "is there already", "look at it, then move it away or edit it") from None
    except OSError as error:
        raise _not_written(target, error) from error


def _not_written(target: Path, error: OSError) -> OutputError:
    return OutputError(str(target), f"cannot be written ({error.strerror})", "choose a place that is writable")
