"""What the requirements say of an answer: met, not met, or information that it does not follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from drc_rules.requirements.clauses import Severity
from drc_rules.stackup_design.goals_judge import NOT_VERIFIABLE
from stackup_lib.synthesis import Evaluated
from stackwright.results.stackup_choices import Count

if TYPE_CHECKING:
    from stackwright.commands.suggest.model import Suggested


def judged(one: Evaluated, result: Suggested) -> Sequence[tuple[str, bool, str]]:
    """Return the requirements on the stackup; those of the board's own changes are judged here."""
    return one.clauses or tuple(result.found.judge(one.candidate))


def count_of(one: Evaluated, result: Suggested) -> Count:
    """Count the requirements on the stackup; what is information or not verifiable is counted apart, as by `check`."""
    clauses = judged(one, result)
    severity = {clause.id: clause.severity for clause in result.selection.clauses}
    unmet = [(clause, words.startswith(NOT_VERIFIABLE)) for clause, met, words in clauses if not met]
    failed = [clause for clause, is_open in unmet if not is_open]
    return Count(
        failed=tuple(failed),
        not_verifiable=tuple(clause for clause, is_open in unmet if is_open),
        passed=len(clauses) - len(unmet),
        not_met=frozenset(clause for clause in failed if severity[clause] is Severity.WARNING),
        remarks=frozenset(clause for clause in failed if severity[clause] is Severity.INFO),
    )
