"""A page per form factor: outline, thickness, power and what it asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from docs.pages.clauses import clause_link
from docs.pages.markdown import Page, facts, link, number, page, prose, table, title, tree
from docs.pages.rules import name_of, rule_of
from drc_rules.requirements.documents import documents
from drc_rules.requirements.forms import Form, forms


def name_of_form(name: str) -> str:
    """Name of a form factor's page."""
    return f"forms/{name}"


def pages() -> Iterator[Page]:
    """Index and form factors."""
    rows = [
        (
            link(name, name_of_form(name)),
            prose(form.title),
            _size(form),
            _range(form) or number(form.thickness_mm),
            number(form.max_power_w),
        )
        for name, form in forms().items()
    ]
    yield page(
        "forms/index",
        title("Form factors"),
        'What a form factor asks of outline and thickness: `form = "NAME"` in `stackwright.toml`, or `--form NAME`.',
        table(("form", "title", "size mm", "thickness mm", "power W"), rows),
        tree(name_of_form(name) for name in forms()),
    )
    for form in forms().values():
        yield _page(form)


def _page(form: Form) -> Page:
    tolerance = f" ± {form.size_tolerance_mm:g} mm a side" if form.size_tolerance_mm else ""
    values: list[tuple[str, str, Sequence[str]]] = [
        ("size", f"{_size(form)} mm{tolerance}" if form.size_mm else "", ("size_mm",)),
        ("thickness", f"{number(form.thickness_mm)} mm" if form.thickness_mm else "", ("thickness_mm",)),
        ("thickness range", f"{_range(form)} mm" if form.thickness_range_mm else "", ("thickness_range_mm",)),
        ("layers to start with", f"{form.layer_count}" if form.layer_count else "", ("layer_count",)),
        ("connector", prose(form.connector), ("connector",)),
        ("power", f"{number(form.max_power_w)} W" if form.max_power_w else "", ("max_power_w",)),
    ]
    rows = [(name, value, document_link(form.document_of(field[0]))) for name, value, field in values if value]
    clauses = []
    for clause in form.clauses():
        rule = rule_of(clause.kind)
        decided = link(rule.code, name_of(rule))
        clauses.append((clause.severity.value, clause_link(clause.id), prose(clause.title), decided))
    return page(
        name_of_form(form.name),
        title(form.title),
        facts([("name", f"`{form.name}`"), ("note", prose(form.note))]),
        table(("what", "value", "source"), rows),
        *(
            [title("Clauses", 2), table(("severity", "clause", "it asks", "rule"), clauses)]
            if clauses
            else ["No size or thickness of it is published, so it asks nothing of either."]
        ),
    )


def document_link(key: str) -> str:
    """Link to a document by its key."""
    found = documents().get(key)
    return f"[{prose(found.title)}](#document-{key})" if found else prose(key)


def _size(form: Form) -> str:
    if form.size_mm is None:
        return ""
    width, height = form.size_mm
    return f"{'at most ' if form.size_is_greatest else ''}{width:g} x {height:g}"


def _range(form: Form) -> str:
    return "{:g} to {:g}".format(*form.thickness_range_mm) if form.thickness_range_mm else ""
