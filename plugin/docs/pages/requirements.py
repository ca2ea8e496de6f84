"""The collected requirements: every line of the texts to its row, every row to its clauses, and what has no row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from docs.pages.clauses import clause_link, row_link, source_words
from docs.pages.markdown import Page, facts, folded, page, prose, table, title
from docs.pages.requirement_rows import (
    Row,
    document_of_text,
    places_of,
    reached,
    requirement_rows,
    requirement_texts,
    rows_of,
)
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import documents
from drc_rules.requirements.profiles.shipped import shipped_clauses

SHOWN = 8
"""More clauses than these are folded."""


@cache
def clauses() -> dict[str, Clause]:
    """One clause of each id."""
    return {shipped.clause.id: shipped.clause for shipped in sorted(shipped_clauses(), key=lambda s: s.clause.id)}


def pages() -> Iterator[Page]:
    """One page: texts, rows, and clauses that stand in no row."""
    blocks = [block for key, row in requirement_rows().items() for block in _row(key, row)]
    own = [
        (clause_link(one.id), source_words(one.source), _trust(one))
        for one in clauses().values()
        if not rows_of(one.id)
    ]
    yield page(
        "requirements/index",
        title("Requirements"),
        f"What five texts ask of boards for AI, in {len(requirement_rows())} rows, and what became of each: a "
        "clause, or the reason why no board file can say it. It holds both ways: every line of a text is accounted "
        "for, and a clause stands in a row or names a document of its own. The texts themselves are not repeated.",
        title("From the texts to the rows", 2),
        *(_text(key) for key in requirement_texts()),
        title("From the rows to the clauses", 2),
        *blocks,
        title("Clauses that no row asks for", 2),
        f"{len(own)} clauses rest on their own source: what the board's files state, what fabs make, and physics.",
        table(("clause", "source", "grade"), own),
    )


def _text(key: str) -> str:
    text, document = requirement_texts()[key], document_of_text(key)
    rows = [
        (lines, prose(one.says), ", ".join(map(row_link, one.rows)) or prose(one.reason))
        for lines, one in text.at.items()
    ]
    summary = f"{document.publisher}: {document.title} ({document.trust.value}, {text.lines} lines)"
    return folded(summary, table(("line", "says", "row, or why none"), rows))


def _row(key: str, row: Row) -> Iterator[str]:
    yield f"(requirement-{key.replace('.', '-')})="
    yield title(f"{key} {row.title}", 3)
    found = [clause_link(one.id) for one in clauses().values() if reached(row.clauses, one.id)]
    words = ", ".join(found)
    yield facts(
        [
            ("texts", _places(key)),
            ("clauses", words if len(found) <= SHOWN else ""),
            ("not in a board file", prose(row.declared_only)),
            ("note", prose(row.note)),
        ]
    )
    if len(found) > SHOWN:
        yield folded(f"{len(found)} clauses", words)


def _places(key: str) -> str:
    by_text: dict[str, list[str]] = {}
    for place in places_of(key):
        by_text.setdefault(place.text, []).append(place.lines)
    said = "; ".join(
        f"{prose(document_of_text(text).title)}, line{'s' if len(at) > 1 else ''} {', '.join(at)}"
        for text, at in by_text.items()
    )
    return said or "our own reading: how a KiCad board shows the rows above"


def _trust(clause: Clause) -> str:
    return documents()[clause.source.document].trust.value
