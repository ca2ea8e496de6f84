"""Goals as they are found, each with its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.documents import cite
from drc_rules.settings.config_fab import FabDeclaration
from drc_rules.settings.goals_choices import GoalChoices
from drc_rules.stackup_design.goals_selection import BoardProject, Selection
from stackup_lib.core.errors import ConfigError
from stackup_lib.core.record import record


class From(StrEnum):
    """Who says so."""

    USER = "user"
    CLAUSE = "clause"
    BOARD = "board"
    ASSUMPTION = "assumption"


@record
class Reason:
    """One goal as text: what, how much, and the source."""

    goal: str
    value: str
    origin: From
    source: str


@dataclass
class GoalWork:
    """Goals as they are found, each with its reason; `fab` is your own, with nothing stated where there is none."""

    selection: Selection
    project: BoardProject | None
    choices: GoalChoices
    fab: FabDeclaration = field(default_factory=FabDeclaration)
    reasons: list[Reason] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        """True where no part is placed: without a board, or on one that is still empty."""
        return self.project is None or not len(self.project.board.footprints)

    def say(self, goal: str, value: str, origin: From, source: str) -> None:
        """Note a goal; what was said of it before no longer holds."""
        self.reasons = [reason for reason in self.reasons if reason.goal != goal]
        self.reasons.append(Reason(goal, value, origin, source))


def needed_clause(work: GoalWork, kind: str) -> Clause | None:
    """Return the clause of a kind with the largest minimum among those whose breach is an error."""
    found = [c for c in work.selection.of_kind(kind) if c.limit.min is not None and c.severity.value == "error"]
    return max(found, key=lambda c: c.limit.min or 0.0, default=None)


def refused(what: str, clause: Clause, cure: str) -> ConfigError:
    """Return the error of a choice that breaks a clause."""
    return ConfigError(what, f"breaks {clause.id}: {clause.title}", f"{cure}, or choose another profile")


def source_words(clause: Clause) -> str:
    """Return a clause's id and its source."""
    return f"{clause.id}: {cite(clause.source)}"
