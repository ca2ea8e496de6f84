"""What became of a finding that stayed, as text: `26.7 -> 31.2 ps`, `warning -> error`."""

from __future__ import annotations

from drc_rules.engine.board_diff import FindingChange
from stackwright.tables.counts import LABELS


def stepped(one: FindingChange, arrow: str = "->") -> str:
    """Return measured value, severity and number of members, each where it is another one."""
    now, was = one.finding, one.before
    words = []
    value = now.measured.value if now.measured else None
    if was.measured is not None and isinstance(value, float | int) and f"{value:.6g}" != f"{was.measured:.6g}":
        words.append(f"{was.measured:g} {arrow} {value:g} {was.unit}".rstrip())
    if was.severity is not None and was.severity is not now.severity:
        words.append(f"{LABELS[was.severity]} {arrow} {LABELS[now.severity]}")
    if was.members and now.members and was.members != now.members:
        words.append(f"{was.members} {arrow} {now.members} of them")
    return ", ".join(words)
