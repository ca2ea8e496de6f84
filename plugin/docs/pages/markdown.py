"""Words of MyST Markdown: escaping, links, tables, trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SPECIAL = re.compile(r"([\\*_{}\[\]<>|#~^$&])")
CODE = re.compile(r"(`[^`]+`)")


@dataclass(frozen=True)
class Page:
    """A page: its name below the folder of the documentation, without ending, and its text."""

    name: str
    text: str


def page(name: str, *blocks: str, orphan: bool = False) -> Page:
    """Return a page of blocks, empty ones left out; an orphan is reached by links only, not by the tree at the side."""
    head = "---\norphan: true\n---\n\n" if orphan else ""
    return Page(name, head + "\n\n".join(block for block in blocks if block) + "\n")


def prose(text: str) -> str:
    """Return text whose code in backticks stays code and whose other signs mean themselves."""
    parts = CODE.split(text.strip())
    return "".join(part if CODE.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)


def code(text: str) -> str:
    """Return text as code within a line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def link(text: str, name: str) -> str:
    """Return a link to a page by its name, the text as plain words."""
    return f"[{prose(text)}](/{name}.md)"


def title(text: str, level: int = 1) -> str:
    """Return a heading."""
    return f"{'#' * level} {prose(text)}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already; empty without rows. Columns that are empty throughout go."""
    found = [list(row) for row in rows]
    kept = [i for i in range(len(header)) if any(row[i] for row in found)]
    if not kept:
        return ""
    lines = [[header[i] for i in kept], ["---"] * len(kept), *([row[i] for i in kept] for row in found)]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def number(value: float | None, form: str = "g") -> str:
    """Return a number as a cell shows it; nothing for None."""
    return "" if value is None else f"{value:{form}}"


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    return re.sub(r"(?<!\\)\|", r"\\|", flat)


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values without those that have none."""
    return table(("", ""), [(f"**{name}**", value) for name, value in rows if value])


def tree(names: Iterable[str], *, hidden: bool = True) -> str:
    """Return the tree of the pages below one, by their names."""
    option = ":hidden:\n" if hidden else ""
    return "```{toctree}\n" + option + "\n" + "\n".join(f"/{name}" for name in names) + "\n```"


def block(text: str, language: str = "text") -> str:
    """Return text as a block of code."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def folded(summary: str, content: str) -> str:
    """Return content that opens on a click; the summary is plain words."""
    plain = summary.replace("&", "&amp;").replace("<", "&lt;")
    return f"<details>\n<summary>{plain}</summary>\n\n{content}\n\n</details>"
