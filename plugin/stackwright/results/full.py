"""What `stackwright check --full` adds to a report."""

from __future__ import annotations

from stackup_lib.core.record import record
from stackwright.results.stackup_choices import SideBySide


@record
class ScoreRow:
    """A board against one workload, as text.

    Attributes:
        fails, warns: clauses that fail, by severity.
        open: error-tier clauses for which a fact is missing, or that rest on a guess.
        met: clauses that passed.
        between: what lies between, in numbers.
        next_step: the cheapest step towards it; empty where it is fit.
        then: headline after that step, where it was judged.
        anchor: where the page tells more; empty where it does not.
    """

    profile: str
    form: str
    is_declared: bool
    headline: str
    fails: int
    open: int
    warns: int
    met: int
    between: str
    next_step: str
    then: str = ""
    anchor: str = ""

    @property
    def shares(self) -> tuple[tuple[str, int], ...]:
        """What the bar is made of."""
        every = ("fails", self.fails), ("open", self.open), ("warns", self.warns), ("met", self.met)
        return tuple((kind, many) for kind, many in every if many)


@record
class Full:
    """What is added to a report.

    Attributes:
        rows: the scorecard.
        stackups: the board's own stackup and those to choose from; None where there is nothing to choose.
        why_none: why not.
    """

    rows: tuple[ScoreRow, ...]
    stackups: SideBySide | None
    why_none: str = ""
