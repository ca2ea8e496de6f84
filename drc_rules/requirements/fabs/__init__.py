"""What fabs can make, in three tiers: past the best is an error, past advanced a warning, past standard information."""

from enum import StrEnum
from functools import cache
from pathlib import Path

from drc_rules.requirements.data_files import read_model
from stackup_lib.core.frozen import Frozen

FOLDER = Path(__file__).parent


class Tier(StrEnum):
    """Tiers of fabs, from what nearly all make to what only the best make."""

    STANDARD = "standard"
    ADVANCED = "advanced"
    BEST = "best"


STRICTEST_FIRST = (Tier.BEST, Tier.ADVANCED, Tier.STANDARD)


class TrackSpace(Frozen):
    """Least track and space on inner layers of one copper weight.

    Attributes:
        copper_oz: ounce class.
        standard_mm, advanced_mm, best_mm: least width and least gap, in millimetres, by tier.
    """

    copper_oz: float
    standard_mm: float
    advanced_mm: float
    best_mm: float

    def least_mm(self, tier: Tier) -> float:
        """Return the least track and space of a tier."""
        return {Tier.STANDARD: self.standard_mm, Tier.ADVANCED: self.advanced_mm, Tier.BEST: self.best_mm}[tier]


class _TrackSpaceFile(Frozen):
    source: str
    row: tuple[TrackSpace, ...]


@cache
def _track_space_file() -> _TrackSpaceFile:
    return read_model(FOLDER / "track_space.toml", _TrackSpaceFile)


def track_spaces() -> tuple[TrackSpace, ...]:
    """Return the whole table, lightest copper first."""
    return _track_space_file().row


def track_space_source() -> str:
    """Return the key of the document that the table stands in."""
    return _track_space_file().source


def track_space(copper_oz: float) -> TrackSpace | None:
    """Return the row of an ounce class; None for one that no source gives."""
    return next((row for row in track_spaces() if row.copper_oz == copper_oz), None)
