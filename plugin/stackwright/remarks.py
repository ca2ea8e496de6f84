"""The two things said about a check itself: they have codes beside those of the rules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """A code with its page; `level` is SARIF's."""

    code: str
    name: str
    level: str
    summary: str
    text: str


NOT_PROVEN = Remark(
    "PRF001",
    "not-proven",
    "note",
    "A demand of severity error could not be decided.",
    "A fact is missing, so the demand counts neither as met nor as failed. The message names the fact and how to "
    "give it; `stackwright check` prints the lines to paste into stackwright.toml.",
)
STALE = Remark(
    "SUP001",
    "stale-suppression",
    "warning",
    "A suppression does nothing any more.",
    "A [[suppress]] table of stackwright.toml has expired, or matches no finding. Remove it, so that it does not "
    "one day hide something else.",
)
REMARKS = (NOT_PROVEN, STALE)
