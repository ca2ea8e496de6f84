"""A page per clause: what it asks, on which document, and which rule decides it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from docs.pages.markdown import Page, facts, link, page, prose, table, title
from docs.pages.requirement_rows import requirement_rows, rows_of
from docs.pages.rules import asked, families, family_title, name_of, rule_of
from drc_rules.requirements.clauses import Clause, Limit, Source
from drc_rules.requirements.documents import documents
from drc_rules.requirements.interfaces import families as interface_families
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.shipped import Shipped, shipped_clauses


def name_of_clause(clause_id: str) -> str:
    """Name of a clause's page."""
    return f"clauses/{clause_id}"


def clause_link(clause_id: str) -> str:
    """Link to a clause's page."""
    return link(clause_id, name_of_clause(clause_id))


def limit_words(limit: Limit) -> str:
    """A limit as text."""
    unit = f" {limit.unit}" if limit.unit else ""
    said = []
    if limit.min is not None and limit.max is not None:
        said.append(f"{limit.min:g} to {limit.max:g}{unit}")
    elif limit.min is not None:
        said.append(f"at least {limit.min:g}{unit}")
    elif limit.max is not None:
        said.append(f"at most {limit.max:g}{unit}")
    if limit.at_least is not None:
        is_tier = limit.unit == "fab tier"
        said.append(f"within the fab tier {limit.at_least}" if is_tier else f"{limit.at_least} or better")
    if limit.at_ghz is not None:
        said.append(f"at {limit.at_ghz:g} GHz")
    if limit.decimals is not None:
        said.append(f"compared at {limit.decimals} decimals")
    if limit.required is not None:
        said.append("has to be there" if limit.required else "must not be there")
    if limit.choices:
        said.append(f"one of {', '.join(limit.choices)}")
    if limit.named:
        said.append(f"met by name: {', '.join(limit.named)}")
    return prose("; ".join(said))


def source_words(source: Source) -> str:
    """A source as a link to its document, with table and row."""
    found = documents().get(source.document)
    head = f"[{prose(found.title)}](#document-{source.document})" if found else prose(source.document)
    table_and_row = [prose(part) for part in (source.table, source.row) if part]
    return ", ".join([head, *table_and_row])


def row_link(key: str) -> str:
    """Link to a row of the collected requirements."""
    return f"[{prose(f'{key} {requirement_rows()[key].title}')}](#requirement-{key.replace('.', '-')})"


def interface_link(interface_id: str) -> str:
    """Link to the family page of an interface, or of a family."""
    if interface_id in {family.id for family in interface_families()}:
        return link(interface_id, f"interfaces/{interface_id}")
    one = interface(interface_id)
    return link(one.title, f"interfaces/{one.family}")


def pages() -> Iterator[Page]:
    """Index and clauses."""
    shipped = sorted(shipped_clauses(), key=lambda s: s.clause.id)
    sections = []
    for family in families():
        of_family = [s for s in shipped if rule_of(s.clause.kind).family == family]
        rows = [
            (s.clause.severity.value, clause_link(s.clause.id), prose(s.clause.title), _rule(s.clause))
            for s in of_family
        ]
        sections += [title(family_title(family), 2), table(("severity", "clause", "it asks", "rule"), rows)]
    by_id = {clause_id: list(group) for clause_id, group in groupby(shipped, key=lambda s: s.clause.id)}
    yield page(
        "clauses/index",
        title("Clauses"),
        f"{len(by_id)} clauses: each one limit, with its severity and the document that it stands in. "
        "[Profiles](/profiles/index.md), [form factors](/forms/index.md) and [interfaces](/interfaces/index.md) ask "
        "them, [rules](/rules/index.md) decide them.",
        *sections,
    )
    for clause_id, found in by_id.items():
        yield _page(clause_id, found)


def _rule(clause: Clause) -> str:
    rule = rule_of(clause.kind)
    return link(rule.code, name_of(rule))


def _page(clause_id: str, found: list[Shipped]) -> Page:
    several = [f"{len(found)} limits share this name; which one holds depends on who asks."] if len(found) > 1 else []
    blocks = []
    for shipped in found:
        blocks += [prose(shipped.clause.title) + ".", _facts(shipped)]
    return page(
        name_of_clause(clause_id),
        f"[Clauses](/clauses/index.md) / {prose(clause_id)}",
        title(clause_id),
        *several,
        *blocks,
        f"In a shell: `stackwright explain {clause_id}`",
        orphan=True,
    )


def _facts(shipped: Shipped) -> str:
    clause = shipped.clause
    rule = rule_of(clause.kind)
    document = documents().get(clause.source.document)
    return facts(
        [
            ("severity", clause.severity.value),
            ("limit", limit_words(clause.limit)),
            ("interface", interface_link(clause.interface) if clause.interface else ""),
            ("basis", clause.basis.value),
            ("source", source_words(clause.source)),
            ("trust", document.trust.value if document else ""),
            ("collected as", ", ".join(map(row_link, rows_of(clause.id)))),
            ("note", prose(clause.note)),
            ("asked by", asked(shipped)),
            ("decided by", f"{link(f'{rule.code} {rule.name}', name_of(rule))}: {prose(rule.summary)}"),
        ]
    )
