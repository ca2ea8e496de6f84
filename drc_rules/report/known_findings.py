"""Findings that are known: accepted by a suppression or a baseline, and what is remembered of them."""

from datetime import date
from typing import Literal

from drc_rules.report.findings import Finding
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.frozen import Frozen


class Accepted(Frozen):
    """A finding that the user has accepted: it no longer counts for the exit code.

    Attributes:
        by: `suppression` (a `[[suppress]]` table, with reason and owner) or `baseline`.
        expires: last day of the suppression.
    """

    finding: Finding
    by: Literal["suppression", "baseline"]
    reason: str
    owner: str = ""
    expires: date | None = None


class StaleSuppression(Frozen):
    """A `[[suppress]]` table that does nothing (any more); it counts as a warning.

    Attributes:
        entry: what it accepts, as text.
        problem: `matches nothing` or `expired on <date>`.
        line: its line in the settings file.
    """

    entry: str
    problem: str
    reason: str
    owner: str
    line: int | None = None


WORSE_SHARE = 0.1
"""Of the larger of value and limit: a finding that moves by less is as before. Findings do not store the uncertainty of
their values; that of a line's impedance or delay is within 10 %, and edits elsewhere move values by less."""


class KnownFinding(Frozen):
    """A finding as the baseline remembers it."""

    key: str
    code: str
    clause: str
    title: str


class Remembered(KnownFinding):
    """The same with `Finding.members`, 0 where that is not known, its severity, and the number that was measured."""

    members: int = 0
    severity: Severity | None = None
    measured: float | None = None
    unit: str = ""

    @staticmethod
    def of(finding: Finding) -> "Remembered":
        """Return what is remembered of a finding."""
        value = finding.measured.value if finding.measured else None
        return Remembered(
            key=finding.key,
            code=finding.code,
            clause=finding.clause,
            title=finding.title,
            members=finding.members,
            severity=finding.severity,
            measured=float(f"{value:.6g}") if isinstance(value, float | int) else None,
            unit=finding.measured.unit if finding.measured else "",
        )

    def covers(self, finding: Finding) -> bool:
        """Tell whether a finding is the one remembered, and is no worse now."""
        return self.key == finding.key and not self.grown_by(finding)

    def grown_by(self, finding: Finding) -> tuple[str, ...]:
        """Return what is worse in a finding than in the one remembered, a phrase each."""
        words = []
        if self.members and finding.members > self.members:
            words.append(f"There were {self.members} of them, now there are {finding.members}")
        if self.severity is not None and finding.severity.rank > self.severity.rank:
            words.append(f"Its severity was {self.severity.value}, now it is {finding.severity.value}")
        if self._is_farther(finding) and finding.numbers is not None:
            words.append(f"It was {self.measured:g} {self.unit}".rstrip() + f", now it is {finding.numbers[0]:g}")
        return tuple(words)

    def _is_farther(self, finding: Finding) -> bool:
        """Tell whether a value of the same unit is farther from its limit by more than `WORSE_SHARE`."""
        if finding.numbers is None or self.measured is None or finding.measured is None:
            return False
        now, limit = finding.numbers
        farther = abs(now - limit) - abs(self.measured - limit)
        return self.unit == finding.measured.unit and farther > WORSE_SHARE * max(abs(self.measured), abs(limit))

    def plain(self) -> KnownFinding:
        """Return it as reports show it."""
        return KnownFinding(key=self.key, code=self.code, clause=self.clause, title=self.title)
