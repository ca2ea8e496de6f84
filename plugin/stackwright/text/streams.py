"""Standard output and error as each system has them: encodings, and readers that go away."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TextIO


def prepare() -> None:
    r"""Let every text be written: what goes into a file or a pipe is UTF-8 on every system, as XML and HTML say of it.

    A terminal, and who sets PYTHONIOENCODING, keeps the encoding; what it lacks is written out as `\u2126`. A closed
    stream, or a missing one as in a Windows program without a console, is replaced by one that swallows all.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if not os.environ.get("PYTHONIOENCODING") and not _is_terminal(sys.stdout):
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def reader_has_gone(error: OSError, platform: str = sys.platform) -> bool:
    """Tell whether the reader has gone (`| head`); Windows calls it an invalid argument."""
    return isinstance(error, BrokenPipeError) or (platform == "win32" and error.errno == errno.EINVAL)
