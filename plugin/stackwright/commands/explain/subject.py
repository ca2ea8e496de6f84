"""What the word after `stackwright explain` means."""

from __future__ import annotations

import re
from collections.abc import Set

from drc_rules.explain.explain_trace import BoardTrace
from drc_rules.requirements.clauses import Clause
from drc_rules.requirements.profiles.shipped import shipped_clauses
from drc_rules.rules.rule import Rule, all_rules
from stackup_lib.core.errors import ConfigError, did_you_mean
from stackup_lib.core.record import record


@record
class Subject:
    """What a word means: a rule with all its clauses, or one clause."""

    rule: Rule | None
    clause: str | None

    def wants(self, clause: Clause) -> bool:
        """Tell whether a clause is chosen."""
        if self.clause is not None:
            return clause.id == self.clause
        return self.rule is not None and clause.kind in self.rule.kinds


def subject_of(word: str) -> Subject:
    """Return the rule with this code or name, else a clause of this id, which may not exist."""
    rule = next((one for one in all_rules() if word.lower() in one.words), None)
    return Subject(rule, None) if rule else Subject(None, word.lower())


def with_rule(subject: Subject, found: BoardTrace) -> Subject:
    """Find the rule of a clause; raises `ConfigError` where neither this board nor any profile has the clause."""
    if subject.rule is not None:
        return subject
    clauses = [one.clause for one in found.answers]
    clauses += [one.clause for one in shipped_clauses() if one.clause.id == subject.clause]
    if not clauses:
        known = {text for one in all_rules() for text in (one.code, one.name)}
        known |= {one.clause.id for one in shipped_clauses()} | {one.id for one in found.clauses}
        raise ConfigError(subject.clause or "", "no such rule or requirement", nearest(subject.clause or "", known))
    rule = next((one for one in all_rules() if clauses[0].kind in one.kinds), None)
    return Subject(rule, subject.clause)


def nearest(word: str, known: Set[str]) -> str:
    """Return which known rule or requirement is meant, or what lists them; `VIA1` and `VIA01` are VIA001."""
    code = re.sub(r"0*(\d+)$", lambda number: number[1].zfill(3), word.upper())
    hint = f'did you mean "{code}"?' if code in known else did_you_mean(word, known)
    return (
        hint
        if hint.startswith("did")
        else "`stackwright rules` and `stackwright profiles` list them; one of your own takes --board and --profile"
    )
