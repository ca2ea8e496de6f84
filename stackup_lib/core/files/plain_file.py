"""The one door through which a file is read: it is a regular file of bounded size, or it is refused.

A link to `/dev/zero` in a user's repository would fill the memory; a terminal, a named pipe or a socket would wait
for ever. What comes from outside, boards, settings, projects, rules, plans, tables, locks and backups, is read here.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 64 * 1024 * 1024
"""What settings, projects, rules, plans and tables may hold; the largest known are of some megabytes."""

MOST_BOARD_BYTES = 1024 * 1024 * 1024
"""What a board may hold; the largest of KiCad's own is of 85 MB."""

LFS = b"version https://git-lfs"
"""How the pointer begins that Git LFS leaves in place of a file."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32 text"),
    (codecs.BOM_UTF32_BE, "UTF-32 text"),
    (codecs.BOM_UTF16_LE, "UTF-16 text"),
    (codecs.BOM_UTF16_BE, "UTF-16 text"),
    (codecs.BOM_UTF8, "UTF-8 text with a byte order mark in front"),
)
_KINDS = (
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISSOCK, "it is a socket"),
)
_LEAST_PIECE = 64 * 1024
_HOW = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""So that what takes a file's place between the look and the opening is not waited for either."""


def read_plain(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return what a file holds.

    Args:
        path: the file; links are followed.
        most_bytes: what is larger is refused before it is read.

    Raises:
        OSError: there is none, it cannot be read, it is no regular file, it is too large, or Git LFS has left only its
            pointer; `strerror` says which.
    """
    refuse_unplain(path)
    handle = os.open(path, _HOW | _AT_ONCE)
    with os.fdopen(handle, "rb", buffering=0) as file:
        found = os.fstat(handle)
        _refuse(found)
        if found.st_size > most_bytes:
            raise _too_large(most_bytes)
        parts, left = [], most_bytes + 1
        while left and (part := file.read(min(left, max(found.st_size, _LEAST_PIECE) + 1))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise _too_large(most_bytes)
    content = parts[0] if len(parts) == 1 else b"".join(parts)
    if content.startswith(LFS):
        raise OSError(errno.ENODATA, "it is a pointer of Git LFS, not the file")
    return content


def read_plain_head(path: Path, most_bytes: int) -> bytes:
    """Return the first bytes of a file, however large it is.

    Raises:
        OSError: there is none, it cannot be read, or it is no regular file.
    """
    refuse_unplain(path)
    handle = os.open(path, _HOW | _AT_ONCE)
    with os.fdopen(handle, "rb") as file:
        _refuse(os.fstat(handle))
        return file.read(most_bytes)


def read_plain_text(path: Path, encoding: str = "utf-8", most_bytes: int = MOST_BYTES, errors: str = "strict") -> str:
    r"""Return what a text file holds, with `\n` at the end of every line.

    Args:
        path: the file; links are followed.
        encoding: as of `bytes.decode`.
        most_bytes: what is larger is refused before it is read.
        errors: as of `bytes.decode`.

    Raises:
        OSError: as `read_plain`.
        UnicodeDecodeError: it is no such text.
    """
    return read_plain(path, most_bytes).decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")


def other_encoding(content: bytes) -> str:
    """Return what text that is not plain UTF-8 was saved as, by its first bytes; "" where they do not tell."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    pairs = content[0:2], content[2:4]  # two characters of ASCII, each with a zero before or behind it
    if all(len(two) == 2 and 0 in two and 32 <= sum(two) < 127 for two in pairs) and pairs[0].find(0) == pairs[1].find(
        0
    ):
        return "UTF-16 text"
    return ""


def read_board_bytes(path: Path) -> bytes:
    """Return what a board's file holds; raises `OSError` as `read_plain`."""
    return read_plain(path, MOST_BOARD_BYTES)


def cure_of(error: OSError, otherwise: str) -> str:
    """Return what to do about a file that `read_plain` refused: about a pointer of Git LFS, or otherwise."""
    return "run `git lfs pull`, or in CI check out with LFS" if error.errno == errno.ENODATA else otherwise


def refuse_unplain(path: Path) -> None:
    """Refuse what is no regular file, without opening it.

    Raises:
        OSError: there is nothing, or it is a folder, a device, a pipe or a socket. A link to nothing is no
            `FileNotFoundError`: someone meant a file to be there.
    """
    try:
        found = path.stat()
    except OSError as error:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "the link leads nowhere") from error
        raise
    _refuse(found)


def _refuse(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    for is_kind, what in _KINDS:
        if is_kind(found.st_mode):
            raise OSError(errno.EINVAL, what)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")


def _too_large(most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most_bytes // (1024 * 1024) or 1} MB")
