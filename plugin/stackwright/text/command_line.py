"""A command of Stackwright as the user can paste it."""

from __future__ import annotations

import shlex
import subprocess
import sys


def command_line(name: str, *words: str) -> str:
    """Return `stackwright NAME WORDS` with the quotes that the system's shell needs."""
    line = ["stackwright", name, *words]
    return subprocess.list2cmdline(line) if sys.platform == "win32" else shlex.join(line)


def quoted(word: str) -> str:
    """Return a word, such as the name of a net, with the quotes that the system's shell needs."""
    return subprocess.list2cmdline([word]) if sys.platform == "win32" else shlex.quote(word)
