"""The page of references: where it is, and the places of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference"
PAGE = REFERENCE / "README.md"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def block(name: str) -> re.Pattern[str]:
    """Return the pattern of a table's place on the page."""
    return re.compile(rf"(<!-- table: {name} -->\n)([^<]*)(<!-- end -->)")
