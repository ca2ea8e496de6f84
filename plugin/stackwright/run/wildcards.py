"""Wildcards on the command line, which every shell but those of Windows takes care of."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable
from pathlib import PurePath

OF_BOARD = (".kicad_pcb", ".kicad_pro")


def without_wildcards(arguments: Iterable[str], platform: str = sys.platform) -> list[str]:
    """Return a command line's words with `boards/*.kicad_pcb` as the boards meant, which no shell of Windows does.

    What matches nothing, and what names no board (a wildcard over nets), stays as it is.
    """
    if platform != "win32":
        return list(arguments)
    return [word for argument in arguments for word in _meant(argument)]


def _meant(argument: str) -> list[str]:
    if not argument.endswith(OF_BOARD) or not set("*?") & set(argument):
        return [argument]
    names = sorted(glob.glob(argument.replace("[", "[[]")))  # noqa: PTH207 - pathlib's wants a folder to begin with
    return [name for name in names if not PurePath(name).name.startswith("_autosave-")] or [argument]
