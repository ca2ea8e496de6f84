"""Other programs that are started: found where the machine keeps them, never in the folder that is checked."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path, PureWindowsPath

WINDOWS = "win32"


def program(name: str, environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> str | None:
    """Return where a program lies, by the whole paths of PATH; None where there is none.

    Windows itself looks in the current folder first: a `git.exe` that came with a user's boards would be run. Folders
    that may not be searched hold none, as for a shell.
    """
    known = os.environ if environment is None else environment
    separator, file = (";", f"{name}.exe") if platform == WINDOWS else (os.pathsep, name)
    for folder in known.get("PATH", "").split(separator):
        place = Path(folder.strip('"') if platform == WINDOWS else folder)
        if place.is_absolute() and os.access(place / file, os.X_OK) and (place / file).is_file():
            return str(place / file)
    return None


def opening_command(
    stated: str | None, environment: Mapping[str, str] | None = None, platform: str = sys.platform
) -> list[str]:
    """Return the command that shows a file or an address to the user; empty where `stated` is an empty text.

    Args:
        stated: the user's own command line; None for the system's way.
        environment: variables of the environment.
        platform: as `sys.platform`.
    """
    known = os.environ if environment is None else environment
    if stated is not None:
        return words_of(stated, platform)
    if platform == WINDOWS:
        root = PureWindowsPath(known.get("SYSTEMROOT") or r"C:\Windows")
        return [str(root / "System32" / "rundll32.exe"), "url.dll,FileProtocolHandler"]
    return ["/usr/bin/open"] if platform == "darwin" else ["xdg-open"]


def words_of(line: str, platform: str = sys.platform) -> list[str]:
    r"""Return the words of a command line; on Windows `\` is part of a path."""
    if platform != WINDOWS:
        return shlex.split(line)
    return [
        word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word for word in shlex.split(line, posix=False)
    ]


def command_line(words: Iterable[str], platform: str = sys.platform) -> str:
    """Return words as one line that the user's shell takes apart again."""
    return subprocess.list2cmdline(words) if platform == WINDOWS else shlex.join(words)
