"""Why a check ends with exit code 1 or 2."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from stackup_lib.core.record import record

CLEAN, FOUND, BROKEN = 0, 1, 2


class ExitCause(StrEnum):
    """What makes the exit code 1 or 2; the first three make it 2."""

    CRASH = "internal error"
    NO_KICAD_DRC = "KiCad DRC did not run"
    NOTHING_CHECKED = "nothing checked"
    FINDINGS = "findings"
    KICAD_DRC = "KiCad DRC"
    SUPPRESSIONS = "suppressions"
    COVERAGE = "coverage"


@record
class ExitReason:
    """One reason.

    Attributes:
        code: exit code of this reason alone.
        text: what reports say.
        next_step: what to do about it; "" where the findings say it.
        is_plain: errors of the board itself, which every report shows as such.
    """

    cause: ExitCause
    code: int
    text: str
    next_step: str = ""
    is_plain: bool = False


def untold(reasons: Sequence[ExitReason] | None) -> tuple[ExitReason, ...]:
    """Return the reasons that a reader of the findings does not see."""
    return tuple(one for one in reasons or () if not one.is_plain)
