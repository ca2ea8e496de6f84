"""Nothing that the requirement documents state is lost: every line of a text has a row or a reason, every row a
clause or a reason, and every clause a row or a document of its own."""

from __future__ import annotations

from fnmatch import fnmatchcase

from docs.pages.requirement_rows import (
    document_of_text,
    places_of,
    reached,
    requirement_rows,
    requirement_texts,
    templates,
)
from drc_rules.requirements.clauses import Basis, Clause, Severity
from drc_rules.requirements.documents import Trust, documents
from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import families, interface_ids
from drc_rules.requirements.profiles.profile import assemble, load_profile, profile_names
from tests.support.each import each

TABLE_ROWS = [f"1.{row}" for row in range(1, 31)]
DEPLOYMENTS = ["edge", "workstation", "pcie", "sxm-oam", "rack", "h100", "b200", "nvswitch", "pre-training"]
INTERFACES = ["nvlink4", "nvlink5", "pcie4", "pcie5", "pcie6", "112g-224g", "power-planes"]
IMPLICIT = ["layers", "via-tokens", "no-field", "copper-classes", "sublayers", "stubs", "thermal-vias"]
CONTRADICTIONS = [f"C{number}" for number in range(1, 22)]
ENCODING = ["copper", "fab-tiers", "stubs", "tg", "foil", "tolerance", "budgets", "gen5-page"]
EXPECTED = (
    TABLE_ROWS
    + [f"2.{name}" for name in DEPLOYMENTS]
    + [f"3.{name}" for name in INTERFACES]
    + [f"4.{name}" for name in IMPLICIT]
    + CONTRADICTIONS
    + [f"5.1.{name}" for name in ENCODING]
)


def all_clauses() -> dict[str, list[Clause]]:
    """Every clause that any board can meet: each profile with all interfaces, with none, and of unknown generation."""
    fast = [family.id for family in families() if family.fast]
    found: dict[str, list[Clause]] = {}
    for name in profile_names():
        profile = load_profile(name)
        for present, open_families in ((interface_ids(), []), ([], fast), ([], [])):
            for clause in assemble(profile, None, present, open_families).clauses:
                found.setdefault(clause.id, []).append(clause)
    for form in forms().values():
        for clause in form.clauses():
            found.setdefault(clause.id, []).append(clause)
    return found


CLAUSES = all_clauses()


def test_every_row_of_the_requirements_is_mapped_and_no_other() -> None:
    """A row without a decision is a gap; a key that is no row is a slip."""
    assert sorted(requirement_rows()) == sorted(EXPECTED)


@each(key=EXPECTED)
def test_a_row_says_what_became_of_it(key: str) -> None:
    """Clauses, or the reason why no file can say it."""
    row = requirement_rows()[key]
    assert row.clauses or row.declared_only


@each(key=EXPECTED)
def test_every_clause_that_a_row_names_exists(key: str) -> None:
    """An id that no profile, interface or form has would be an empty promise."""
    known = [*CLAUSES, *templates()]
    missing = [p for p in requirement_rows()[key].clauses if not any(fnmatchcase(one, p) for one in known)]
    assert missing == []


def test_every_requirement_clause_stands_in_some_row() -> None:
    """A clause that no document row requires would be our own invention; likewise one that cites one of the texts."""
    patterns = [pattern for row in requirement_rows().values() for pattern in row.clauses]
    demanded = [
        cid
        for cid, same in CLAUSES.items()
        if any(c.basis is Basis.REQUIREMENT or c.source.document in requirement_texts() for c in same)
    ]
    assert [cid for cid in demanded if not reached(patterns, cid)] == []


def test_a_clause_without_a_row_has_a_source_of_its_own() -> None:
    """Document and what stands in it: a limit that cites nothing at all has no source."""
    patterns = [pattern for row in requirement_rows().values() for pattern in row.clauses]
    own = [c for cid, same in CLAUSES.items() if not reached(patterns, cid) for c in same]
    assert own
    assert [c.id for c in own if c.source.document not in documents() or not (c.source.table or c.source.row)] == []


@each(key=requirement_texts)
def test_every_line_of_a_text_is_accounted_for_once(key: str) -> None:
    """From the first line to the last, without a gap or an overlap: a row that keeps it, or a reason why none does."""
    text = requirement_texts()[key]
    numbers: list[int] = []
    for lines, one in text.at.items():
        first, _, last = lines.partition("-")
        numbers += range(int(first), int(last or first) + 1)
        assert bool(one.rows) != bool(one.reason), lines
        assert set(one.rows) <= set(requirement_rows()), lines
    assert numbers == list(range(1, text.lines + 1))
    assert document_of_text(key).title


@each(key=[key for key in EXPECTED if not key.startswith(("4.", "5.1."))])
def test_every_row_comes_from_some_line(key: str) -> None:
    """A row that no text requires would be our own; sections 4 and 5.1 are, and say so."""
    assert places_of(key)


def test_every_clause_names_a_known_document() -> None:
    """The report cites publisher and title, so the key must be in documents.toml."""
    unknown = {c.source.document for same in CLAUSES.values() for c in same} - set(documents())
    assert unknown == set()


def test_every_requirement_names_table_or_row() -> None:
    """A reader can look it up."""
    bare = [
        c.id
        for same in CLAUSES.values()
        for c in same
        if c.basis in (Basis.REQUIREMENT, Basis.FAB) and not (c.source.table or c.source.row)
    ]
    assert bare == []


def test_no_error_rests_on_a_number_without_a_document() -> None:
    """Engineering knowledge may warn; it never fails a board."""
    unsourced = [
        c.id
        for same in CLAUSES.values()
        for c in same
        if c.severity is Severity.ERROR and documents()[c.source.document].trust is Trust.ENGINEERING
    ]
    assert unsourced == []


def test_engineering_knowledge_does_appear_as_warnings() -> None:
    """Guards the test above against an empty set."""
    graded = {c.severity for same in CLAUSES.values() for c in same if c.source.document == "engineering"}
    assert Severity.WARNING in graded


def test_clauses_of_one_kind_keep_to_one_unit() -> None:
    """A rule reads the number without converting."""
    units: dict[str, set[str]] = {}
    for same in CLAUSES.values():
        for c in same:
            if c.limit.min is not None or c.limit.max is not None:
                units.setdefault(c.kind, set()).add(c.limit.unit)
    assert {kind: found for kind, found in units.items() if len(found) > 1} == {}
