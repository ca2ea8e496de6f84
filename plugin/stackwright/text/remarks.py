"""What is said that no rule says: about the check itself, and by KiCad's own; each has a code like a rule's."""

from __future__ import annotations

from stackup_lib.core.record import record


@record
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
    "A requirement of severity error could not be decided.",
    "Data is missing, so the requirement counts neither as met nor as failed. The message names the fact and how to "
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
KICAD = Remark(
    "KIC001",
    "kicad-drc",
    "error",
    "KiCad's own design rule check (DRC) reports violations.",
    "`stackwright check --kicad-drc` runs `kicad-cli pcb drc` on a copy of the board as it is saved, zones as they are "
    "filled, and shows shorts, opens, copper to the edge, holes and clearances. The message names KiCad's type of "
    "violation. What is excluded in KiCad is left out; baselines and suppressions do not apply.",
)
REMARKS = (NOT_PROVEN, STALE, KICAD)
