"""Pages written from what the program holds: each module here has a function `pages` that yields those of one kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from docs.pages.markdown import Page

KEPT = ("pages", "_static", "_templates", "__pycache__")
"""Folders next to the pages that are not written by this package."""


def all_pages() -> Iterator[Page]:
    """Every page of every module of this package."""
    for found in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{found.name}")
        if hasattr(module, "pages"):
            yield from module.pages()


def write_pages(folder: Path) -> None:
    """Write all pages below a folder; those that are there already stay untouched, those of former times go.

    Raises:
        ValueError: two pages have the same name, or a page has no folder of its own and might be a user's.
    """
    written: set[Path] = set()
    for page in all_pages():
        path = folder / f"{page.name}.md"
        if path in written or path.parent == folder:
            raise ValueError(f"page {page.name}: written twice, or outside of a folder")
        written.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != page.text:
            path.write_text(page.text, encoding="utf-8")
    for old in folder.glob("*/**/*.md"):
        if old not in written and old.relative_to(folder).parts[0] not in KEPT:
            old.unlink()
