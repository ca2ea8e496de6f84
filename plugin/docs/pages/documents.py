"""The documents that limits rest on, and which clauses rest on each."""

from __future__ import annotations

from collections.abc import Iterator

from docs.pages.markdown import Page, facts, folded, link, page, prose, table, title
from drc_rules.requirements.documents import Document, Trust, documents
from stackwright.commands.lookup.shipped import shipped_clauses

WORDS = {
    Trust.PRIMARY: "a standard, or a maker's own guide or data sheet",
    Trust.SECONDARY: "trade press, fabs' capability lists, a figure at second hand",
    Trust.MARKETING: "published to sell; numbers without their conditions",
    Trust.ENGINEERING: "knowledge of the trade; no document was found: never the ground of an error",
}


def pages() -> Iterator[Page]:
    """One page with a section per document."""
    blocks = []
    for trust in Trust:
        blocks += [title(trust.value.capitalize(), 2), WORDS[trust].capitalize() + "."]
        for key, document in documents().items():
            if document.trust == trust:
                blocks += _section(key, document)
    yield page(
        "documents/index",
        title("Documents"),
        "Every number that a board is held against names the document it stands in. How far each document is to be "
        "trusted is said in every report; what rests on no document never makes an error.",
        *blocks,
    )


def _section(key: str, document: Document) -> Iterator[str]:
    yield f"(document-{key})="
    yield title(document.title, 3)
    address = f"<{document.url}>" if document.url else ""
    yield facts(
        [
            ("key", f"`{key}`"),
            ("published by", prose(document.publisher)),
            ("address", address),
            ("read on", document.read_on.isoformat() if document.read_on else ""),
            ("note", prose(document.note)),
        ]
    )
    resting = {s.clause.id: s.clause for s in shipped_clauses() if s.clause.source.document == key}
    if resting:
        rows = [
            (link(c.id, f"clauses/{c.id}"), prose(c.title), prose(c.source.table), prose(c.source.row))
            for c in resting.values()
        ]
        count = f"{len(rows)} clauses rest on it" if len(rows) > 1 else "1 clause rests on it"
        yield folded(count, table(("clause", "it asks", "table", "row"), rows))
