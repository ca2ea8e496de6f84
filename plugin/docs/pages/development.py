"""How the project is built and extended: CONTRIBUTING.md and the pages in `texts`, with the rooms drawn anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.pages.markdown import Page, page, title, tree
from docs.pages.project import CONTRIBUTING, ROOT, TEXTS, taken
from docs.pages.rooms import TITLES, drawing, rooms_table

NAMES = ("architecture", "adding", "testing", "vocabulary", "releasing")
DRAWING = "<!-- drawing -->"

OURS = re.compile(r"(?<![\w/.-])(?:plugin|drc_rules|stackup_lib|fixtures|\.ci)/[\w/.-]*[\w/]")
"""A path of the project in a text. Folders of tests are left out: an sdist may come without them."""


def pages() -> Iterator[Page]:
    """CONTRIBUTING.md, and behind it a page per text."""
    names = [f"development/{name}" for name in NAMES]
    yield page("development/index", checked(CONTRIBUTING), tree(names, hidden=False))
    for name in NAMES:
        text = checked(TEXTS / f"{name}.md")
        yield page(f"development/{name}", text.replace(DRAWING, drawing()), *(_rooms() if DRAWING in text else ()))


def checked(path: Path) -> str:
    """Return a text with its links turned to these pages.

    Raises:
        ValueError: it names a file or folder of the project that is not there.
    """
    text = taken(path)
    gone = sorted({found for found in OURS.findall(text) if "NAME" not in found and not (ROOT / found).exists()})
    if gone:
        raise ValueError(f"{path}: there is no {', '.join(gone)}")
    return text


def _rooms() -> Iterator[str]:
    """A table per package, with the first line of each room's docstring."""
    yield title("The rooms", 2)
    for package, words in TITLES.items():
        yield title(words.partition(":")[0].partition(",")[0], 3)
        yield rooms_table(package)
