"""For what a stackup is sought: profile, form factor and interfaces, and the board that stands."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from drc_rules.engine.check import prepare
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Overrides
from drc_rules.facts.net_interfaces import assign_nets
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.forms import Form
from drc_rules.requirements.interfaces import interface
from drc_rules.requirements.profiles.profile import Profile, assemble, load_form, load_profile
from drc_rules.settings.config import Config
from drc_rules.settings.goals_choices import GoalChoices
from stackup_lib.board.board import Board
from stackup_lib.core.record import record


@record
class Selection:
    """Profile, form factor and interfaces, resolved as for a check, and the clauses that follow from them.

    Attributes:
        assumed: why these interfaces, where neither user nor board nor the type of board names one; else "".
    """

    profile: Profile | None
    form: Form | None
    interfaces: tuple[str, ...]
    clauses: tuple[Clause, ...]
    assumed: str = ""

    def of_kind(self, kind: str) -> tuple[Clause, ...]:
        """Return the clauses of a kind."""
        return tuple(clause for clause in self.clauses if clause.kind == kind)

    def titles(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return what the clauses of these ids require, as reports say it."""
        by_id = {clause.id: clause.title for clause in self.clauses}
        return tuple(by_id[one] for one in ids)

    def largest(self, kind: str) -> Clause | None:
        """Return the clause of a kind with the largest minimum."""
        found = [clause for clause in self.of_kind(kind) if clause.limit.min is not None]
        return max(found, key=lambda c: c.limit.min or 0.0, default=None)


@record
class BoardProject:
    """A board that stands, with its settings.

    Attributes:
        settings_path: the file of the settings where it is not the one next to the board.
    """

    board: Board
    config: Config
    context: Context
    settings_path: Path | None = None


def selection_for(
    profile: str | None, form: str | None, choices: GoalChoices | None = None, project: BoardProject | None = None
) -> Selection:
    """Resolve a profile, a form factor and the interfaces that such a board carries.

    Raises:
        ConfigError: one of them is not known; says which is nearest.
    """
    found = load_profile(profile) if profile else None
    form_name = form or (found.form if found else None)
    used = load_form(form_name) if form_name else None
    said = {interface(one).family: one for one in (choices.interfaces if choices else ())}
    carried = {family: found.interfaces[family] for family in found.must_carry} if found else {}
    routed = {interface(one).family: one for one in (project.context.assignment.interfaces() if project else ())}
    generations = {**carried, **routed, **said}
    ids, assumed = tuple(generations.values()), ""
    if found and project is None and not ids:
        ids, assumed = tuple(found.design_for), found.design_for_reason
    return Selection(found, used, ids, assemble(found, used, ids, ()).clauses, assumed)


def project_of(
    board: Board,
    config: Config,
    options: Overrides,
    interfaces: tuple[str, ...] = (),
    settings_path: Path | None = None,
) -> BoardProject:
    """Return a board with its settings, resolved as `check` resolves it.

    `interfaces` says of which generation the board's nets are, where neither settings nor a name says so.
    `settings_path` is the file of `config` where that is not the one next to the board.
    """
    context, _, profile = prepare(board, config, options)
    if interfaces:
        said = {interface(one).family: one for one in interfaces}
        expected = {**(profile.interfaces if profile else {}), **said}
        context = context.under(context.purpose, assign_nets(board, config, expected, context.assignment.links))
    return BoardProject(board, config, context, settings_path)
