"""A page per profile: what a workload, or one type of board for it, asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docs.pages.clauses import clause_link, interface_link, limit_words, source_words
from docs.pages.markdown import Page, facts, link, page, prose, table, title, tree
from docs.pages.rules import families, family_title, name_of, rule_of
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import forms
from drc_rules.requirements.profiles.profile import BOARD, Profile, load_profile, profile_names
from drc_rules.requirements.profiles.shipped import clauses_of


def name_of_profile(name: str) -> str:
    """Name of a profile's page."""
    return f"profiles/{name}"


def clause_tables(clauses: Iterable[Clause]) -> Iterator[str]:
    """Clauses in a table for each family of the rules that decide them."""
    found = list(clauses)
    for family in families():
        rows = []
        for clause in found:
            rule = rule_of(clause.kind)
            if rule.family == family:
                rule_link = link(rule.code, name_of(rule))
                source = source_words(clause.source)
                rows.append((clause.severity.value, clause_link(clause.id), prose(clause.title), source, rule_link))
        if rows:
            yield title(family_title(family), 3)
            yield table(("severity", "clause", "it asks", "source", "rule"), rows)


def pages() -> Iterator[Page]:
    """Index and profiles."""
    names = [*profile_names(), BOARD]
    rows = []
    for name in names:
        profile = load_profile(name)
        rows.append((link(name, name_of_profile(name)), prose(profile.title), profile.workload or "", _form(profile)))
    yield page(
        "profiles/index",
        title("Profiles"),
        'A profile says what a workload, or one type of board for it, asks of a board: `profile = "NAME"` in '
        "`stackwright.toml`, or `--profile NAME`. `stackwright profiles --for ...` finds the one for a model.",
        table(("profile", "for", "workload", "form factor"), rows),
        "`board` holds for any board, also without a profile: the state of the board itself.",
        tree(name_of_profile(name) for name in names),
    )
    for name in names:
        yield _page(load_profile(name))


def _form(profile: Profile) -> str:
    return link(forms()[profile.form].title, f"forms/{profile.form}") if profile.form else ""


def _page(profile: Profile) -> Page:
    carried = [
        (interface_link(i), "always" if family in profile.must_carry else "where the board carries the family")
        for family, i in profile.interfaces.items()
    ]
    source = source_words(profile.interfaces_source) if profile.interfaces_source else ""
    clauses = clauses_of(profile)
    fast = [
        (row.severity.value, link_of_template(row), f"{row.above_ghz:g} GHz", limit_words(row.limit))
        for row in profile.per_interface
    ]
    return page(
        name_of_profile(profile.name),
        title(profile.name),
        prose(profile.title) + ".",
        facts(
            [
                ("workload", profile.workload or "any"),
                ("form factor", _form(profile) or "any, as the settings say"),
                ("rests on", ", ".join(link(base, name_of_profile(base)) for base in profile.extends)),
                ("does not ask", ", ".join(prose(one) for one in profile.dropped)),
            ]
        ),
        *([title("Interfaces", 2), table(("interface", "carried"), carried), f"Source: {source}."] if carried else []),
        title("Clauses", 2),
        f"{len(clauses)} clauses, for a board in the profile's own form factor that carries the interfaces above; "
        "other interfaces on the board bring their own.",
        *clause_tables(clauses),
        *(
            [
                title("For every fast interface without a clause of its own", 2),
                table(("severity", "it asks", "above a Nyquist frequency of", "limit"), fast),
            ]
            if fast
            else []
        ),
    )


def link_of_template(row: Clause) -> str:
    """A clause that is stated for many interfaces, with the rule that decides it."""
    rule = rule_of(row.kind)
    return f"{prose(row.title)} ({link(rule.code, name_of(rule))})"
