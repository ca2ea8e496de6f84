"""What KiCad's own check says, as text that every report shares."""

from __future__ import annotations

from collections.abc import Iterator

from drc_rules.report.kicad_drc import KicadDrc, KicadViolation, counted
from drc_rules.requirements.clauses import Severity
from stackup_lib.core.record import record
from stackwright.text.words import count, some

TITLE = "KiCad DRC"
SHOWN = 3
"""Violations of a type that a report lists; the JSON report has them all."""


@record
class ViolationGroup:
    """The violations of one type and severity.

    Attributes:
        title: how many of what.
        places: the first of them, with where they are.
        more: how many are left out.
    """

    type: str
    severity: Severity
    title: str
    places: tuple[str, ...]
    more: int


def remark(drc: KicadDrc) -> str:
    """Return the outcome in one line."""
    if drc.failed:
        return "did not run"
    counts = [(word, sum(one.severity == word for one in drc.violations)) for word in ("error", "warning")]
    found = ", ".join(count(many, word) for word, many in counts if many)
    many = sum(row.count for row in drc.others)
    parts = [
        found or "no shorts, opens, edge, hole or clearance violations",
        f"{count(many, 'violation')} of other types" if many else "",
        f"{drc.excluded} excluded in KiCad" if drc.excluded else "",
    ]
    return f"KiCad {drc.kicad}: {'; '.join(part for part in parts if part)}"


def groups(drc: KicadDrc, shown: int = SHOWN) -> Iterator[ViolationGroup]:
    """Yield the violations type by type, errors first."""
    for row, violations in drc.by_type():
        yield ViolationGroup(
            type=row.type,
            severity=Severity(row.severity),
            title=f"{counted(violations)} ({row.type})",
            places=tuple(map(describe, violations[:shown])),
            more=max(len(violations) - shown, 0),
        )


def others(drc: KicadDrc, shown: int = 6) -> str:
    """Return the other types with their counts, the most frequent first."""
    rows = sorted(drc.others, key=lambda row: (-row.count, row.type))
    return some((f"{row.count}{' or more' if row.is_capped else ''} {row.type}" for row in rows), shown)


def describe(violation: KicadViolation) -> str:
    """Return what KiCad says of a violation, its items, and where the first of them is that is no zone."""
    if not violation.items:
        return violation.description
    items = " and ".join(item.description for item in violation.items)
    placed = [item for item in violation.items if not item.description.startswith("Zone")] or violation.items
    return f"{violation.description}: {items}, x {placed[0].x_mm:.3f} mm, y {placed[0].y_mm:.3f} mm"
