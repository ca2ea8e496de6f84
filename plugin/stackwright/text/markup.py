"""Text that Markdown shows as it is."""

from __future__ import annotations

import re

from stackwright.text.words import clean

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~$!&@]|(?<=:)//|(?i:www)\.")


def escape(text: str) -> str:
    """Return text that Markdown shows as it is: no markup, no link, no mention."""
    return _SPECIAL.sub(_escaped, clean(text))


def _escaped(found: re.Match[str]) -> str:
    special = {
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
        "@": "@<!-- -->",
        "//": "&#47;&#47;",
        "$": "&#36;",
        "|": "&#124;",
    }
    if found[0].endswith("."):
        return f"{found[0][:-1]}&#46;"
    return special.get(found[0], f"\\{found[0]}")
