"""Findings that say the same of several objects, as one entry."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drc_rules.engine.missing_inputs import unproven
from drc_rules.report.findings import Finding
from drc_rules.report.verdicts import ClauseVerdict
from stackup_lib.core.record import record


def not_verifiable(verdicts: Iterable[ClauseVerdict]) -> tuple[list[ClauseVerdict], int]:
    """Return the clauses that are not proven, and how many others the user has left out: one line says it of all."""
    every = unproven(verdicts)
    waiting = [v for v in every if not v.left_out_by]
    return waiting, len(every) - len(waiting)


@record
class Group:
    """Findings of one rule whose titles differ only in names and numbers; the first one, the worst, speaks for all."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding that is shown."""
        return self.findings[0]

    @property
    def others(self) -> tuple[str, ...]:
        """What the other findings are about: the first name in each title that the shown one does not have."""
        names = (subject(finding) for finding in self.findings[1:])
        return tuple(dict.fromkeys(name for name in names if name and name != subject(self.first)))

    @property
    def clauses(self) -> tuple[str, ...]:
        """The clauses that the findings are against."""
        return tuple(dict.fromkeys(finding.clause for finding in self.findings))


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Group findings in the order of the first of each group; severities are never mixed."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.code, finding.severity.value, shape(finding)), []).append(finding)
    return [Group(tuple(sorted(members, key=_rank))) for members in found.values()]


def _rank(finding: Finding) -> tuple[float, list[tuple[int, str]]]:
    """Farthest from its limit first, then by name as people count: In2 before In10."""
    pieces = re.findall(r"\d+|\D+", subject(finding) or finding.title)
    return -_excess(finding), [_as_counted(piece) for piece in pieces]


def _as_counted(piece: str) -> tuple[int, str]:
    """Sort digits as the number they are, however many; words come first."""
    if not piece.isdecimal():
        return -1, piece
    digits = piece.lstrip("0")
    return len(digits), digits


def _excess(finding: Finding) -> float:
    """Return how far the measured value is from its limit; 0 where either is no number."""
    measured, limit = finding.numbers or (0.0, 0.0)
    return abs(measured - limit)


def shape(finding: Finding) -> str:
    """Return a title without the names of its places, asides in parentheses, plies and numbers."""
    title = finding.title
    for name in sorted(_names(finding), key=len, reverse=True):
        title = title.replace(name, "*")
    title = re.sub(r"\s*\([^()]*\)|, ply \d+", "", title)
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(title.split()))


def subject(finding: Finding) -> str:
    """Return what a finding is about: the net or layer of its places that its title names first."""
    return min(_names(finding), key=lambda name: (finding.title.find(name) % 10_000, name), default="")


def _names(finding: Finding) -> set[str]:
    names = {name for place in finding.places for name in (place.layer, place.net) if name}
    return {name for name in names if name in finding.title} or names
