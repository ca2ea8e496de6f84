"""The project's own Markdown, unchanged: the guide, CI, changelog. Only links are turned to these pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.pages.markdown import Page, page

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
CI = ROOT / "plugin" / "ci" / "README.md"
CHANGES = ROOT / "CHANGELOG.md"
SECURITY = ROOT / "SECURITY.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
TEXTS = ROOT / "plugin" / "docs" / "pages" / "texts"
GUIDE = TEXTS / "guide"
REFERENCE = ROOT / "fixtures" / "reference" / "README.md"
HONESTY, FUZZING, MUTATION = (REFERENCE.with_name(f"{name}.md") for name in ("honesty", "fuzzing", "mutation"))

PAGES = {
    README: "index",
    CI: "ci/index",
    CHANGES: "changelog/index",
    SECURITY: "security/index",
    REFERENCE: "validation/reference",
    HONESTY: "validation/honesty",
    FUZZING: "validation/fuzzing",
    MUTATION: "validation/mutation",
    CONTRIBUTING: "development/index",
    **{path: f"development/{path.stem}" for path in TEXTS.glob("*.md")},
    **{path: f"guide/{path.stem}" for path in GUIDE.glob("*.md")},
}
COPIED = (".png", ".svg", ".yml")
"""Endings of files that `html_extra_path` puts next to the pages."""

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
"""What `docs.sessions` needs to follow a page of the guide, and no reader."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def pages() -> Iterator[Page]:
    """Guide, CI, changelog, and what is promised of safety."""
    for path in sorted(GUIDE.glob("*.md")):
        yield page(PAGES[path], COMMENT.sub("", taken(path)))
    yield page("ci/index", taken(CI))
    yield page("changelog/index", taken(CHANGES))
    yield page("security/index", taken(SECURITY))


def taken(path: Path) -> str:
    """Return a Markdown file of the project with its links turned to these pages.

    Raises:
        ValueError: a link leads to a file that is not among the pages.
    """
    parts = FENCED.split(path.read_text(encoding="utf-8"))
    return "".join(
        part if part.startswith("```") else LINK.sub(lambda m: _turned(path, m), part) for part in parts
    ).strip()


def _turned(path: Path, found: re.Match[str]) -> str:
    picture, text, target = found.groups()
    if re.match(r"https?://|[#/]", target):
        return found[0]
    file = (path.parent / target).resolve()
    if file in PAGES:
        return f"[{text}](/{PAGES[file]}.md)"
    if file.suffix == ".json":
        return f"[{text}](/formats/{file.stem}.md)"
    if file.suffix not in COPIED or not file.is_file():
        raise ValueError(f"{path}: no page for the link to {target}")
    if picture:
        return f'<img src="../{file.name}" alt="{text}">'
    return f'<a href="../{file.name}">{text.strip("`")}</a>'
