"""Design rules of a page's table as a file to download, without another file."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from stackup_lib.board.planned import PlannedRule
from stackup_lib.core.errors import StackwrightError
from stackup_lib.kicad.write.rules_writer import replace_rules


def rules_link(rules: Sequence[PlannedRule], file: str, format_version: int) -> str:
    """Return `.kicad_dru` rules as a `data:` address; empty where they cannot be written.

    Args:
        rules: width and gap per net class and layer.
        file: name for the download.
        format_version: of the board file that KiCad reads them with.
    """
    try:
        text = replace_rules(None, tuple(rules), label=file, format_version=format_version)
    except StackwrightError:
        return ""
    return "data:application/octet-stream;base64," + base64.b64encode(text).decode("ascii")
