"""One board under several workloads: what does not depend on the workload is computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from drc_rules.clauses import Clause
from drc_rules.config import Config
from drc_rules.context import Context
from drc_rules.declared import Declarations
from drc_rules.engine import Outcome, run
from drc_rules.interfaces import Assignment, assign_nets, interface_ids
from drc_rules.requirements import Profile
from drc_rules.rule import Rule, all_rules
from stackup_lib.board import Board
from stackup_lib.facts import Fact, Origin

OF_THE_BOARD = ("is_default_stackup", "plies", "uses", "_routed_mm", "copper", "pairs")
"""Parts of a context that neither workload nor form factor nor interfaces change."""

Decided = dict[tuple[Clause, str | None, str | None], Outcome]


@dataclass(frozen=True)
class Case:
    """A board under one workload in one form factor: its context, and what is decided in contexts like it."""

    context: Context
    declarations: Declarations
    workload: str | None
    interfaces: frozenset[str]
    _decided: Decided = field(repr=False)

    def outcome(self, clauses: Iterable[Clause]) -> Outcome:
        """Decide clauses; one that was decided before under the same workload and form is not decided again."""
        rules: tuple[Rule, ...] = all_rules()
        together = Outcome()
        self.context.declarations = self.declarations
        for clause in clauses:
            key = clause, self.declarations.form.value, self.workload
            if key not in self._decided:
                self._decided[key] = run(self.context, [clause], rules, rules)
            one = self._decided[key]
            together.verdicts.extend(one.verdicts)
            together.findings.extend(one.findings)
            together.crashes.extend(one.crashes)
        return together


@dataclass
class Cases:
    """The cases of one board. There is one context for every way in which its nets can be taken."""

    board: Board
    config: Config
    base: Declarations
    _made: list[tuple[Context, Decided]] = field(default_factory=list)
    _assigned: dict[tuple[tuple[str, str], ...], Assignment] = field(default_factory=dict)

    def of(self, profile: Profile, form: str | None) -> Case:
        """Return the case of a workload; `form` is None where neither user nor workload says one."""
        expected = dict(profile.interfaces)
        key = tuple(sorted(expected.items()))
        if key not in self._assigned:
            self._assigned[key] = self._known(assign_nets(self.board, self.config, expected))
        assignment = self._assigned[key]
        context, decided = self._context(assignment)
        declared = {row.is_ for row in self.config.interface} & set(interface_ids())
        carried = frozenset({*assignment.interfaces(), *declared})
        return Case(context, self._declarations(profile, form), profile.workload, carried, decided)

    def _context(self, assignment: Assignment) -> tuple[Context, Decided]:
        for context, decided in self._made:
            if context.assignment is assignment:
                return context, decided
        context = Context(self.board, self.base, assignment)
        if self._made:
            first = self._made[0][0]
            known = vars(first)
            vars(context).update({name: known[name] for name in OF_THE_BOARD if name in known})
            vars(context)["lines"] = replace(first.lines, ctx=context)  # the same solutions, asked by another
        self._made.append((context, {}))
        return self._made[-1]

    def _known(self, assignment: Assignment) -> Assignment:
        """Return an equal assignment that there is already, else this one."""
        return next((known for known in self._assigned.values() if known == assignment), assignment)

    def _declarations(self, profile: Profile, form: str | None) -> Declarations:
        workload: Fact[str] = self.base.profile.model_copy(
            update={"value": profile.name, "origin": Origin.COMMAND_LINE, "source": "--profile"}
        )
        return replace(
            self.base,
            profile=workload,
            form=self.base.form.model_copy(update={"value": form}) if form else self.base.form,
        )
