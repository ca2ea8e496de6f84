"""What can go wrong with a running KiCad, and its unit of length."""

from __future__ import annotations

from collections.abc import Mapping

from stackup_lib.core.errors import StackwrightError

NM_PER_MM = 1_000_000


class KicadError(StackwrightError):
    """KiCad does not answer, or its board cannot be checked."""


class NeverSavedError(KicadError):
    """The board that is open has no file."""


class KicadEndedError(KicadError):
    """The KiCad that a session belongs to has ended; another one may be at its address by now."""


ENDED = ("KiCad", "has ended", "open the board in KiCad and press the button there")


TRY_AGAIN = "try again"

FILL_IN = "answer it under Missing facts"
"""What the page says in place of lines for the settings."""


def said(error: StackwrightError | None) -> Mapping[str, str] | None:
    """Return an error as the page shows it."""
    if error is None:
        return None
    asks_for_lines = '"?"' in error.next_step
    next_step = FILL_IN if asks_for_lines else error.next_step or TRY_AGAIN
    return {"where": error.where, "what": error.what, "next_step": next_step}
