"""The documents that limits rest on, and which clauses rest on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from docs.pages.markdown import Page, facts, folded, link, page, prose, table, title
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import Document, Trust, documents
from drc_rules.requirements.interfaces import families
from drc_rules.requirements.profiles.shipped import shipped_clauses
from stackup_lib.materials import Grade, MaterialSource, catalogue, copper_weights, foils, glass_kinds, glass_styles

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
        title("All of them", 2),
        "The grade says how far a document is to be trusted; what rests on it is counted.",
        table(("document", "published by", "grade", "clauses", "figures of interfaces"), _rows()),
        title("Data sheets of materials", 2),
        "What the [catalogue](/materials/index.md) was read from, and how: from the maker's own paper, from a copy of "
        "it, from what others say, or from engineering knowledge.",
        table(("grade", "source", "figures"), _material_rows()),
        *blocks,
    )


def _rows() -> Iterator[tuple[str, ...]]:
    interfaces = [one for family in families() for one in family.interfaces]
    figures = Counter(document for one in interfaces for document in one.sources.values())
    for trust in Trust:
        for key, document in documents().items():
            if document.trust == trust:
                words = f"[{prose(document.title)}](#document-{key})"
                counts = (str(count or "") for count in (len(_resting(key)), figures[key]))
                yield words, prose(document.publisher), trust.value, *counts


def _material_rows() -> Iterator[tuple[str, str, str]]:
    counted = Counter(_material_sources())
    for source in sorted(counted, key=lambda one: (list(Grade).index(one.grade), one.text.casefold(), one.revision)):
        words = ", ".join(part for part in (source.text, source.revision) if part)
        yield source.grade.value, prose(words), str(counted[source])


def _material_sources() -> Iterator[MaterialSource]:
    for laminate in catalogue().laminates:
        yield from (tg.source for tg in laminate.tg)
        points = (*laminate.points, *(point for one in laminate.constructions for point in one.points))
        yield from (point.source for point in points)
    yield from (foil.source for foil in foils())
    yield from (weight.source for weight in copper_weights())
    yield from (style.source for style in glass_styles().values())
    yield from (kind.source for kind in glass_kinds().values())


def _resting(key: str) -> dict[str, Clause]:
    return {s.clause.id: s.clause for s in shipped_clauses() if s.clause.source.document == key}


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
    resting = _resting(key)
    if resting:
        rows = [
            (link(c.id, f"clauses/{c.id}"), prose(c.title), prose(c.source.table), prose(c.source.row))
            for c in resting.values()
        ]
        count = f"{len(rows)} clauses rest on it" if len(rows) > 1 else "1 clause rests on it"
        yield folded(count, table(("clause", "it asks", "table", "row"), rows))
