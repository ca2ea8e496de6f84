"""Verdicts: the answer to each requirement, what is missing for it, and how much was decided."""

import math
import re
from enum import StrEnum

from drc_rules.requirements.clauses import Clause, Severity
from stackup_lib.core.facts import Confidence
from stackup_lib.core.frozen import Frozen


class Verdict(StrEnum):
    """The answer to one clause; earlier members take precedence."""

    FAILED = "failed"
    NOT_VERIFIABLE = "not verifiable"
    PASSED = "passed"
    NOT_APPLICABLE = "not applicable"


class Missing(Frozen):
    """A fact that was needed and is unknown, with the exact way to give it."""

    fact: str
    how_to_give: str


class ClauseVerdict(Frozen):
    """The answer to one clause.

    Attributes:
        code: rule that decides the clause; empty when there is no rule yet.
        checked: objects that were decided, e.g. how many dielectrics.
        undecided: objects for which a fact was missing.
        missing: those facts, without repetition.
        has_rule: False for a clause whose rule does not exist yet; it then counts nowhere.
        worst: highest severity among its findings, None without findings.
        guesses: of a clause that passed on facts of low confidence, what would make it sure.
    """

    clause: Clause
    code: str
    verdict: Verdict
    confidence: Confidence
    checked: int = 0
    undecided: int = 0
    missing: tuple[Missing, ...] = ()
    source: str = ""
    has_rule: bool = True
    worst: Severity | None = None
    guesses: tuple[Missing, ...] = ()

    @property
    def is_guess(self) -> bool:
        """True for a clause that passed on facts of low confidence."""
        return self.verdict is Verdict.PASSED and self.confidence is Confidence.LOW

    @property
    def is_proven(self) -> bool:
        """True for a clause that does not apply, or passed on facts of better than low confidence.

        So is one with nothing but remarks on what its rule is sure of, as a closed jumper is no short circuit.
        """
        if self.verdict is Verdict.FAILED:
            return self.worst is Severity.INFO and not (self.undecided or self.guesses)
        return self.verdict is Verdict.NOT_APPLICABLE or (self.verdict is Verdict.PASSED and not self.is_guess)

    @property
    def left_out_by(self) -> str:
        """What leaves its rule out, e.g. `--ignore VIA`; "" for a clause that was looked at."""
        told = (_LEFT_OUT.fullmatch(missing.fact) for missing in self.missing)
        return next((found[1] for found in told if found), "")

    @property
    def words(self) -> str:
        """The verdict as people read it: `failed` is kept for errors."""
        if self.left_out_by:
            return NOT_LOOKED_AT
        return verdict_words(self.verdict, self.worst, is_guess=self.is_guess)


_LEFT_OUT = re.compile(r"rule \w+, which (.+) leaves out")


def left_out(code: str, by: str) -> Missing:
    """Return what a clause lacks whose rule the user has left out, as `ClauseVerdict.left_out_by` reads it."""
    return Missing(fact=f"rule {code}, which {by or '--select or --ignore'} leaves out", how_to_give="")


NOT_LOOKED_AT = "not looked at"
MET_ON_A_GUESS = "met, on a guess"
NOT_MET = {Severity.WARNING: "not met", Severity.INFO: "remark"}
"""Words for a failed clause whose worst finding is no error."""


def verdict_words(verdict: Verdict, worst: Severity | None, *, is_guess: bool = False) -> str:
    """Return a verdict as people read it, by the highest severity of what was found."""
    if verdict is Verdict.FAILED and worst in NOT_MET:
        return NOT_MET[worst]
    if verdict is Verdict.PASSED:
        return MET_ON_A_GUESS if is_guess else "met"
    return verdict.value


class Coverage(Frozen):
    """How much of what applies was decided, in pairs of clause and object.

    Attributes:
        unknown_pairs: differential pairs of unknown interface, of which nothing is required; each counts as undecided.
        unjudged_pairs: pairs with a target of which no section is judged, such as short ones; the same.
        coupled_pairs: nets that run like pairs by their tracks alone, without an interface; they count nowhere.
        coupled_mm: routed length of these, of the longer net of each.
    """

    decided: int
    total: int
    clauses_without_rule: int
    unknown_pairs: int = 0
    unjudged_pairs: int = 0
    coupled_pairs: int = 0
    coupled_mm: float = 0.0

    @property
    def percent(self) -> float:
        """Decided pairs in percent; 0 when nothing applied."""
        return 100.0 * self.decided / self.total if self.total else 0.0

    @property
    def whole_percent(self) -> int:
        """The same as people read it: 100 only where every pair was decided."""
        return math.floor(self.percent)
