"""Style sheets and scripts of the pages. Imports nothing heavy: the page in KiCad needs them before any check."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
DRAWING = Path(__file__).parents[1] / "drawing"
STYLE_SHEETS = (
    *(TEMPLATES / f"{name}.css" for name in ("report", "stackup_box", "board_view", "charts", "side_by_side", "print")),
    DRAWING / "stackup_drawing.css",
)
SCRIPTS = (TEMPLATES / "report.js", TEMPLATES / "board_view.js")
"""In their order; a page's policy lets these run by the hash of them all, and nothing else."""


def style_sheet() -> str:
    """Return the one style of all pages, drawings included."""
    return _joined(STYLE_SHEETS)


def report_script() -> str:
    """Return the script's functions alone: `showReport(element)` and `showBoardViews(element)`."""
    return _joined(SCRIPTS)


@cache
def script() -> str:
    """Return the one script of all pages; it loads nothing, and a page can be read without it."""
    return report_script() + "showReport(document);\nshowBoardViews(document);\n"


@cache
def script_hash() -> str:
    """Return the script's name in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script().encode()).digest()).decode("ascii")


def _joined(files: tuple[Path, ...]) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in files)
