"""The project's own Markdown, taken as it is: README, CI guide, changelog. Only links are turned to these pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.pages.markdown import Page, page, title, tree

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
CI = ROOT / "plugin" / "ci" / "README.md"
CHANGES = ROOT / "CHANGELOG.md"
SECURITY = ROOT / "SECURITY.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
TEXTS = ROOT / "plugin" / "docs" / "pages" / "texts"
REFERENCE = ROOT / "fixtures" / "reference" / "README.md"
HONESTY, FUZZING, MUTATION = (REFERENCE.with_name(f"{name}.md") for name in ("honesty", "fuzzing", "mutation"))

PAGES = {
    README: "guide/index",
    CI: "ci/index",
    CHANGES: "changelog/index",
    SECURITY: "security/index",
    REFERENCE: "validation/reference",
    HONESTY: "validation/honesty",
    FUZZING: "validation/fuzzing",
    MUTATION: "validation/mutation",
    CONTRIBUTING: "development/index",
    **{path: f"development/{path.stem}" for path in TEXTS.glob("*.md")},
}
COPIED = (".png", ".yml")
"""Endings of files that `html_extra_path` puts beside the pages."""

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def pages() -> Iterator[Page]:
    """Guide, CI, changelog, and what is promised of safety."""
    head, *sections = _sections(taken(README))
    names = [f"guide/{_slug(section)}" for section in sections]
    yield page("guide/index", re.sub(r"\A# .*\n", title("Guide") + "\n", head), tree(names, hidden=False))
    for name, section in zip(names, sections, strict=True):
        yield page(name, re.sub(r"^#(#+ )", r"\1", section, flags=re.MULTILINE))
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
    if re.match(r"https?://|#", target):
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


def _sections(text: str) -> list[str]:
    """Text before the first heading of the second level, and each section from one on; code is no heading."""
    marks = []
    offset = 0
    for part in FENCED.split(text):
        if not part.startswith("```"):
            marks += [offset + m.start() for m in re.finditer(r"^## ", part, re.MULTILINE)]
        offset += len(part)
    return [text[a:b].strip() for a, b in zip([0, *marks], [*marks, len(text)], strict=True)]


def _slug(section: str) -> str:
    heading = section.partition("\n")[0].lstrip("# ")
    return re.sub(r"\W+", "-", heading.lower()).strip("-")
