"""Interfaces: a table of all, a page per family with every number and the document it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from docs.pages.clauses import limit_words
from docs.pages.forms import document_link
from docs.pages.markdown import Page, code, facts, link, number, page, prose, table, title, tree
from docs.pages.rules import name_of, rule_of
from drc_rules.requirements.interfaces import Interface, families
from stackwright.commands.setup.settings_schema import described

SKIPPED = ("id", "title", "family", "words", "rate", "rate_unit", "modulation", "sources", "note", "clause")
"""Fields that stand elsewhere on the page than in the table of numbers."""


def pages() -> Iterator[Page]:
    """Index and families."""
    rows = [
        (
            link(one.title, f"interfaces/{family.id}"),
            code(one.id),
            f"{one.rate:g} {one.rate_unit} {one.modulation}",
            number(one.nyquist_ghz),
            number(one.impedance_diff_ohm or one.impedance_single_ohm),
            number(one.channel_loss_db),
            number(one.stub_limit_mm),
        )
        for family in families()
        for one in family.interfaces
    ]
    meanings = {name: said for name, said in described(Interface)[1].items() if name not in SKIPPED}
    yield page(
        "interfaces/index",
        title("Interfaces"),
        "The signalling standards that Stackwright knows. The page of a family gives every number with the document "
        "that it stands in, and what each workload asks.",
        table(("interface", "id", "rate", "Nyquist GHz", "ohm", "channel loss dB", "stub limit mm"), rows),
        title("What the numbers mean", 2),
        table(("number", "meaning"), [(code(name), prose(said)) for name, said in meanings.items()]),
        tree(f"interfaces/{family.id}" for family in families()),
    )
    for family in families():
        blocks = [block for one in family.interfaces for block in _section(one)]
        yield page(
            f"interfaces/{family.id}",
            title(family.title),
            "Laminate, foil, stubs and return paths can matter to it."
            if family.fast
            else "Too slow for laminate, foil or stubs to matter.",
            *blocks,
        )


def _section(one: Interface) -> Iterator[str]:
    yield title(one.title, 2)
    yield facts(
        [
            ("id", code(one.id)),
            ("rate", f"{one.rate:g} {one.rate_unit}, {one.modulation}"),
            ("note", prose(one.note)),
        ]
    )
    rows = []
    for name, value in one.model_dump(exclude_none=True, exclude=set(SKIPPED)).items():
        parts = {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, Mapping) else {name: value}
        rows += [(code(k), prose(_shown(v)), document_link(one.document_of(k))) for k, v in parts.items()]
    yield table(("what", "value", "source"), rows)
    asked = [
        (
            row.severity.value,
            ", ".join(row.workloads),
            prose(row.title),
            limit_words(row.limit),
            document_link(row.source.document),
            link(rule_of(row.kind).code, name_of(rule_of(row.kind))),
        )
        for row in one.clause
    ]
    if asked:
        yield "What is asked of it:"
        yield table(("severity", "workloads", "it asks", "limit", "source", "rule"), asked)


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return " to ".join(_shown(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
