"""One board under several workloads: what does not depend on the workload is computed once, verdicts included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from drc_rules.engine.decide import run
from drc_rules.engine.one_clause import Outcome
from drc_rules.facts.context import Context
from drc_rules.facts.declared import Declarations, Purpose
from drc_rules.facts.net_interfaces import Assignment, assign_nets
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.interfaces import interface_ids
from drc_rules.requirements.profiles.profile import Profile
from drc_rules.rules.rule import all_rules
from drc_rules.settings.config import Config
from stackup_lib.board.board import Board
from stackup_lib.core.facts import Origin
from stackup_lib.core.record import record


@record
class Case:
    """A board under one workload in one form factor."""

    context: Context
    interfaces: frozenset[str]

    def outcome(self, clauses: Iterable[Clause]) -> Outcome:
        """Decide clauses; what was decided under another workload, and is the same here, is taken over."""
        together = Outcome()
        for clause in clauses:
            together.add(self.context.get(_outcome, clause))
        return together


def _outcome(ctx: Context, clause: Clause) -> Outcome:
    return run(ctx, [clause], all_rules(), all_rules())


@dataclass
class Cases:
    """The cases of one board. Roles of nets that come out equal are one object, so that results are shared."""

    board: Board
    config: Config
    declarations: Declarations
    purpose: Purpose
    _context: Context | None = None
    _assigned: dict[tuple[tuple[str, str], ...], Assignment] = field(default_factory=dict)

    def of(self, profile: Profile, form: str | None) -> Case:
        """Return the case of a workload; `form` is None where neither user nor workload says one."""
        assignment = self._assign(dict(profile.interfaces))
        purpose = self._purpose(profile, form)
        if self._context is None:
            self._context = Context(self.board, self.declarations, assignment, purpose)
        declared = {row.is_ for row in self.config.interface} & set(interface_ids())
        carried = frozenset({*assignment.interfaces(), *declared})
        return Case(self._context.under(purpose, assignment), carried)

    def _assign(self, expected: dict[str, str]) -> Assignment:
        key = tuple(sorted(expected.items()))
        if key not in self._assigned:
            links = next((one.links for one in self._assigned.values()), None)
            new = assign_nets(self.board, self.config, expected, links)
            self._assigned[key] = next((one for one in self._assigned.values() if one == new), new)
        return self._assigned[key]

    def _purpose(self, profile: Profile, form: str | None) -> Purpose:
        stated = replace(self.purpose.profile, value=profile.name, origin=Origin.COMMAND_LINE, source="--profile")
        return Purpose(stated, self.purpose.form if form is None else replace(self.purpose.form, value=form))
