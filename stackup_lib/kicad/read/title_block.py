"""The title block of a board file: title, date, revision and company, as its drawing sheet shows them."""

import re
from pathlib import Path

from stackup_lib.core.files.plain_file import read_plain_head
from stackup_lib.core.record import record
from stackup_lib.kicad.syntax.tree import unquoted

HEAD_BYTES = 65_536
"""KiCad writes the title block before the layers, among the first lines."""

_BLOCK = r'(?s)\(\s*title_block((?:\s*\((?:[^()"]|"(?:[^"\\]|\\.)*")*\))*)\s*\)'
_FIELD = r'(?s)\(\s*(title|date|rev|company)\s+("(?:[^"\\]|\\.)*"|[^\s()]+)\s*\)'


@record
class TitleBlock:
    """What the sheet says of the board; empty where it says nothing. `date` is free text, as the user typed it."""

    title: str = ""
    date: str = ""
    rev: str = ""
    company: str = ""


def title_block(text: bytes) -> TitleBlock:
    """Return the title block of a board file's bytes; empty where it has none."""
    found = re.search(_BLOCK, text[:HEAD_BYTES].decode("utf-8", "replace"))
    if found is None:
        return TitleBlock()
    return TitleBlock(**{name: unquoted(value).strip() for name, value in re.findall(_FIELD, found[1])})


def read_title_block(path: Path) -> TitleBlock:
    """Return the title block of a board file; empty where it has none or cannot be read."""
    try:
        return title_block(read_plain_head(path, HEAD_BYTES))
    except OSError:
        return TitleBlock()
