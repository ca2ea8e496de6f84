"""The folder of this user for what can be made again, and the names of a board's files in it."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

MOST_NAME = 50
"""Characters of a board's name in the names of its files in the cache; one takes up to four bytes."""

OTHERS_MAY_WRITE = 0o022


def name_of(board: Path) -> str:
    """Return a name for a board's files in the cache: its own, and what tells it from others of that name.

    Long names are cut, for file systems take 255 bytes; so is what follows a dot: `aux.x` is a device to Windows.
    """
    known = hashlib.sha256(os.fsencode(board)).hexdigest()[:8]
    return f"{board.stem.partition('.')[0][:MOST_NAME]}-{known}"


def cache_folder() -> Path:
    """Return the folder of this user for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "stackwright"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "stackwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "stackwright"


def is_private(folder: Path) -> bool:
    """Return whether only this user writes to a folder: what lies in it is trusted. Windows keeps others out by itself.

    Raises:
        OSError: the folder is not there.
    """
    if not hasattr(os, "getuid"):
        return True
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & OTHERS_MAY_WRITE
