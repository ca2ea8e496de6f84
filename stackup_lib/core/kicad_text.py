"""Text as KiCad's windows show it: a board file holds `{slash}` for the slash of a label, and a few more such tokens.

Names stay everywhere as the file spells them: only there a slash tells the sheet from the label. They are shown, and
compared with what a user types, in KiCad's spelling. Markup stays as it is (`~{RST}`, `V_{DD}`), as in KiCad's lists.
"""

from __future__ import annotations

import re

TOKENS = {
    "slash": "/",
    "bar": "|",
    "comma": ",",
    "colon": ":",
    "space": " ",
    "dollar": "$",
    "quote": "'",
    "lt": "<",
    "gt": ">",
    "brace": "{",
    "backslash": "\\",
    "dblquote": '"',
    "tab": "\t",
    "return": "\n",
}
"""As KiCad 10 replaces them: `UnescapeString` of its `common/string_utils.cpp`."""

_SLASH = re.compile(r"(?<![$~^_])\{slash\}")
_TOKEN = re.compile(rf"(?<![$~^_])\{{({'|'.join(TOKENS)})\}}")


def with_slashes(text: str) -> str:
    """Return text with the slashes of labels, the only token that KiCad itself writes into the names of nets.

    The others stay: text that is to be pasted, into a shell or into TOML, must not gain a quote or a bar from a name.
    """
    return _SLASH.sub("/", text) if "{slash}" in text else text


def as_kicad_shows(text: str) -> str:
    """Return text without KiCad's tokens; behind `$`, `~`, `^` and `_` a brace begins markup and stays."""
    return _TOKEN.sub(lambda found: TOKENS[found[1]], text) if "{" in text else text
