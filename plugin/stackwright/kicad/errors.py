"""What can go wrong with a running KiCad, and its unit of length."""

from __future__ import annotations

from stackup_lib.core.errors import StackwrightError

NM_PER_MM = 1_000_000


class KicadError(StackwrightError):
    """KiCad cannot be asked, or its board cannot be checked."""


class NeverSavedError(KicadError):
    """The board that is open has no file."""
