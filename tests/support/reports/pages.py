"""A report as a page: what a reader of it sees, and how large it may be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "br", "img", "input", "hr", "path"}
CELLS = {"td", "th", "dt", "dd", "br"}
LARGEST_BYTES = 2_000_000


class Page(HTMLParser):
    """Elements with their attributes, the text outside styles, and whether tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag in CELLS:
            self.words.append(" ")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        """The page's text with white space as a browser shows it."""
        return " ".join("".join(self.words).split())

    def all(self, *tags: str) -> Iterator[dict[str, str]]:
        """Attributes of every element with one of these names."""
        return (attributes for tag, attributes in self.elements if tag in tags)


def pictures(tmp_path: Path) -> Path:
    """Where pictures are kept."""
    target = Path(os.environ.get("STACKWRIGHT_PICTURES") or tmp_path)
    target.mkdir(parents=True, exist_ok=True)
    return target
