"""`stackwright profiles`: the workloads, and what each requires, with its source."""

from __future__ import annotations

from rich.text import Text

from drc_rules.requirements.documents import cite
from drc_rules.requirements.forms import forms
from drc_rules.requirements.interfaces import family, interface
from drc_rules.requirements.profiles.profile import load_profile, profile_names
from drc_rules.requirements.profiles.shipped import clauses_beyond_any_board, clauses_of, shipped_clauses
from stackwright.tables.counts import LABELS, SEVERITY_STYLE
from stackwright.text.output import show
from stackwright.text.page import Column, Page, styled, terminal_console
from stackwright.text.words import count


def list_profiles() -> int:
    """Print every shipped profile and form."""
    page = Page()
    page.line(styled("Workloads and board types", "bold"))
    rows = []
    for name in profile_names():
        profile = load_profile(name)
        rows.append(
            (styled(name, "bold"), profile.title, profile.form or "", count(len(clauses_of(profile)), "requirement"))
        )
    page.rows([Column(), Column(wraps=True), Column(), Column(right=True)], rows)
    page.heading("Form factors")
    page.rows([Column(), Column(wraps=True)], [(styled(f.name, "bold"), f.title) for f in forms().values()])
    page.gap()
    page.line("next, or check a board with --profile NAME:")
    page.verbatim([f"stackwright profiles {profile_names()[-1]}"])
    show(page.text(terminal_console()))
    return 0


def show_profile(name: str, *, verbose: bool = False) -> int:
    """Print what one profile requires, worst first; `verbose` adds what any board is held to, ids and sources.

    Raises:
        ConfigError: no such profile; says what is nearest.
    """
    profile = load_profile(name)
    page = Page()
    page.line(styled(profile.name, "bold"), f"  {profile.title}")
    carried = ", ".join(_carried(profile.interfaces[f], must=f in profile.must_carry) for f in profile.interfaces)
    rows = [("rests on", ", ".join(profile.extends)), ("form", profile.form or ""), ("carries", carried)]
    page.rows([Column(min_width=10), Column(wraps=True)], [row for row in rows if row[1]])
    clauses = clauses_of(profile)
    shown = clauses if verbose else clauses_beyond_any_board(profile)
    page.heading("Requirements", f"{len(shown)}; those of interfaces hold where the board carries them")
    ordered = sorted(shown, key=lambda c: -c.severity.rank)
    grid: list[tuple[str | Text, str | Text]] = []
    for clause in ordered:
        severity = styled(LABELS[clause.severity], SEVERITY_STYLE[clause.severity])
        grid.append((severity, clause.title))
        if verbose:
            grid += [("", styled(clause.id, "cyan")), ("", styled(cite(clause.source), "dim"))]
    page.rows([Column(), Column(wraps=True)], grid)
    if len(shown) < len(clauses):
        general = count(len(clauses) - len(shown), "requirement holds", "requirements hold")
        page.line(styled(f"{general} for any board, too: -v lists them, with ids and sources", "dim"), indent=2)
    page.gap()
    shipped = {one.clause.id for one in shipped_clauses()}
    explained = [f"stackwright explain {clause.id}" for clause in ordered if clause.id in shipped]
    page.line(
        f"next, or check a board with --profile {name}:" if explained else f"next: check a board with --profile {name}"
    )
    page.verbatim(explained[:1])
    show(page.text(terminal_console()))
    return 0


def _carried(interface_id: str, *, must: bool) -> str:
    one = interface(interface_id)
    return one.title if must else f"{one.title} (if any {family(one.family).title})"
